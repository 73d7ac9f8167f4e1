/**
 * The identity of a cluster: an ACL user by which its nodes copy from each other, its sentinels watch them, and the operator
 * logs in. Its name is that of the cluster and its password nobody else's, so the processes of another cluster are
 * refused even where both have one password for their clients and one of them gets an address that was the other's.
 * It does not depend on the password of the clients either, whatever becomes of the Secret that holds it.
 *
 * Servers are told the hash alone.
 */
import { createHash } from 'node:crypto';
import type { Cluster } from '../../api/cluster.ts';
import type { RedisSpec } from '../../api/redis.ts';
import type { EngineIO } from '../engine-io.ts';
import { redisNames } from './names.ts';

export interface Identity {
  readonly user: string;
  readonly password: string;
}

/** Of the Secret, and the name of the mounted file. */
export const identityKey = 'password';

/** As the scripts of the pods make it from their environment. */
export function identityUser({ metadata }: Cluster<RedisSpec>): string {
  return `clusterwright/${metadata.namespace}/${metadata.name}`;
}

/** `missing`: the Secret is not there. `unusable`: nobody may log in with what it says, since it says nothing. */
export async function identityOf(
  cluster: Cluster<RedisSpec>,
  io: EngineIO,
): Promise<Identity | 'missing' | 'unusable'> {
  const secret = await io.secret(redisNames(cluster.metadata.name).internal);
  if (secret === undefined) return 'missing';
  const password = secret[identityKey];
  return password === undefined || password === '' ? 'unusable' : { user: identityUser(cluster), password };
}

/** As servers keep a password. */
export function hashOf(password: string): string {
  return createHash('sha256').update(password).digest('hex');
}

/** What follows `ACL SETUSER`, or `user` in a configuration. Whatever the user was before is gone. */
export function aclRule({ user, password }: Identity): string[] {
  return [user, 'reset', 'on', `#${hashOf(password)}`, '~*', '&*', '+@all'];
}
