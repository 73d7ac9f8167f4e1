/** Jobs and CronJobs: what they make, when they have ended, what is kept; and pods that run to their end. */
import { expect } from 'vitest';
import type { KubeObject } from '../../../../src/api/object.ts';
import { type ConformanceCase, type Json, jobs, listed, made, pathIn, read, type Scene } from './conformance-case.ts';

const cronJobs = 'cronjobs.batch/v1';
/** Pods of it fit on no node, so that they never run, with nodes or without. */
const nowhere: Json = { nodeSelector: { 'clusterwright.dev/nowhere': 'true' } };

/** A process that leaves words, where there are any, and ends with that code. */
const ending = (code: number, words?: string): readonly string[] => {
  const leaving = words === undefined ? '' : `printf ${words} > /dev/termination-log; `;
  return ['sh', '-c', `${leaving}exit ${code}`];
};

const container = (scene: Scene, command: readonly string[], more: Json = {}): Json => ({
  ...scene.container,
  command,
  ...more,
});

function jobSpec(podSpec: Json, spec: Json): Json {
  return {
    backoffLimit: 0,
    ...spec,
    template: {
      metadata: { labels: { app: 'a' } },
      spec: { restartPolicy: 'Never', terminationGracePeriodSeconds: 1, ...podSpec },
    },
  };
}

const job = (name: string, podSpec: Json, spec: Json = {}, metadata: Json = {}): Json => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name, ...metadata },
  spec: jobSpec(podSpec, spec),
});

interface ContainerState {
  readonly state: { readonly waiting?: Json; readonly terminated?: Json };
}

interface PodStatus {
  readonly phase: string;
  readonly initContainerStatuses?: readonly ContainerState[];
  readonly containerStatuses?: readonly ContainerState[];
}

const podsOf = (scene: Scene, name: string): Promise<readonly KubeObject[]> =>
  listed(scene, 'pods', { labelSelector: `batch.kubernetes.io/job-name=${name}` });

const statusOf = (pod: KubeObject | undefined): PodStatus => (pod?.status ?? {}) as PodStatus;

const endsOf = async (scene: Scene, name: string): Promise<readonly Json[]> =>
  (await podsOf(scene, name)).map((pod) => statusOf(pod).containerStatuses?.[0]?.state.terminated ?? {});

/** The conditions of a Job that has ended, by type. */
async function ended(scene: Scene, name: string): Promise<Readonly<Record<string, Json>>> {
  return scene.until(`${name} has ended`, async () => {
    const { conditions = [] } = (await read(scene, jobs, name)).status as { readonly conditions?: readonly Json[] };
    const held = Object.fromEntries(conditions.map((condition) => [String(condition.type), condition]));
    expect([held.Complete?.status, held.Failed?.status]).toContain('True');
    return held;
  });
}

const remove = (scene: Scene, name: string, options: Json = {}) =>
  scene.call('DELETE', pathIn(scene, jobs, name), { body: { apiVersion: 'v1', kind: 'DeleteOptions', ...options } });

const cron = (name: string, podSpec: Json, spec: Json = {}): Json => ({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name },
  spec: {
    schedule: '* * * * *',
    timeZone: 'Etc/UTC',
    concurrencyPolicy: 'Forbid',
    ...spec,
    jobTemplate: { metadata: { labels: { of: name } }, spec: jobSpec(podSpec, {}) },
  },
});

