/**
 * Situations of a Redis Cluster `db` of three shards with a replica each, for tables of stories. A story says in what the world differs from one
 * that is whole: the primary of each shard is its first pod, every view agrees, every claim says what it should.
 */
import type { KubeObject } from '../../src/api/object.ts';
import type { ClusterStatus } from '../../src/api/status.ts';
import type { ClusterNode } from '../../src/engines/redis/client/cluster-nodes.ts';
import type { RedisSpecInput } from '../../src/engines/redis/kind/schema.ts';
import { firstSlotsOf } from '../../src/engines/redis/kind/shards.ts';
import type { SlotSet } from '../../src/engines/redis/kind/slots.ts';
import { formedAnnotation, nodeAnnotation } from '../../src/engines/redis/names.ts';
import type { SilentNode } from '../../src/engines/redis/observe/observed.ts';
import type { ShardNode } from '../../src/engines/redis/observe/shards/observed.ts';
import { type ShardsSituation, shardsSituation } from '../../src/engines/redis/observe/shards/situation.ts';
import type { SlotHolder } from '../../src/engines/redis/observe/shards/slot-holder.ts';
import { redisResources } from '../../src/engines/redis/resources/resources.ts';
import { settingsToHold } from '../../src/engines/redis/resources/settings.ts';
import { fingerprinted } from '../../src/plan/difference.ts';
import { childrenOf } from '../../src/resources/children.ts';
import { selectorLabels, shardLabel } from '../../src/resources/metadata.ts';
import { stored } from '../../src/testing/stored-object.ts';
import { redisCluster } from './redis-situation.ts';

/** What is known of a node everywhere. Another `id` than `idOf` is a node that has replaced that one. */
export interface ShardChange {
  readonly isSilent?: true;
  readonly id?: string;
  readonly role?: 'primary' | 'replica';
  /** Pod of its primary. */
  readonly follows?: string;
  readonly slots?: SlotSet;
  /** Default: that of its shard. */
  readonly epoch?: number;
  readonly linkUp?: boolean;
  readonly isFailed?: true;
  readonly isOutdated?: true;
  readonly version?: string;
  readonly isUnready?: true;
  readonly empty?: boolean;
  /** Its priority is 0. */
  readonly isUnelectable?: true;
  readonly unwritten?: true;
  /** Its pod does not let it be elected. */
  readonly isBarred?: true;
  /** It knows itself alone. */
  readonly isAlone?: true;
  /** Pods that it does not know. */
  readonly forgets?: readonly string[];
  /** Others know nothing of it. */
  readonly isUnknown?: true;
  /** Slot that is open on its way to the node of this ID. */
  readonly migrating?: { readonly slot: number; readonly to: string };
}

export interface ShardsStory {
  readonly spec?: RedisSpecInput;
  readonly status?: ClusterStatus;
  readonly nodes?: Readonly<Record<string, ShardChange>>;
  /** Nodes that everybody knows besides. */
  readonly strangers?: readonly Partial<ClusterNode>[];
  /** Annotations of claims, by pod. */
  readonly claims?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** No claim says anything. */
  readonly isNew?: true;
  /** How many shards there are; those beyond the first three have no slots. */
  readonly there?: number;
  /** How many replicas the StatefulSets of all shards have. Default: as the spec wants. */
  readonly replicas?: number;
  /** What the primary of each shard says of its slots, and in what it differs from a shard at rest. Absent: nobody asks. */
  readonly holders?: Readonly<Record<string, Partial<SlotHolder>>>;
  /** Pods whose claims are not marked as those of a formed cluster. */
  readonly unmarked?: readonly string[];
}

const shards = 3;

export function shardPods(replicas = 1, count = shards): string[] {
  return Array.from({ length: count * (replicas + 1) }, (_, i) => {
    return `db-s${Math.floor(i / (replicas + 1))}-${i % (replicas + 1)}`;
  });
}

/** The id of the node of a pod, as it is in a whole cluster. */
export function idOf(pod: string): string {
  return Buffer.from(pod).toString('hex').padEnd(40, '0').slice(0, 40);
}

const addressOf = (pod: string): string => `10.0.${pod.slice(4, -2)}.${pod.slice(-1)}`;
const shardOf = (pod: string): number => Number(pod.slice(4, -2));

