/**
 * Numbers of members and clusters, as etcd makes them: of who forms a cluster they follow from what each was told, so all
 * come to the same; of a member that is added later, from the moment as well.
 */
import { createHash } from 'node:crypto';

function numberOf(text: string): string {
  return createHash('sha1').update(text).digest().readBigUInt64BE().toString();
}

/** `mark`: the cluster's token, or the time. */
export function memberIdOf(peerUrls: readonly string[], mark: string): string {
  return numberOf([...peerUrls].sort().join('') + mark);
}

export function clusterIdOf(memberIds: readonly string[]): string {
  return numberOf([...memberIds].sort().join(''));
}
