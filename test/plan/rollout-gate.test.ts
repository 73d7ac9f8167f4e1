/** What begins, what is held back, and what never waits. */
import { describe, expect, it } from 'vitest';
import type { Cluster, CommonSpec } from '../../src/api/cluster.ts';
import { ignoreLimitAnnotation, maintenanceNowAnnotation, restartAnnotation } from '../../src/api/maintenance.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { redisKind } from '../../src/engines/redis/kind/schema.ts';
import { fingerprintAnnotation } from '../../src/plan/difference.ts';
import {
  blocked,
  type DeferrablePlan,
  type ObjectStep,
  type Outcome,
  type Plan,
  type Step,
  settled,
  wait,
} from '../../src/plan/plan.ts';
import { gated } from '../../src/plan/rollout-gate.ts';
import { childrenOf, type Pod } from '../../src/resources/children.ts';
import { componentLabel } from '../../src/resources/metadata.ts';

const noon = Date.parse('2026-11-29T12:00:00Z');
const windows = [{ start: '22:00', duration: '2h', timeZone: 'Etc/UTC' }];

type PodChange =
  | 'outdated'
  | 'outdated unready'
  | 'creating'
  | 'long creating'
  | `${'' | 'long '}${'unready' | 'stopped' | 'unscheduled'}`;

interface Story {
  readonly spec?: CommonSpec;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly isNew?: true;
  readonly isEdited?: true;
  /** What the status says of the templates of before: `held` or `edited` for the one that is wanted now. */
  readonly told?: 'held' | 'edited' | 'another';
  readonly pods?: Readonly<Record<number, PodChange>>;
  readonly steps?: readonly Step[];
  readonly outcome?: Outcome;
  readonly plan?: Partial<DeferrablePlan>;
  /** Another cluster has the only place. */
  readonly isTaken?: true;
}

const setOf = (name: string, component: string, replicas: number): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name, namespace: 'apps', uid: name, generation: 1, labels: { [componentLabel]: component } },
  spec: { replicas },
  status: { observedGeneration: 1, updateRevision: 'new', replicas },
});
const set = setOf('db', 'servers', 3);
const sibling = setOf('other', 'servers', 1);
const aside = setOf('pooler', 'pooler', 1);

function pod(name: string, change?: PodChange): Pod {
  const isReady = change === undefined || change === 'outdated';
  const isCreating = change === 'creating' || change === 'long creating';
  const isUnscheduled = change?.endsWith('unscheduled') === true;
  const lastTransitionTime = change?.startsWith('long') === true ? '2026-11-29T11:54:59Z' : '2026-11-29T11:59:00Z';
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      labels: { 'controller-revision-hash': change?.startsWith('outdated') ? 'old' : 'new' },
    },
    status: {
      phase: isUnscheduled || isCreating ? 'Pending' : 'Running',
      // A pod that runs has done so for long.
      startTime: change === 'creating' ? lastTransitionTime : '2026-11-29T11:54:59Z',
      conditions: isUnscheduled
        ? [{ type: 'PodScheduled', status: 'False', lastTransitionTime }]
        : [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime }],
      containerStatuses: [
        { name: 'db', ...(change?.endsWith('stopped') ? { state: { waiting: { reason: 'ImagePullBackOff' } } } : {}) },
      ],
    },
  };
}

const written = (...paths: string[]): ObjectStep => ({
  type: 'apply',
  object: set,
  changes: paths.map((path) => ({ path, to: path === 'spec.replicas' ? 5 : 'x' })),
});
const image = 'spec.template.spec.containers[db].image';
const secret = 'spec.template.spec.volumes[auth].secret.secretName';
const imageOf = (object: KubeObject): ObjectStep => ({ type: 'apply', object, changes: [{ path: image, to: 'x' }] });
const template = imageOf(set);
const other = imageOf(sibling);
const pooler = imageOf(aside);
const fingerprint = `metadata.annotations[${fingerprintAnnotation}]`;
const printed = (from: string, to: string): ObjectStep & { readonly type: 'apply' } => ({
  type: 'apply',
  object: set,
  changes: [{ path: fingerprint, from, to }],
});
const requested = {
  type: 'apply',
  object: set,
  changes: [{ path: `spec.template.metadata.annotations[${restartAnnotation}]`, to: 'x' }],
} as const;
const first: ObjectStep = {
  type: 'apply',
  object: set,
  changes: [{ path: 'spec.template.metadata.annotations', to: { [restartAnnotation]: 'x' } }],
};
const act: Step = { type: 'act', action: { type: 'test.act' }, summary: 'ask for something' };

