/**
 * Volumes of a formed Redis Cluster under another mode. The rules of that mode would make new, empty nodes, and remove the StatefulSets of all shards
 * with their keys. The API server refuses the change; an older CRD may not, and a resource can be deleted and created again.
 */
import { blocked, type Outcome } from '../../../plan/plan.ts';
import { formedAnnotation } from '../names.ts';
import type { Situation } from '../observe/situation.ts';

/** Names in the message. */
const mostNames = 3;

export function modeOutcome({ cluster, spec, children }: Situation): Outcome | undefined {
  const formed = children.claims.filter(({ metadata }) => metadata.annotations?.[formedAnnotation] !== undefined);
  if (formed.length === 0) return undefined;
  const names = formed.map(({ metadata }) => metadata.name);
  const more = names.length > mostNames ? ` and ${names.length - mostNames} more` : '';
  return blocked(
    'ModeMismatch',
    `the volumes ${names.slice(0, mostNames).join(', ')}${more} are of a Redis Cluster (${formedAnnotation}), and mode is ${spec.mode}: nothing is changed; set mode: Cluster with the shards and replicasPerShard of before, or, if its data is of no use any more, delete RedisCluster ${cluster.metadata.name} and these PersistentVolumeClaims`,
  );
}
