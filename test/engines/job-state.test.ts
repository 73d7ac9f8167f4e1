/** What has come of a Job of the agent, told from its conditions and from what its pods have said last. */
import { describe, expect, it } from 'vitest';
import { type JobState, jobState, jobsAwaitingResult } from '../../src/jobs/job-state.ts';
import { type ContainerStatus, childrenOf, type Job, type Pod } from '../../src/resources/children.ts';
import { agentComponent, componentLabel } from '../../src/resources/metadata.ts';
import { refused, taken } from '../support/backup-story.ts';

const ended = '2026-11-21T03:00:00Z';
const now = Date.parse('2026-11-21T03:05:00Z');
const justEnded = { lastTransitionTime: '2026-11-21T03:04:50Z' };

type Condition = NonNullable<NonNullable<Job['status']>['conditions']>[number];
const condition = (type: string, more: Partial<Condition> = {}): Condition => ({
  type,
  status: 'True',
  lastTransitionTime: ended,
  ...more,
});
const job = (...conditions: readonly Condition[]): Job => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'nightly', namespace: 'apps', uid: 'uid-of-job' },
  status: { conditions },
});
const owner = (uid: string) => ({ apiVersion: 'batch/v1', kind: 'Job', name: 'nightly', uid });

/** `age` in minutes; `uid` of the Job that it is of. */
function pod(status: Pod['status'] | undefined, { name = 'nightly-a', age = 5, uid = 'uid-of-job' } = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'apps',
      creationTimestamp: new Date(now - age * 60_000).toISOString(),
      labels: { [componentLabel]: agentComponent },
      ownerReferences: [owner('uid-of-somebody'), owner(uid)],
    },
    ...(status === undefined ? {} : { status }),
  };
}

type Phase = NonNullable<NonNullable<Pod['status']>['phase']>;
const container = (state: ContainerStatus['state'], name = 'agent'): ContainerStatus =>
  ({ name, restartCount: 0, ...(state === undefined ? {} : { state }) }) as ContainerStatus;
const at = (phase: Phase, ...containerStatuses: readonly ContainerStatus[]): Pod['status'] => ({
  phase,
  containerStatuses,
});
const terminated = (exitCode: number, message?: object | string, name = 'agent'): ContainerStatus =>
  container(
    {
      terminated: {
        exitCode,
        reason: 'Error',
        ...(message === undefined ? {} : { message: typeof message === 'string' ? message : JSON.stringify(message) }),
      },
    },
    name,
  );
const waiting = (reason?: string, message?: string): ContainerStatus =>
  container({
    waiting: { ...(reason === undefined ? {} : { reason }), ...(message === undefined ? {} : { message }) },
  } as ContainerStatus['state']);
const evicted = (name: string, age = 5): Pod =>
  pod({ phase: 'Failed', reason: 'Evicted', message: 'too little memory ' }, { name, age });

type Row = readonly [story: string, job: Job, pods: readonly Pod[], state: JobState];
const table = (rows: readonly Row[]): void =>
  it.each(rows)('%s', (_, wanted, pods, state) => expect(jobState(wanted, pods, now)).toStrictEqual(state));

const none = job();
const running = (message: string): JobState => ({ state: 'running', message });
const pending = (message: string): JobState => ({ state: 'pending', message });
const over = Date.parse(ended);