const gateOf = (story: Story) => judged(story).result;

function judged(story: Story) {
  let asked = 0;
  const cluster: Cluster<CommonSpec> = {
    apiVersion: 'clusterwright.dev/v1alpha1',
    kind: 'RedisCluster',
    metadata: { name: 'db', namespace: 'apps', uid: 'cluster', generation: 2, annotations: story.annotations ?? {} },
    spec: story.spec ?? {},
    status: {
      initialized: story.isNew !== true,
      observedGeneration: story.isEdited === true ? 1 : 2,
      ...(story.told === undefined
        ? {}
        : {
            heldTemplates: [
              {
                name: 'db',
                template: story.told === 'another' ? 'before' : 'now',
                ...(story.told === 'edited' ? { edited: true } : {}),
              },
            ],
          }),
    },
  };
  const children = childrenOf([
    ...[set, sibling, aside],
    ...[0, 1, 2].map((index) => pod(`db-${index}`, story.pods?.[index])),
    ...[pod('other-0'), pod('pooler-0')],
  ]);
  const plan: Plan = { steps: story.steps ?? [template], outcome: story.outcome ?? settled, ...story.plan };
  const result = gated(plan, {
    ...{ cluster, children, now: noon, resource: redisKind.resource },
    takePlace() {
      asked++;
      return story.isTaken === true ? 'those of another cluster' : undefined;
    },
  });
  return { result, asked };
}

function told(story: Story): string[] {
  const { result, asked } = judged(story);
  const words = result.plan.steps.map((step) =>
    step.type === 'act'
      ? step.summary
      : 'changes' in step
        ? `${step.type} ${step.changes.map(({ path }) => path).join(' ')}`
        : step.type,
  );
  const { outcome } = result.plan;
  return [
    ...words,
    ...(outcome.state === 'settled' ? [] : [`${outcome.state} ${outcome.reason}`]),
    ...(asked > 0 ? ['asks for a place'] : []),
    ...placeWords[result.place],
  ];
}

const placeWords: Readonly<Record<ReturnType<typeof gated>['place'], readonly string[]>> = {
  begins: ['begins'],
  asks: [],
  unused: [],
  over: ['needs no place'],
};

const apply = `apply ${image}`;

