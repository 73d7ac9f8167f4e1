/** An engine that a test tells what to find and what to plan, for the parts of the controller that know no database. */
import type { DesiredCondition } from '../../src/api/condition.ts';
import type { KubeObject, ObjectMeta } from '../../src/api/object.ts';
import { desiredConditions } from '../../src/engine/desired-conditions.ts';
import type { Assessment, KindHandler, StatusReport } from '../../src/engine/engine.ts';
import type { EngineContext } from '../../src/engine/engine-context.ts';
import { redisKind } from '../../src/engines/redis/kind/schema.ts';
import type { Desired } from '../../src/plan/objects.ts';
import { type EngineAction, type Outcome, type Plan, settled } from '../../src/plan/plan.ts';
import type { Children } from '../../src/resources/children.ts';
import { instanceLabel, managedBy, managedByLabel, nameLabel } from '../../src/resources/metadata.ts';

export const ready: readonly DesiredCondition[] = [
  { type: 'Ready', status: 'True', reason: 'AllMembersReady', message: 'all is well' },
  { type: 'Progressing', status: 'False', reason: 'AllMembersReady', message: 'all is well' },
];

/** What an engine would say: it waits for nothing that anybody has to know. */
function statusFor(outcome: Outcome): StatusReport {
  if (outcome.state !== 'blocked') return { phase: 'Ready', conditions: ready };
  return {
    phase: 'Blocked',
    conditions: desiredConditions('False', outcome.reason, outcome.message, { stalled: true }),
  };
}

export interface Finding {
  readonly plan?: Plan;
  /** For the time in which the plan has to wait. */
  readonly otherwise?: Plan;
  readonly status?: StatusReport;
  /** May reject, or never resolve. */
  readonly act?: (action: EngineAction) => Promise<void>;
}

export interface TestEngine extends KindHandler {
  /** Names of the clusters that were looked at, in order. */
  readonly surveyed: string[];
  /** What a look at a cluster finds. May reject, or never resolve. */
  find: (name: string, children: Children, io: EngineContext) => Finding | Promise<Finding>;
  resources: KindHandler['resources'];
}

export function testEngine(more: Partial<KindHandler> = {}): TestEngine {
  const surveyed: string[] = [];
  const engine: TestEngine = {
    name: 'test',
    kind: redisKind,
    permissions: [],
    ports: [],
    surveyed,
    find: () => ({}),
    resources: (): readonly Desired[] => [],
    async assess(cluster, children, io): Promise<Assessment> {
      surveyed.push(cluster.metadata.name);
      const { plan, otherwise, status, act } = await engine.find(cluster.metadata.name, children, io);
      return {
        plan: plan ?? { steps: [], outcome: settled },
        status: status ?? statusFor(plan?.outcome ?? settled),
        ...(otherwise === undefined ? {} : { otherwise: { plan: otherwise, status: statusFor(otherwise.outcome) } }),
        act: act ?? (async () => undefined),
      };
    },
    planOffline: () => ({ steps: [], outcome: settled }),
    ...more,
  };
  return engine;
}

export function testCluster(name: string, spec: object = {}, metadata: Partial<ObjectMeta> = {}): KubeObject {
  return {
    apiVersion: 'clusterwright.dev/v1alpha1',
    kind: 'RedisCluster',
    metadata: { name, namespace: 'apps', ...metadata },
    spec,
  };
}

/** A child of a cluster, as the controller would label it. */
export function testChild(cluster: KubeObject, kind: 'ConfigMap' | 'Pod', data = ''): KubeObject {
  const { name, namespace = '', uid = '' } = cluster.metadata;
  return {
    apiVersion: 'v1',
    kind,
    metadata: {
      name,
      namespace,
      labels: { [nameLabel]: 'test', [instanceLabel]: name, [managedByLabel]: managedBy },
      ownerReferences: [{ apiVersion: cluster.apiVersion, kind: cluster.kind, name, uid, controller: true }],
    },
    data: { data },
  };
}

/** The claim of its first pod. */
export function testClaim(cluster: KubeObject): KubeObject {
  const { metadata, ...child } = testChild(cluster, 'ConfigMap');
  return { ...child, kind: 'PersistentVolumeClaim', metadata: { ...metadata, name: `data-${metadata.name}-0` } };
}
