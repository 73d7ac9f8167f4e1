/** Stories of what a plan may begin with: a cluster `db` of three servers, a fourth one, and a pooler, at noon. */
import type { Cluster, CommonSpec } from '../../src/api/cluster.ts';
import { restartAnnotation } from '../../src/api/maintenance.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { redisKind } from '../../src/engines/redis/kind/schema.ts';
import { fingerprintAnnotation } from '../../src/plan/difference.ts';
import {
  type DeferrablePlan,
  type ObjectStep,
  type Outcome,
  type Plan,
  type Step,
  settled,
} from '../../src/plan/plan.ts';
import { gated } from '../../src/plan/rollout-gate.ts';
import { childrenOf, type Pod } from '../../src/resources/children.ts';
import { componentLabel } from '../../src/resources/metadata.ts';

export const noon = Date.parse('2026-11-29T12:00:00Z');
export const windows = [{ start: '22:00', duration: '2h', timeZone: 'Etc/UTC' }];

type PodChange =
  | 'outdated'
  | 'outdated unready'
  | 'creating'
  | 'long creating'
  // Ready again: its process has ended a while, or an hour, ago.
  | 'ended'
  | 'ended long ago'
  | `${'' | 'long '}${'unready' | 'stopped' | 'unscheduled'}`;

export interface Story {
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
export const set = setOf('db', 'servers', 3);
export const sibling = setOf('other', 'servers', 1);
export const aside = setOf('pooler', 'pooler', 1);
const log = setOf('db-archive', 'archive', 1);

export function pod(name: string, change?: PodChange): Pod {
  const hasEnded = change === 'ended' || change === 'ended long ago';
  const isReady = change === undefined || change === 'outdated' || hasEnded;
  const finishedAt = change === 'ended' ? '2026-11-29T11:35:00Z' : '2026-11-29T11:00:00Z';
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
        {
          name: 'db',
          ...(change?.endsWith('stopped') ? { state: { waiting: { reason: 'ImagePullBackOff' } } } : {}),
          ...(hasEnded ? { lastState: { terminated: { reason: 'OOMKilled', exitCode: 137, finishedAt } } } : {}),
        },
      ],
    },
  };
}

export const written = (...paths: string[]): ObjectStep => ({
  type: 'apply',
  object: set,
  changes: paths.map((path) => ({ path, to: path === 'spec.replicas' ? 5 : 'x' })),
});
export const image = 'spec.template.spec.containers[db].image';
export const secret = 'spec.template.spec.volumes[auth].secret.secretName';
const imageOf = (object: KubeObject): ObjectStep => ({ type: 'apply', object, changes: [{ path: image, to: 'x' }] });
export const template = imageOf(set);
export const other = imageOf(sibling);
export const pooler = imageOf(aside);
export const archive = imageOf(log);
export const fingerprint = `metadata.annotations[${fingerprintAnnotation}]`;
export const printed = (from: string, to: string): ObjectStep & { readonly type: 'apply' } => ({
  type: 'apply',
  object: set,
  changes: [{ path: fingerprint, from, to }],
});
export const requested = {
  type: 'apply',
  object: set,
  changes: [{ path: `spec.template.metadata.annotations[${restartAnnotation}]`, to: 'x' }],
} as const;
export const first: ObjectStep = {
  type: 'apply',
  object: set,
  changes: [{ path: 'spec.template.metadata.annotations', to: { [restartAnnotation]: 'x' } }],
};
export const act: Step = { type: 'act', action: { type: 'test.act' }, summary: 'ask for something' };

export const restart: Step = { type: 'act', action: { type: 'test.restart' }, summary: 'restart a server' };

export const gateOf = (story: Story) => judged(story).result;

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
    ...[set, sibling, aside, log],
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

export function told(story: Story): string[] {
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
