/** Parts of what the agent is told of a Redis that it backs up, in every mode. */
import type { Cluster } from '../../../api/cluster.ts';
import { unitsOf } from '../../../api/quantity.ts';
import { type Endpoint, mostMembers } from '../../../backup/members.ts';
import { type MountedSecret, roomFor } from '../../../engine/backup-support.ts';
import { identityKey, identityUser } from '../client/identity.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { redisNames } from '../names.ts';
import { sizeToldBy } from '../observe/situation.ts';

const identityDirectory = '/etc/clusterwright/internal';

/** Each node of a set, also one that is to go, by host name. `service`: the headless Service of its pods. */
export function endpointsOf(
  { metadata, status }: Cluster<RedisSpec>,
  set: string,
  port: number,
  wanted: number,
  service = set,
): readonly Endpoint[] {
  const names = (status?.members ?? []).map(({ name }) => name);
  const size = sizeToldBy(set, names, wanted, mostMembers);
  return Array.from({ length: size }, (_, i) => ({ host: `${set}-${i}.${service}.${metadata.namespace}.svc`, port }));
}

export function identityFor(cluster: Cluster<RedisSpec>): { readonly user: string; readonly passwordFile: string } {
  return { user: identityUser(cluster), passwordFile: `${identityDirectory}/${identityKey}` };
}

export function identitySecret({ metadata }: Cluster<RedisSpec>): MountedSecret {
  return {
    name: redisNames(metadata.name).internal,
    volume: 'internal',
    directory: identityDirectory,
    files: { [identityKey]: identityKey },
  };
}

/** Of one node. The copy that a server makes of itself for a dump is there until that is read, and grows with each write. */
export function scratchFor({ storage, resources }: RedisSpec): string {
  return roomFor(Math.max(unitsOf(storage.size), unitsOf(resources.limits.memory)));
}
