/** The children of a RedisCluster in mode Cluster: a StatefulSet a shard, and what all of them share. */
import type { Cluster } from '../../../../api/cluster.ts';
import type { KubeObject } from '../../../../api/object.ts';
import { accessChildren } from '../../../../plan/access.ts';
import type { Desired } from '../../../../plan/objects.ts';
import { configMap } from '../../../../resources/configmap.ts';
import { disruptionBudget } from '../../../../resources/disruptionbudget.ts';
import { ownedMetadata, type Part, selectorLabels, shardLabel } from '../../../../resources/metadata.ts';
import { networkPolicy } from '../../../../resources/network-policy.ts';
import type { PodSpec } from '../../../../resources/plain.ts';
import { schedulingFields } from '../../../../resources/scheduling.ts';
import { clusterIPService, headlessService } from '../../../../resources/service.ts';
import type { RedisSpec } from '../../kind/schema.ts';
import { replicasPerShardOf, shardsOf } from '../../kind/shards.ts';
import { busPort, dataPort, exporterPort, redisNames } from '../../names.ts';
import { redisConf, restartHash } from '../config.ts';
import { type DataScripts, dataSet, redisPort } from '../pods.ts';
import { secretsOf } from '../secrets.ts';
import { shardSetName } from './names.ts';
import { shardScripts } from './scripts.ts';

const podScripts: DataScripts = {
  start: 'start-shard.sh',
  startup: 'admit-shard.sh',
  ready: 'ready-shard.sh',
  preStop: 'hand-over-shard.sh',
};

export function shardedResources(cluster: Cluster<RedisSpec>): readonly Desired[] {
  const { spec, metadata } = cluster;
  const names = redisNames(metadata.name);
  const part: Part = { engine: 'redis', component: 'data', version: spec.version };
  const selector = selectorLabels(cluster, part);
  const ports = [{ name: 'redis', port: dataPort, targetPort: 'redis', protocol: 'TCP' }];
  const shards = Array.from({ length: shardsOf(spec) }, (_, shard) => shard);
  const objects: KubeObject[] = [
    configMap(ownedMetadata(cluster, names.config, part), configFiles(cluster)),
    headlessService({ metadata: ownedMetadata(cluster, names.data, part), selector, ports }),
    clusterIPService({ metadata: ownedMetadata(cluster, names.nodes, part), selector, ports }),
    // One for all: at most one pod may be evicted, so a majority of the primaries stays, and no shard loses two nodes at once.
    disruptionBudget(ownedMetadata(cluster, names.data, part), selector),
    ...shards.map((shard) => shardStatefulSet(cluster, part, shard)),
  ];
  return [
    ...secretsOf(cluster, names.nodes),
    ...objects.map((object) => ({ object })),
    ...accessChildren(
      networkPolicy(cluster, spec.networkPolicy, { part, ports: { clients: [dataPort], metrics: [exporterPort] } }),
    ),
  ];
}

export function shardStatefulSet(cluster: Cluster<RedisSpec>, part: Part, shard: number): KubeObject {
  const name = shardSetName(cluster.metadata.name, shard);
  const own = { [shardLabel]: name };
  const metadata = ownedMetadata(cluster, name, part);
  return dataSet(cluster, {
    metadata: { ...metadata, labels: { ...metadata.labels, ...own } },
    selector: { ...selectorLabels(cluster, part), ...own },
    replicas: replicasPerShardOf(cluster.spec) + 1,
    restartHash: restartHash(cluster),
    scripts: podScripts,
    ports: [redisPort, { name: 'bus', containerPort: busPort, protocol: 'TCP' }],
    scheduling: schedulingOf(cluster, part, own),
  });
}

interface Affinity {
  readonly podAntiAffinity?: { readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly unknown[] };
}

/**
 * Nodes of one shard apart, as the spec wants it; then all nodes of the cluster over the machines, as far as that goes. Kubernetes takes one
 * constraint for each topology key and kind, so where both are preferences, that of the shard is an affinity.
 */
function schedulingOf(
  cluster: Cluster<RedisSpec>,
  part: Part,
  own: Readonly<Record<string, string>>,
): Partial<PodSpec> {
  const { scheduling } = cluster.spec;
  const all = selectorLabels(cluster, part);
  const matchLabels = { ...all, ...own };
  const { topologySpreadConstraints: ofShard = [], ...fields } = schedulingFields(scheduling, matchLabels);
  const { topologySpreadConstraints: ofAll = [] } = schedulingFields({ topologySpread: 'Preferred' }, all);
  if (scheduling.topologySpread === 'Required') return { ...fields, topologySpreadConstraints: [...ofShard, ...ofAll] };
  const [{ topologyKey } = { topologyKey: 'kubernetes.io/hostname' }, ...zones] = ofShard;
  const apart = { weight: 100, podAffinityTerm: { topologyKey, labelSelector: { matchLabels } } };
  const { podAntiAffinity = {}, ...others } = (scheduling.affinity ?? {}) as Affinity;
  const preferred = [...(podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution ?? []), apart];
  const affinity = {
    ...others,
    podAntiAffinity: { ...podAntiAffinity, preferredDuringSchedulingIgnoredDuringExecution: preferred },
  };
  return {
    ...fields,
    affinity: affinity as PodSpec['affinity'] & {},
    topologySpreadConstraints: [...ofAll, ...zones],
  };
}

/** The mounted files. `peers`: by whose names a node finds others; no `sentinels`, as where a node stands alone. */
function configFiles(cluster: Cluster<RedisSpec>): Record<string, string> {
  const { spec, metadata } = cluster;
  const ordinals = Array.from({ length: replicasPerShardOf(spec) + 1 }, (_, ordinal) => ordinal);
  const shards = Array.from({ length: shardsOf(spec) }, (_, shard) => shardSetName(metadata.name, shard));
  const peers = ordinals.flatMap((ordinal) => shards.map((set) => `${set}-${ordinal}.${metadata.name}`));
  return { ...shardScripts, 'redis.conf': redisConf(cluster), sentinels: '', peers: `${peers.join('\n')}\n` };
}
