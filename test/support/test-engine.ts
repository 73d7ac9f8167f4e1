/** An engine that a test tells what to find and what to plan, for the parts of the controller that know no database. */
import type { ConditionClaim } from '../../src/api/condition.ts';
import type { KubeObject, ObjectMeta } from '../../src/api/object.ts';
import { redisKind } from '../../src/engines/redis/kind/schema.ts';
import { conditionClaims } from '../../src/engine/condition-claims.ts';
import type { RegisteredEngine, StatusClaim, Survey } from '../../src/engine/engine.ts';
import type { EngineIO } from '../../src/engine/engine-io.ts';
import type { Desired } from '../../src/plan/objects.ts';
import { type EngineAction, type Outcome, type Plan, settled } from '../../src/plan/plan.ts';
import type { Children } from '../../src/resources/children.ts';
import { instanceLabel, managedBy, managedByLabel, nameLabel } from '../../src/resources/metadata.ts';

export const ready: readonly ConditionClaim[] = [
  { type: 'Ready', status: 'True', reason: 'AllMembersReady', message: 'all is well' },
  { type: 'Progressing', status: 'False', reason: 'AllMembersReady', message: 'all is well' },
];

/** What an engine would say: it waits for nothing that anybody has to know. */
function statusFor(outcome: Outcome): StatusClaim {
  if (outcome.state !== 'blocked') return { phase: 'Ready', conditions: ready };
  return { phase: 'Blocked', conditions: conditionClaims('False', outcome.reason, outcome.message, { stalled: true }) };
}

export interface Finding {
  readonly plan?: Plan;
  readonly status?: StatusClaim;
  /** May reject, or never resolve. */
  readonly act?: (action: EngineAction) => Promise<void>;
}

export interface TestEngine extends RegisteredEngine {
  /** Names of the clusters that were looked at, in order. */
  readonly surveyed: string[];
  /** What a look at a cluster finds. May reject, or never resolve. */
  find: (name: string, children: Children, io: EngineIO) => Finding | Promise<Finding>;
  resources: RegisteredEngine['resources'];
}

export function testEngine(more: Partial<RegisteredEngine> = {}): TestEngine {
  const surveyed: string[] = [];
  const engine: TestEngine = {
    name: 'test',
    kind: redisKind,
    permissions: [],
    ports: [],
    surveyed,
    find: () => ({}),
    resources: (): readonly Desired[] => [],
    async survey(cluster, children, io): Promise<Survey> {
      surveyed.push(cluster.metadata.name);
      const { plan, status, act } = await engine.find(cluster.metadata.name, children, io);
      return {
        plan: plan ?? { steps: [], outcome: settled },
        status: status ?? statusFor(plan?.outcome ?? settled),
        act: act ?? (async () => undefined),
      };
    },
    surveyOffline: () => ({ steps: [], outcome: settled }),
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