export const jobCases: readonly ConformanceCase[] = [
  {
    story: 'a Job makes one pod, which is its own and held until it is counted',
    async play(scene) {
      const { metadata } = await made(scene, jobs, job('a', { ...nowhere, containers: [scene.container] }));
      const [pod] = await scene.until('a pod', async () => {
        const pods = await podsOf(scene, 'a');
        expect(pods).toHaveLength(1);
        return pods;
      });
      expect(pod?.metadata).toMatchObject({
        name: expect.stringMatching(/^a-[a-z0-9]{5}$/),
        labels: { app: 'a', 'batch.kubernetes.io/controller-uid': metadata.uid, 'job-name': 'a' },
        finalizers: ['batch.kubernetes.io/job-tracking'],
        ownerReferences: [{ kind: 'Job', name: 'a', uid: metadata.uid, controller: true, blockOwnerDeletion: true }],
      });
      await scene.until('it says so', async () => {
        const { spec, status } = await read(scene, jobs, 'a');
        expect(spec).toMatchObject({
          completions: 1,
          selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': metadata.uid } },
        });
        expect(status).toMatchObject({ active: 1, startTime: expect.any(String) });
      });
    },
  },
  {
    story: 'a pod of a Job that is deleted before it has run is followed by another',
    async play(scene) {
      await made(scene, jobs, job('a', { ...nowhere, containers: [scene.container] }, { backoffLimit: 2 }));
      const only = async (other?: string): Promise<KubeObject | undefined> =>
        scene.until('a pod', async () => {
          const pods = await podsOf(scene, 'a');
          expect(pods).toHaveLength(1);
          expect(pods[0]?.metadata.name).not.toBe(other);
          return pods[0];
        });
      const name = (await only())?.metadata.name ?? '';
      await scene.call('DELETE', pathIn(scene, 'pods', name));
      await only(name);
      expect((await read(scene, jobs, 'a')).status).toMatchObject({ failed: 1 });
    },
  },
  {
    story: 'a Job deleted without a word leaves its pods, one deleted in the background takes them along',
    async play(scene) {
      for (const name of ['a', 'b']) {
        await made(scene, jobs, job(name, { ...nowhere, containers: [scene.container] }));
        await scene.until('a pod', async () => expect(await podsOf(scene, name)).toHaveLength(1));
      }
      await remove(scene, 'a');
      await remove(scene, 'b', { propagationPolicy: 'Background' });
      await scene.until('one without an owner', async () => {
        const left = await listed(scene, 'pods', { labelSelector: 'app=a' });
        expect(left.map(({ metadata }) => [metadata.ownerReferences, metadata.finalizers])).toEqual([
          [undefined, undefined],
        ]);
        expect(left[0]?.metadata.name).toMatch(/^a-/);
      });
    },
  },
  {
    story: 'a Job whose pod succeeds is complete, and the pod stays with its last words',
    pods: true,
    async play(scene) {
      await made(scene, jobs, job('a', { containers: [container(scene, ending(0, 'done'))] }));
      expect(await ended(scene, 'a')).toMatchObject({
        SuccessCriteriaMet: { status: 'True', reason: 'CompletionsReached' },
        Complete: { status: 'True', reason: 'CompletionsReached', lastTransitionTime: expect.any(String) },
      });
      expect((await read(scene, jobs, 'a')).status).toMatchObject({ succeeded: 1, completionTime: expect.any(String) });
      const [pod] = await podsOf(scene, 'a');
      expect(statusOf(pod).phase).toBe('Succeeded');
      expect(await endsOf(scene, 'a')).toMatchObject([{ exitCode: 0, reason: 'Completed', message: 'done' }]);
      await scene.until('it is counted', async () => {
        expect((await podsOf(scene, 'a'))[0]?.metadata.finalizers).toBeUndefined();
      });
    },
  },
  {
    story: 'a pod that fails is followed by another after a pause, until there were enough',
    pods: true,
    async play(scene) {
      await made(scene, jobs, job('a', { containers: [container(scene, ending(1, 'no'))] }, { backoffLimit: 1 }));
      expect(await ended(scene, 'a')).toMatchObject({
        FailureTarget: { status: 'True', reason: 'BackoffLimitExceeded' },
        Failed: { status: 'True', reason: 'BackoffLimitExceeded' },
      });
      expect((await read(scene, jobs, 'a')).status).toMatchObject({ failed: 2 });
      expect(await endsOf(scene, 'a')).toMatchObject([
        { exitCode: 1, message: 'no' },
        { exitCode: 1, message: 'no' },
      ]);
      const births = (await podsOf(scene, 'a')).map(({ metadata }) => Date.parse(metadata.creationTimestamp ?? ''));
      expect(Math.max(...births) - Math.min(...births)).toBeGreaterThanOrEqual(8_000);
    },
  },
  {
    story: 'an exit code that the policy names ends the Job at once',
    pods: true,
    async play(scene) {
      const onExitCodes = { operator: 'In', values: [2] };
      const podFailurePolicy = { rules: [{ action: 'FailJob', onExitCodes }] };
      const spec = { backoffLimit: 3, podFailurePolicy };
      await made(scene, jobs, job('a', { containers: [container(scene, ending(2, 'never'))] }, spec));
      expect(await ended(scene, 'a')).toMatchObject({ Failed: { reason: 'PodFailurePolicy' } });
      expect(await endsOf(scene, 'a')).toMatchObject([{ exitCode: 2, message: 'never' }]);
    },
  },
  {
    story: 'containers that come first run one after the other, each to its end',
    pods: true,
    async play(scene) {
      const step = (name: string): Json => container(scene, ending(0, name), { name });
      const podSpec = { initContainers: [step('first'), step('second')], containers: [step('last')] };
      await made(scene, jobs, job('a', podSpec));
      await ended(scene, 'a');
      const { initContainerStatuses = [], containerStatuses = [] } = statusOf((await podsOf(scene, 'a'))[0]);
      const ends = [...initContainerStatuses, ...containerStatuses].map(({ state }) => state.terminated ?? {});
      expect(ends.map(({ message }) => message)).toEqual(['first', 'second', 'last']);
      const times = ends.flatMap(({ startedAt, finishedAt }) => [startedAt, finishedAt].map(String));
      expect([...times].sort()).toEqual(times);
    },
  },
  {
    story: 'where one that comes first fails, those after it never begin',
    pods: true,
    async play(scene) {
      const initContainers = [container(scene, ending(1, 'no'), { name: 'first' })];
      await made(scene, jobs, job('a', { initContainers, containers: [container(scene, ending(0))] }));
      expect(await ended(scene, 'a')).toMatchObject({ Failed: { status: 'True' } });
      expect(statusOf((await podsOf(scene, 'a'))[0])).toMatchObject({
        phase: 'Failed',
        initContainerStatuses: [{ state: { terminated: { exitCode: 1, message: 'no' } } }],
        containerStatuses: [{ state: { waiting: { reason: 'PodInitializing' } } }],
      });
    },
  },
  {
    story: 'a command may refer to the environment of its container',
    pods: true,
    async play(scene) {
      const env = [{ name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }];
      await made(scene, jobs, job('a', { containers: [container(scene, ending(0, '$(POD)'), { env })] }));
      await ended(scene, 'a');
      const [pod] = await podsOf(scene, 'a');
      expect(await endsOf(scene, 'a')).toMatchObject([{ message: pod?.metadata.name }]);
    },
  },
  {
    story: 'a CronJob makes a Job at its minute, none beside it, and none while it is suspended',
    async play(scene) {
      const podSpec = { ...nowhere, containers: [scene.container] };
      const { metadata } = await made(scene, cronJobs, cron('a', podSpec));
      await made(scene, cronJobs, cron('b', podSpec, { suspend: true }));
      // Up to a minute, and what the controller needs.
      await scene.pause(25_000);
      const [first] = await scene.until('a Job', async () => {
        const all = await listed(scene, jobs);
        expect(all).toHaveLength(1);
        return all;
      });
      const at = Date.parse(first?.metadata.annotations?.['batch.kubernetes.io/cronjob-scheduled-timestamp'] ?? '');
      expect(at % 60_000).toBe(0);
      expect(first?.metadata).toMatchObject({
        name: `a-${at / 60_000}`,
        labels: { of: 'a' },
        ownerReferences: [{ kind: 'CronJob', name: 'a', uid: metadata.uid, controller: true }],
      });
      await scene.until('it says so', async () => {
        const { status } = await read(scene, cronJobs, 'a');
        const lastScheduleTime = new Date(at).toISOString().replace('.000Z', 'Z');
        expect(status).toMatchObject({ lastScheduleTime, active: [{ name: first?.metadata.name }] });
      });
      await scene.pause(65_000);
      expect((await listed(scene, jobs)).map(({ metadata: { name } }) => name)).toEqual([first?.metadata.name]);
    },
  },
  {
    story: 'of the Jobs of a CronJob that have ended, the last ones are kept, and the others go with their pods',
    pods: true,
    async play(scene) {
      const containers = [container(scene, ending(0))];
      const spec = { suspend: true, successfulJobsHistoryLimit: 1 };
      const { apiVersion, kind, metadata } = await made(scene, cronJobs, cron('a', { containers }, spec));
      const owner = { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true };
      for (const name of ['a-1', 'a-2']) {
        await made(scene, jobs, job(name, { containers }, {}, { ownerReferences: [owner] }));
        if (name === 'a-1') await ended(scene, name);
        await scene.pause(1_100);
      }
      await scene.until('one is left', async () => {
        expect((await listed(scene, jobs)).map(({ metadata: { name } }) => name)).toEqual(['a-2']);
        expect(await podsOf(scene, 'a-1')).toEqual([]);
      });
    },
  },
];