describe('a template', () => {
  it.each<readonly [string, Story, string[]]>([
    ['is written where nothing is in the way', {}, [apply, 'asks for a place', 'begins']],
    ['waits for its turn', { isTaken: true }, ['wait WaitingForRollout', 'asks for a place']],
    [
      'waits for its window, and asks for no place before',
      { spec: { maintenance: { windows } } },
      ['wait WaitingForWindow'],
    ],
    [
      'does not wait for a window that a person does not wait for',
      { spec: { maintenance: { windows } }, annotations: { [maintenanceNowAnnotation]: 'x' } },
      [apply, 'asks for a place', 'begins'],
    ],
    [
      'waits until every pod is ready, and asks for no place before',
      { pods: { 1: 'unready' } },
      ['wait WaitingForRollout'],
    ],
    [
      'does not wait for others where a person has said so',
      { isTaken: true, pods: { 1: 'unready' }, annotations: { [ignoreLimitAnnotation]: 'true' } },
      [apply, 'begins'],
    ],
    ['of a new cluster waits for nothing', { isNew: true, isTaken: true, spec: { maintenance: { windows } } }, [apply]],
    ['corrects one that pods have yet to get', { isTaken: true, pods: { 0: 'outdated' } }, [apply]],
    [
      'that others would get that are ready repairs no pod that has long not been able to start',
      { isTaken: true, spec: { maintenance: { windows } }, pods: { 2: 'long stopped' } },
      ['wait WaitingForWindow'],
    ],
    [
      'repairs pods that have not been able to start for long where none is ready, also outside of a window',
      { isTaken: true, spec: { maintenance: { windows } }, pods: { 0: 'unready', 1: 'unready', 2: 'long stopped' } },
      [apply],
    ],
    [
      'repairs a pod that cannot start, at once where a person changes it',
      { isEdited: true, isTaken: true, spec: { maintenance: { windows } }, pods: { 2: 'stopped' } },
      [apply],
    ],
    [
      'is no repair of a pod that cannot start for a moment',
      { spec: { maintenance: { windows } }, pods: { 2: 'stopped' } },
      ['wait WaitingForWindow'],
    ],
    [
      'follows the one that others of the component are getting, also after the end of the window',
      { spec: { maintenance: { windows } }, steps: [other], pods: { 0: 'outdated' } },
      [`apply ${image}`, 'asks for a place', 'begins'],
    ],
    [
      'does not follow the repair of another pod',
      { spec: { maintenance: { windows } }, steps: [other], pods: { 0: 'outdated unready' } },
      ['wait WaitingForWindow'],
    ],
    [
      'does not follow the repair of another pod that has got ready without it',
      { spec: { maintenance: { windows } }, steps: [other], pods: { 0: 'outdated', 1: 'outdated', 2: 'outdated' } },
      ['wait WaitingForWindow'],
    ],
    [
      'waits for the repair of another pod, also where there are no windows',
      { steps: [other], pods: { 0: 'outdated unready' } },
      ['wait WaitingForRollout'],
    ],
    [
      'of servers does not follow that of another component',
      { spec: { maintenance: { windows } }, steps: [pooler], pods: { 0: 'outdated' } },
      ['wait WaitingForWindow'],
    ],
    [
      'may be what a pod of its own needs that has long been unready, and waits for its turn',
      { pods: { 1: 'long unready' } },
      [apply, 'asks for a place', 'begins'],
    ],
    [
      'waits for a pod of others that is unready, however long',
      { steps: [other], pods: { 1: 'long unready' } },
      ['wait WaitingForRollout'],
    ],
    [
      'that only loses fields is one, too',
      { spec: { maintenance: { windows } }, steps: [printed('1-a', '2-b')] },
      ['wait WaitingForWindow'],
    ],
    [
      'stays where only other fields of the StatefulSet go',
      { isTaken: true, steps: [printed('1-a', '2-a')] },
      [`apply ${fingerprint}`, 'needs no place'],
    ],
    [
      'may lose fields where an earlier operator has written it, and something goes',
      { isTaken: true, steps: [printed('1', '2-b')] },
      ['wait WaitingForRollout', 'asks for a place'],
    ],
    [
      'loses none where an earlier operator has written it, and all is the same',
      { isTaken: true, steps: [printed('1', '1-b')] },
      [`apply ${fingerprint}`, 'needs no place'],
    ],
    [
      'that loses fields together with a request to restart waits for its window',
      {
        spec: { maintenance: { windows } },
        steps: [{ ...requested, changes: [...requested.changes, ...printed('1-a', '2-b').changes] }],
      },
      ['wait WaitingForWindow'],
    ],
    [
      'without annotations gets the request to restart as its first one',
      { spec: { maintenance: { windows } }, steps: [first] },
      ['apply spec.template.metadata.annotations', 'asks for a place', 'begins'],
    ],
    [
      'repairs a cluster of which nobody is ready, where a person changes it',
      { isEdited: true, isTaken: true, pods: { 0: 'unready', 1: 'unscheduled', 2: 'unready' } },
      [apply],
    ],
    [
      'that somebody else has changed is no repair, while nobody is ready for a moment',
      { isTaken: true, pods: { 0: 'unready', 1: 'unready', 2: 'unready' } },
      ['wait WaitingForRollout'],
    ],
    [
      'repairs a cluster of which nobody has been ready for long',
      { isTaken: true, pods: { 0: 'long unready', 1: 'long unready', 2: 'long unready' } },
      [apply],
    ],
    [
      'may be what a pod needs that finds no node for long, and waits for its turn',
      { pods: { 2: 'long unscheduled' } },
      [apply, 'asks for a place', 'begins'],
    ],
    [
      'is not what a pod needs that has just found no node',
      { spec: { maintenance: { windows } }, pods: { 2: 'unscheduled' } },
      ['wait WaitingForWindow'],
    ],
    [
      'with another Secret repairs a pod that has waited for the present one for long',
      { spec: { maintenance: { windows } }, steps: [written(secret)], pods: { 2: 'long creating' } },
      [`apply ${secret}`],
    ],
    [
      'with another Secret repairs no pod that has just begun to start',
      { spec: { maintenance: { windows } }, steps: [written(secret)], pods: { 2: 'creating' } },
      ['wait WaitingForWindow'],
    ],
    [
      'with another Secret repairs nothing where all pods run',
      { spec: { maintenance: { windows } }, steps: [written(secret)] },
      ['wait WaitingForWindow'],
    ],
    [
      'without another volume repairs no pod that waits for its Secret or its image',
      { spec: { maintenance: { windows } }, pods: { 2: 'long creating' } },
      ['wait WaitingForWindow'],
    ],
    [
      'waits, and the size that changes with it does not',
      { isTaken: true, steps: [written('spec.replicas', image), act] },
      ['patch spec.replicas', 'ask for something', 'wait WaitingForRollout', 'asks for a place'],
    ],
    [
      'that stays as it is waits for nothing',
      { isTaken: true, steps: [written('spec.replicas')] },
      ['apply spec.replicas', 'needs no place'],
    ],
    [
      'restarts on request outside of a window, and not out of turn',
      {
        spec: { maintenance: { windows } },
        steps: [written(`spec.template.metadata.annotations[${restartAnnotation}]`)],
      },
      [`apply spec.template.metadata.annotations[${restartAnnotation}]`, 'asks for a place', 'begins'],
    ],
    [
      'restarts on request within a window where more has changed',
      {
        spec: { maintenance: { windows } },
        steps: [written(`spec.template.metadata.annotations[${restartAnnotation}]`, image)],
      },
      ['wait WaitingForWindow'],
    ],
  ])('%s', (_, story, words) => expect(told(story)).toEqual(words));
});

