/**
 * Volumes of a formed Redis Cluster under another mode. The rules of that mode would make new, empty nodes, and remove the StatefulSets of all shards
 * with their keys. The API server refuses the change; an older CRD may not, and a resource can be deleted and created again. The other way round, the
 * data would stay on volumes that nobody looks at.
 */
import { blocked, type Outcome } from '../../../plan/plan.ts';
import type { Claim } from '../../../resources/children.ts';
import { shardLabel } from '../../../resources/metadata.ts';
import { addressAnnotation, formedAnnotation, termAnnotation } from '../names.ts';
import type { ShardsSituation } from '../observe/shards/situation.ts';
import type { Situation } from '../observe/situation.ts';

/** Names in the message. */
const mostNames = 3;

export function modeOutcome({ cluster, spec, children }: Situation): Outcome | undefined {
  const formed = children.claims.filter(({ metadata }) => metadata.annotations?.[formedAnnotation] !== undefined);
  if (formed.length === 0) return undefined;
  return blocked(
    'ModeMismatch',
    `the volumes ${namesOf(formed)} are of a Redis Cluster (${formedAnnotation}), and mode is ${spec.mode}: nothing is changed; set mode: Cluster with the shards and replicasPerShard of before, or, if its data is of no use any more, delete RedisCluster ${cluster.metadata.name} and these PersistentVolumeClaims`,
  );
}

/** Of mode Cluster, before its slots have been given away. */
export function otherModeOutcome({
  cluster,
  children,
}: Pick<ShardsSituation, 'cluster' | 'children'>): Outcome | undefined {
  const used = children.claims.filter(({ metadata: { labels = {}, annotations = {} } }) => {
    const isUsed = annotations[termAnnotation] !== undefined || annotations[addressAnnotation] !== undefined;
    return labels[shardLabel] === undefined && isUsed;
  });
  if (used.length === 0) return undefined;
  return blocked(
    'ModeMismatch',
    `the volumes ${namesOf(used)} are of mode Sentinel or Standalone, and mode is Cluster, which would begin empty: nothing is changed; delete RedisCluster ${cluster.metadata.name} and create it again with the mode of before, or, if that data is of no use any more, delete these PersistentVolumeClaims`,
  );
}

function namesOf(claims: readonly Claim[]): string {
  const names = claims.map(({ metadata }) => metadata.name);
  const more = names.length > mostNames ? ` and ${names.length - mostNames} more` : '';
  return `${names.slice(0, mostNames).join(', ')}${more}`;
}
