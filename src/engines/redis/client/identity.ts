/**
 * The identity of a cluster: an ACL user by which its nodes copy from each other, its sentinels watch them, and the operator
 * logs in. Its name is that of the cluster and its password nobody else's, so the processes of another cluster are
 * refused even where both have one password for their clients and one of them gets an address that was the other's.
 * It does not depend on the password of the clients either, whatever becomes of the Secret that holds it.
 *
 * Who may log in is told to servers as a hash. A node that copies has the password itself, as `masterauth`: whoever has the password
 * of the clients can read it there. It keeps strangers out, and nobody who was let in. What clients
 * may not command is in `client-rule.ts`.
 */
import { createHash } from 'node:crypto';
import type { Cluster } from '../../../api/cluster.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import { blocked, type Outcome } from '../../../plan/plan.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { redisNames } from '../names.ts';

export interface Identity {
  readonly user: string;
  readonly password: string;
}

/** Of the Secret, and the name of the mounted file. */
export const identityKey = 'password';

const prefix = 'clusterwright/';

/** As the scripts of the pods make it from their environment. */
export function identityUser({ metadata }: Cluster<RedisSpec>): string {
  return `${prefix}${metadata.namespace}/${metadata.name}`;
}

/** Of any cluster. */
export function isIdentity(user: string): boolean {
  return user.startsWith(prefix);
}

/** It stands in configurations as one word, and pods read the first line of the file. */
const oneWord = /^[A-Za-z0-9+/=_.-]+$/;

/**
 * `missing`: the Secret is not there. `unusable`: it is somebody else's, who has not given its values to be told to servers, or
 * what it says is no password that we would make.
 */
export async function identityOf(
  cluster: Cluster<RedisSpec>,
  io: Pick<EngineContext, 'secret'>,
): Promise<Identity | 'missing' | 'unusable'> {
  const secret = await io.secret(redisNames(cluster.metadata.name).internal, 'ours');
  if (secret === undefined) return 'missing';
  const password = secret[identityKey];
  if (password === undefined || !oneWord.test(password)) return 'unusable';
  return { user: identityUser(cluster), password };
}

/** Secrets are not watched. */
const recheckMs = 10_000;

export function identityUnusable({ metadata: { name } }: Cluster<RedisSpec>): Outcome {
  const { internal } = redisNames(name);
  const why = `Secret ${internal} is not one that the operator has made, or its ${identityKey} is not one word`;
  const message = `${why}: it is not used, and servers that run go on; delete the Secret, or give it another name, and the operator makes one`;
  return blocked('IdentityUnusable', message, recheckMs);
}

/** As servers keep a password. */
export function hashOf(password: string): string {
  return createHash('sha256').update(password).digest('hex');
}

/** What follows `ACL SETUSER`, or `user` in a configuration. Whatever the user was before is gone. */
export function aclRule({ user, password }: Identity): string[] {
  return [user, 'reset', 'on', `#${hashOf(password)}`, '~*', '&*', '+@all'];
}
