/** What a spec says of mode Cluster, and what that mode does not have. */
import type { CelRule, StructuralSchema } from '../../../api/schema.ts';
import { statusSchema, text } from '../../../api/status-schema.ts';
import { type SlotSet, slotCount } from './slots.ts';

const defaultShards = 3;
const defaultReplicas = 1;

/** Every node tells of every other one, so what an operator reads and keeps grows with the square. */
const mostNodes = 100;

export const shardsSchema = {
  type: 'integer',
  description: `Number of shards in mode Cluster. ${defaultShards} when absent. With their replicas, they are at most ${mostNodes} nodes.`,
  minimum: 3,
  maximum: 100,
} as const satisfies StructuralSchema;

export const replicasPerShardSchema = {
  type: 'integer',
  description: `Number of replicas of each shard in mode Cluster, besides its primary. ${defaultReplicas} when absent. With 0, a shard is down while its pod is.`,
  minimum: 0,
  maximum: 4,
} as const satisfies StructuralSchema;

/** Of the text in the status. */
export const longestSlots = 128;

/** More than a cluster with sentinels has, so each may be no longer than it is: a status has to fit into etcd. */
export const membersStatusSchema = {
  ...statusSchema.properties.members,
  maxItems: 500,
  items: {
    ...statusSchema.properties.members.items,
    properties: {
      ...statusSchema.properties.members.items.properties,
      name: text('Name of the pod.', 63),
      role: text('Current role, for example primary.', 20),
      address: text('Address under which other members know the process.', 45),
      id: text('ID of the node, in mode Cluster.', 40),
      shard: text('Shard of the node, in mode Cluster: the name of its StatefulSet.', 63),
      slots: text('Hash slots that the node serves, in mode Cluster.', longestSlots),
    },
  },
} as const satisfies StructuralSchema;

export const placementStatusSchema = {
  type: 'string',
  description:
    'Optimal: the primaries are spread evenly over nodes, and no replica is on the node of its primary. BestEffort: the scheduler has found no such nodes, or failovers have moved primaries since.',
  enum: ['Optimal', 'BestEffort'],
} as const satisfies StructuralSchema;

/** No schema default: it would stand in clusters of every mode. */
export function shardsOf({ shards = defaultShards }: { readonly shards?: number | undefined }): number {
  return shards;
}

export function replicasPerShardOf(spec: { readonly replicasPerShard?: number | undefined }): number {
  return spec.replicasPerShard ?? defaultReplicas;
}

/** The slots of a shard of a new cluster: equal shares, as far as they go. */
export function firstSlotsOf(shard: number, shards: number): SlotSet {
  const edge = (i: number): number => Math.floor((i * slotCount) / shards);
  return [{ first: edge(shard), last: edge(shard + 1) - 1 }];
}

const inCluster = (rule: string): string => `self.mode != 'Cluster' || ${rule}`;

/** On `spec`. */
export const shardRules: readonly CelRule[] = [
  {
    rule: "self.mode == 'Cluster' || (!has(self.shards) && !has(self.replicasPerShard))",
    message: 'shards and replicasPerShard need mode Cluster',
    fieldPath: '.mode',
  },
  {
    rule: inCluster('self.replicas == 3'),
    message: 'mode Cluster takes shards and replicasPerShard: leave replicas out',
    fieldPath: '.replicas',
  },
  {
    rule: inCluster(
      `(has(self.shards) ? self.shards : ${defaultShards}) * ((has(self.replicasPerShard) ? self.replicasPerShard : ${defaultReplicas}) + 1) <= ${mostNodes}`,
    ),
    message: `mode Cluster has at most ${mostNodes} nodes: shards * (replicasPerShard + 1)`,
    fieldPath: '.shards',
  },
  {
    rule: inCluster(
      `!has(self.config.min__dash__replicas__dash__to__dash__write) || self.config.min__dash__replicas__dash__to__dash__write <= (has(self.replicasPerShard) ? self.replicasPerShard : ${defaultReplicas})`,
    ),
    message: 'config.min-replicas-to-write must be at most replicasPerShard',
  },
  {
    rule: inCluster('!has(self.config.databases) || self.config.databases == 1'),
    message: 'mode Cluster has one database: leave config.databases out',
  },
  {
    rule: inCluster('!self.storage.ephemeral'),
    message: 'mode Cluster needs volumes: the ID of each node and the hash slots that it serves are on its volume',
    fieldPath: '.storage',
  },
  {
    rule: inCluster('!has(self.access)'),
    message: 'mode Cluster has no access from outside yet: clients must reach each node',
    fieldPath: '.access',
  },
  {
    rule: inCluster('(!has(self.bootstrap) || !has(self.bootstrap.importFrom))'),
    message: 'mode Cluster cannot begin with a copy of another Redis yet',
    fieldPath: '.bootstrap',
  },
  {
    rule: inCluster('self.engine == oldSelf.engine'),
    message: 'engine cannot change in mode Cluster',
    fieldPath: '.engine',
  },
];