describe('a pod that cannot start', () => {
  const stopped: Story = {
    spec: { maintenance: { windows } },
    pods: { 2: 'stopped' },
    steps: [printed('0-before', '1-now')],
  };
  it.each<readonly [string, Story, boolean]>([
    ['gets the template of an edit', { isEdited: true }, true],
    ['gets it also later, where it could not be written at once', { told: 'edited' }, true],
    ['and while something else is edited', { isEdited: true, told: 'edited' }, true],
    [
      'gets none that has waited before, since another part of the spec is edited',
      { isEdited: true, told: 'held' },
      false,
    ],
    ['gets that of an edit while another one has waited', { isEdited: true, told: 'another' }, true],
    ['gets none that nobody has edited', {}, false],
    ['gets none of another operator while one has waited', { told: 'another' }, false],
  ])('%s', (_, story, isWritten) => {
    const lines = told({ ...stopped, ...story });
    expect(lines.includes(`apply ${fingerprint}`)).toBe(isWritten);
  });

  it.each<readonly [string, Story, object]>([
    ['of an edit that repairs', { isEdited: true, pods: { 2: 'stopped' } }, { edited: true }],
    ['of an edit that repairs nothing, and later does', { isEdited: true }, {}],
    ['that nobody has edited', { pods: { 2: 'stopped' } }, {}],
  ])('is told of a template %s', (_, story, more) => {
    const spec = { maintenance: { windows } };
    expect(gateOf({ spec, steps: [printed('0-before', '1-now')], ...story }).heldTemplates).toEqual([
      { name: 'db', template: 'now', ...more },
    ]);
  });
});

