import type { Cluster } from '../../../api/cluster.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { redisNames } from '../names.ts';

/** Name and key of the Secret that holds the password: the user's, or the one that is generated. */
export function passwordSecret(cluster: Cluster<RedisSpec>): { readonly name: string; readonly key: string } {
  return cluster.spec.auth?.secretRef ?? { name: redisNames(cluster.metadata.name).auth, key: 'password' };
}