export function shardsWorld(story: ShardsStory = {}): ShardsSituation {
  const cluster = redisCluster({ mode: 'Cluster', ...story.spec }, {}, story.status);
  // What there is does not follow the spec.
  const there = story.there ?? shards;
  const replicas = story.replicas ?? cluster.spec.replicasPerShard ?? 1;
  // More than validation allows, too.
  const built = { ...cluster, spec: { ...cluster.spec, shards: there, replicasPerShard: replicas } };
  const pods = shardPods(replicas, there);
  const changeOf = (pod: string): ShardChange => story.nodes?.[pod] ?? {};

  const known = (pod: string): ClusterNode => {
    const { id = idOf(pod), role, follows, slots, epoch = shardOf(pod) + 1, isFailed } = changeOf(pod);
    const isPrimary = role === undefined ? pod.endsWith('-0') : role === 'primary';
    const primary = follows ?? `db-s${shardOf(pod)}-0`;
    return {
      id,
      address: addressOf(pod),
      port: 6379,
      hostname: `${pod}.db.apps.svc`,
      isMyself: false,
      role: isPrimary ? 'primary' : 'replica',
      ...(isPrimary ? {} : { primaryId: idOf(primary) }),
      isHandshake: false,
      isNoaddr: false,
      isSuspected: false,
      isBarred: changeOf(pod).isBarred === true,
      isFailed: isFailed === true,
      pongAt: 0,
      epoch,
      linkUp: isFailed !== true,
      slots:
        slots ?? (isPrimary && pod.endsWith('-0') && shardOf(pod) < shards ? firstSlotsOf(shardOf(pod), shards) : []),
      migrating: [changeOf(pod).migrating].flatMap((open) => open ?? []),
      importing: [],
    };
  };

  const node = (pod: string): ShardNode | SilentNode => {
    const change = changeOf(pod);
    const address = addressOf(pod);
    if (change.isSilent === true) return { state: 'silent', pod, address, why: 'no answer' };
    const self = { ...known(pod), isMyself: true };
    const isKnown = (other: string): boolean =>
      changeOf(other).isUnknown !== true && change.forgets?.includes(other) !== true;
    const others = pods.filter((other) => other !== pod && isKnown(other)).map(known);
    const strangers = (story.strangers ?? []).map((one) => ({ ...known('db-s0-1'), slots: [], ...one }));
    const isPrimary = self.role === 'primary';
    const copying = pods.filter(
      (other) =>
        changeOf(other).isSilent !== true && known(other).primaryId === self.id && changeOf(other).linkUp !== false,
    );
    const primary = pods.find((other) => known(other).id === self.primaryId);
    return {
      state: 'answering',
      pod,
      address,
      version: change.version ?? '8.0.2',
      role: isPrimary ? 'primary' : 'replica',
      ...(isPrimary || primary === undefined ? {} : { follows: addressOf(primary) }),
      linkUp: change.linkUp ?? true,
      copyRefused: false,
      isStale: false,
      offset: 1000,
      replicas: isPrimary ? copying.map(addressOf) : [],
      fullSyncs: 0,
      failoverEligible: change.isUnelectable !== true,
      ...(change.unwritten === true ? { unwritten: true as const } : {}),
      empty: change.empty ?? false,
      settings: settingsToHold(cluster),
      usedMemory: 0,
      findings: [],
      id: self.id,
      view: change.isAlone === true ? [self] : [self, ...others, ...strangers],
      self,
      isClusterOk: true,
      currentEpoch: 3,
    };
  };

  const labels = (pod: string) => ({
    ...selectorLabels(cluster, { engine: 'redis', component: 'data' }),
    [shardLabel]: pod.slice(0, -2),
  });
  const objects: KubeObject[] = [
    ...redisResources(built).flatMap(({ object, generate }): KubeObject[] => {
      if (generate !== undefined) return [];
      const made = stored(fingerprinted(object));
      if (object.kind !== 'StatefulSet') return [made];
      return [{ ...made, status: { observedGeneration: 1, updateRevision: 'new' } }];
    }),
    ...pods.map((pod) =>
      stored({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          name: pod,
          namespace: 'apps',
          labels: { ...labels(pod), 'controller-revision-hash': changeOf(pod).isOutdated === true ? 'old' : 'new' },
        },
        spec: {
          nodeName: `node-${pod.slice(-1)}`,
          containers: [{ name: 'redis', resources: { limits: { memory: cluster.spec.resources.limits.memory } } }],
        },
        status: {
          phase: 'Running',
          podIP: addressOf(pod),
          conditions: [{ type: 'Ready', status: changeOf(pod).isUnready === true ? 'False' : 'True' }],
        },
      }),
    ),
    ...pods.map((pod) =>
      stored({
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: {
          name: `data-${pod}`,
          namespace: 'apps',
          labels: labels(pod),
          annotations: {
            ...(story.isNew === true
              ? {}
              : {
                  [nodeAnnotation]: known(pod).id,
                  ...(story.unmarked?.includes(pod) === true ? {} : { [formedAnnotation]: 'true' }),
                }),
            ...story.claims?.[pod],
          },
        },
        spec: { resources: { requests: { storage: cluster.spec.storage.size } } },
        status: { phase: 'Bound' },
      }),
    ),
  ];
  const holders = Object.entries(story.holders ?? {}).map(([set, change]): SlotHolder => {
    const pod = `${set}-0`;
    return {
      shard: set,
      primary: { pod, address: addressOf(pod), id: idOf(pod) },
      slots: known(pod).slots,
      ...{ migrating: [], importing: [], strays: [], running: [], keys: 0, dataBytes: 0, isAtomic: false },
      ...change,
    };
  });
  return shardsSituation(cluster, childrenOf(objects), {
    data: pods.map(node),
    sentinels: [],
    ...(story.holders === undefined ? {} : { holders }),
  });
}