describe('a plan', () => {
  const otherwise: Plan = { steps: [act], outcome: settled };
  it.each<readonly [string, Story, string[]]>([
    [
      'that waits for something else says so',
      { isTaken: true, outcome: wait('X', 'x', 5) },
      ['wait X', 'asks for a place'],
    ],
    ['that is blocked says so', { isTaken: true, outcome: blocked('X', 'x') }, ['blocked X', 'asks for a place']],
    [
      'that a person has confirmed as a whole waits for nothing',
      { isTaken: true, plan: { destructive: true } },
      [apply],
    ],
    [
      'that interrupts somebody is replaced by the other one',
      { isTaken: true, steps: [], outcome: wait('Restarting', 'x'), plan: { otherwise } },
      ['ask for something', 'wait WaitingForRollout', 'asks for a place'],
    ],
    [
      'that interrupts somebody waits, also while pods beside the members restart',
      { isTaken: true, steps: [], pods: { 1: 'outdated' }, outcome: wait('Restarting', 'x'), plan: { otherwise } },
      ['ask for something', 'wait WaitingForRollout', 'asks for a place'],
    ],
    [
      'by which a database works again waits for nothing, and interrupts nobody for something else',
      {
        isTaken: true,
        spec: { maintenance: { windows } },
        plan: { repairs: true, otherwise: { steps: [template], outcome: settled } },
        steps: [template, act],
      },
      [apply],
    ],
    ['of a cluster at rest needs no place', { steps: [] }, ['needs no place']],
    ['of a cluster that is interrupted without a trace keeps it', { steps: [], plan: { isUnderway: true } }, []],
    [
      'that cannot begin, since the backup before it fails, leaves the place to others',
      { steps: [], outcome: wait('VersionBackupFailed', 'x'), plan: { otherwise } },
      ['wait VersionBackupFailed', 'asks for a place'],
    ],
    [
      'that cannot begin, since there is no claim for the backup before it, leaves it, too',
      { steps: [], outcome: wait('ClaimMissing', 'x'), plan: { otherwise } },
      ['wait ClaimMissing', 'asks for a place'],
    ],
    [
      'of servers of which some have yet to restart leaves it at the end of the window',
      { steps: [], spec: { maintenance: { windows } }, plan: { otherwise, isUnderway: true } },
      ['ask for something', 'wait WaitingForWindow', 'needs no place'],
    ],
    [
      'that the database has been told of goes on after the end of the window',
      { spec: { maintenance: { windows } }, plan: { goesOn: true, isUnderway: true } },
      [apply, 'asks for a place', 'begins'],
    ],
    [
      'whose backup is taken keeps it',
      { steps: [act], outcome: wait('VersionBackup', 'x'), plan: { otherwise } },
      ['ask for something', 'wait VersionBackup', 'asks for a place', 'begins'],
    ],
    ['of a cluster that rolls out keeps it', { steps: [], pods: { 1: 'outdated' } }, []],
    [
      'without anything to do ends the request',
      { steps: [], annotations: { [maintenanceNowAnnotation]: 'x' } },
      [`patch metadata.annotations[${maintenanceNowAnnotation}]`, 'needs no place'],
    ],
  ])('%s', (_, story, words) => expect(told(story)).toEqual(words));
});

it('says when the window opens, in UTC, and how not to wait', () => {
  const cluster = {
    apiVersion: 'clusterwright.dev/v1alpha1',
    kind: 'RedisCluster',
    metadata: { name: 'db', namespace: 'apps' },
    spec: { maintenance: { windows: [{ start: '22:00', duration: '2h', timeZone: 'Europe/Berlin' }] } },
    status: { initialized: true },
  } as const;
  const children = childrenOf([set, ...[0, 1, 2].map((index) => pod(`db-${index}`))]);
  const facts = { cluster, children, now: noon, resource: redisKind.resource, takePlace: () => undefined };
  expect(gated({ steps: [template], outcome: settled }, facts).plan.outcome).toEqual({
    state: 'wait',
    reason: 'WaitingForWindow',
    message:
      'pods restart for the changes in the maintenance window that opens at 2026-11-29T21:00:00Z; at once with the annotation clusterwright.dev/maintenance-now',
    recheckMs: 9 * 60 * 60 * 1000,
  });
});
