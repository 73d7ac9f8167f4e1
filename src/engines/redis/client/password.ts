import type { Cluster } from '../../../api/cluster.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import { isBindable } from '../../../resources/secret.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { redisNames } from '../names.ts';

/** Name and key of the Secret that holds the password: the user's, or the one that is generated. */
export function passwordSecret(cluster: Cluster<RedisSpec>): { readonly name: string; readonly key: string } {
  return cluster.spec.auth?.secretRef ?? { name: redisNames(cluster.metadata.name).auth, key: 'password' };
}

/** Whether workloads can be bound by the Secret that is generated. One that is older, or that a person has made, may have a password alone. */
export async function isBindableBy(cluster: Cluster<RedisSpec>, io: Pick<EngineContext, 'secret'>): Promise<boolean> {
  return cluster.spec.auth === undefined && isBindable(await io.secret(passwordSecret(cluster).name));
}