describe('a Job that has not ended', () => {
  table([
    ['has no pod yet', none, [], pending('its Job has no pod yet')],
    ['has only pods of another Job', none, [pod(at('Running'), { uid: 'other' })], pending('its Job has no pod yet')],
    [
      'has a condition that does not hold',
      job(condition('Complete', { status: 'False' })),
      [],
      pending('its Job has no pod yet'),
    ],
    ['is at work', none, [pod(at('Running', container({ running: {} })))], running('nightly-a is at work')],
    [
      'is at work beside a container that has ended',
      none,
      [pod(at('Running', terminated(0), container({ running: {} }, 'proxy')))],
      running('nightly-a is at work'),
    ],
    [
      'is at work in a container before the agent',
      none,
      [pod({ phase: 'Running', initContainerStatuses: [container({ running: {} }, 'prepare')] })],
      running('nightly-a is at work'),
    ],
    ['has no container that runs', none, [pod(at('Running', terminated(0)))], pending('nightly-a is Running')],
    ['has a pod that has ended, which the Job will say', none, [pod(at('Succeeded'))], running('nightly-a has ended')],
    ['has a pod that nobody has looked at', none, [pod(undefined)], pending('nightly-a is not scheduled')],
    [
      'has no node',
      none,
      [pod({ phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', message: 'no memory' }] })],
      pending('nightly-a cannot be scheduled: no memory'),
    ],
    [
      'has a node',
      none,
      [
        pod({
          phase: 'Pending',
          conditions: [
            { type: 'PodScheduled', status: 'True' },
            { type: 'Ready', status: 'False' },
          ],
        }),
      ],
      pending('nightly-a is Pending'),
    ],
    [
      'has no image',
      none,
      [pod(at('Pending', waiting('ErrImagePull', 'no such image')))],
      pending('nightly-a: ErrImagePull: no such image'),
    ],
    [
      'has one container that says why it waits',
      none,
      [pod(at('Pending', waiting('PodInitializing'), waiting(undefined, 'no such image')))],
      pending('nightly-a: waiting: no such image'),
    ],
    [
      'is being started',
      none,
      [pod(at('Pending', waiting('ContainerCreating')))],
      pending('nightly-a is being started'),
    ],
    [
      'is being started, or waits for what it mounts',
      {
        ...none,
        spec: {
          template: {
            spec: {
              volumes: [
                { name: 'a', secret: { secretName: 'store-access' } },
                {
                  name: 'b',
                  projected: { sources: [{ secret: { name: 'backup-key' } }, { configMap: { name: 'x' } }] },
                },
                { name: 'c', persistentVolumeClaim: { claimName: 'backups' } },
                { name: 'd', secret: { secretName: 'maybe', optional: true } },
                { name: 'e', emptyDir: {} },
              ],
            },
          },
        },
      },
      [pod(at('Pending', waiting('ContainerCreating')))],
      pending(
        'nightly-a is being started; what it mounts must exist: Secret store-access, Secret backup-key, PVC backups',
      ),
    ],
    ['waits for something else', none, [pod(at('Pending', waiting('X')))], pending('nightly-a is Pending')],
    [
      'is at work again after an attempt that failed',
      none,
      [
        pod(at('Failed', terminated(2, refused('no such bucket', true))), { name: 'nightly-a', age: 5 }),
        pod(at('Running', container({ running: {} })), { name: 'nightly-b', age: 1 }),
      ],
      running('nightly-b is at work; the attempt before it failed: no such bucket'),
    ],
    [
      'waits after one that was evicted',
      none,
      [evicted('nightly-a', 5), pod(at('Pending'), { name: 'nightly-b', age: 1 })],
      pending('nightly-b is Pending; the attempt before it failed: nightly-a was evicted: too little memory'),
    ],
  ]);
});

describe('a Job whose pod is terminating', () => {
  const going = (status: Pod['status'], nodeName?: string): Pod => {
    const { metadata, ...rest } = pod(status);
    const spec = nodeName === undefined ? {} : { spec: { nodeName } };
    return { ...rest, ...spec, metadata: { ...metadata, deletionTimestamp: ended } };
  };
  const words = (node: string): JobState =>
    running(
      `nightly-a is terminating, and its Job starts no other pod before it has ended: if ${node} is gone for good, delete the Node`,
    );
  table([
    [
      'waits for its end, and says what ends that where the node is gone',
      none,
      [going(at('Running', container({ running: {} })), 'node-3')],
      words('node-3'),
    ],
    ['waits for its end, though nobody knows its node', none, [going(at('Pending'))], words('its node')],
    ['goes on once it has ended', none, [going(at('Failed'), 'node-3')], pending('nightly-a is Failed')],
  ]);
});

describe('a Job whose last pod has not been seen to end', () => {
  const soon: JobState = {
    state: 'running',
    message: 'nightly has ended; its last words are awaited',
    recheckMs: 20_000,
  };
  const done = { state: 'complete', at: Date.parse(justEnded.lastTransitionTime) } as const;
  table([
    ['waits for it', job(condition('Complete', justEnded)), [pod(at('Running'))], soon],
    ['waits for it where it has failed', job(condition('Failed', justEnded)), [], soon],
    [
      'waits for the newest, not for one that failed before',
      job(condition('Complete', justEnded)),
      [pod(at('Failed'), { name: 'nightly-a', age: 5 }), pod(at('Running'), { name: 'nightly-b', age: 1 })],
      soon,
    ],
    [
      'waits no more after half a minute',
      job(condition('Complete', { lastTransitionTime: '2026-11-21T03:04:30Z' })),
      [],
      { ...done, at: Date.parse('2026-11-21T03:04:30Z') },
    ],
    ['does not wait for one that has', job(condition('Complete', justEnded)), [pod(at('Succeeded'))], done],
    ['does not wait where nobody knows since when', job({ type: 'Complete', status: 'True' }), [], { ...done, at: 0 }],
  ]);
});

describe('a Job that is complete', () => {
  const complete = job(condition('SuccessCriteriaMet'), condition('Complete'));
  table([
    [
      'tells what was taken',
      complete,
      [pod(at('Succeeded', terminated(0, taken)))],
      { state: 'complete', at: over, result: taken },
    ],
    [
      'tells it though an attempt before it failed',
      complete,
      [
        pod(at('Succeeded', terminated(0, taken)), { name: 'nightly-b', age: 1 }),
        pod(at('Failed', terminated(2, refused('full'))), { name: 'nightly-a', age: 5 }),
      ],
      { state: 'complete', at: over, result: taken },
    ],
    ['tells nothing where its pods are gone', complete, [], { state: 'complete', at: over }],
    [
      'tells nothing of use where only an attempt that failed has spoken',
      complete,
      [pod(at('Failed', terminated(2, refused('full'))))],
      { state: 'complete', at: over },
    ],
    [
      'has failed where the agent ended well and did not say what came of it',
      complete,
      [pod(at('Succeeded', container({ running: {} }, 'proxy'), terminated(0)))],
      { state: 'failed', message: expect.stringContaining('it is no result'), isTransient: false, at: over },
    ],
    [
      'tells nothing where nobody has seen how its agent ended',
      complete,
      [pod(at('Succeeded', terminated(0, undefined, 'proxy')))],
      { state: 'complete', at: over },
    ],
  ]);
});

describe('a Job that has failed', () => {
  const failed = job(condition('Failed', { reason: 'BackoffLimitExceeded', message: 'too often' }));
  const state = (message: string, isTransient = true): JobState => ({
    state: 'failed',
    message,
    isTransient,
    at: over,
  });
  const scheduled = { type: 'PodScheduled', status: 'True' } as const;
  table([
    ['says what its agent said', failed, [pod(at('Failed', terminated(2, refused('full'))))], state('full', false)],
    [
      'says what the last one said',
      failed,
      [
        pod(at('Failed', terminated(2, refused('first', true))), { name: 'nightly-a', age: 5 }),
        pod(at('Failed', terminated(2, refused('second', true))), { name: 'nightly-b', age: 1 }),
      ],
      state('second'),
    ],
    ['says what Kubernetes says', failed, [], state('too often')],
    ['says why, where Kubernetes has only a word', job(condition('Failed', { reason: 'X' })), [], state('X')],
    ['says that it has failed', job(condition('Failed')), [], state('its Job has failed')],
    [
      'says how a process ended that did not speak',
      failed,
      [pod(at('Failed', terminated(0), terminated(137, undefined, 'proxy')))],
      state('proxy ended with code 137 (Error)'),
    ],
    [
      'says the end of what it printed',
      failed,
      [pod(at('Failed', terminated(1, ` ${'x'.repeat(600)}the end `)))],
      state(`agent ended with code 1 (Error): ${'x'.repeat(493)}the end`),
    ],
    ['says that it was evicted', failed, [evicted('nightly-a')], state('nightly-a was evicted: too little memory')],
    [
      'says no more of it than fits a condition',
      failed,
      [pod({ phase: 'Failed', reason: 'Evicted', message: 'x'.repeat(600) })],
      state(`nightly-a was evicted: ${'x'.repeat(500)}`),
    ],
    [
      'says who disrupted it',
      failed,
      [
        pod({
          phase: 'Failed',
          conditions: [scheduled, { type: 'DisruptionTarget', status: 'True', message: 'the node is drained' }],
        }),
      ],
      state('nightly-a was evicted: the node is drained'),
    ],
    [
      'says that it was evicted where nobody says why',
      failed,
      [pod({ phase: 'Failed', reason: 'Evicted', conditions: [{ ...scheduled, message: 'not this' }] })],
      state('nightly-a was evicted'),
    ],
    [
      'was not evicted by a disruption that was called off',
      failed,
      [
        pod({
          phase: 'Failed',
          conditions: [{ type: 'DisruptionTarget', status: 'False', message: 'the node is drained' }],
        }),
      ],
      state('too often'),
    ],
    [
      'was not evicted where its pod runs',
      failed,
      [pod({ phase: 'Running', reason: 'Evicted', message: 'x' })],
      state('too often'),
    ],
  ]);
});

describe('Jobs whose last pod has not been seen to end', () => {
  const [complete, failed] = [job(condition('Complete', justEnded)), job(condition('Failed', justEnded))];
  const endedAt = (lastTransitionTime: string): Job => job(condition('Complete', { lastTransitionTime }));
  it.each<readonly [story: string, wanted: Job, pods: readonly Pod[], count: number]>([
    ['are not those at work', none, [], 0],
    ['are those that have just ended', complete, [], 1],
    ['are those that have just failed', failed, [], 1],
    ['are none whose pod was seen', failed, [pod(at('Failed'))], 0],
    [
      'are those whose newest pod was not seen',
      failed,
      [pod(at('Failed'), { name: 'nightly-a', age: 5 }), pod(at('Running'), { name: 'nightly-b', age: 1 })],
      1,
    ],
    ['are none of a minute ago', endedAt('2026-11-21T03:04:00Z'), [], 0],
    ['are those of less', endedAt('2026-11-21T03:04:00.001Z'), [], 1],
  ])('%s', (_, wanted, pods, count) => {
    expect(jobsAwaitingResult(childrenOf([wanted, ...pods]), now)).toHaveLength(count);
  });
});
