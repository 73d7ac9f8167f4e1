/** What people meet of Redis. */

import type { Definition } from '../../engine/definition.ts';
import { redisReferenceOptions } from './kind/reference.ts';
import { type RedisSpecInput, redisKind } from './kind/schema.ts';
import { redisNames } from './names.ts';

export interface RedisEndpoints {
  /** Name of the Service whose endpoint is the primary, on port 6379. */
  readonly primaryService: string;
  /** Name of the Service with all replicas, on port 6379. */
  readonly replicasService: string;
  /** Name of the Service of the sentinels, on port 26379. */
  readonly sentinelService: string;
  /** Name of the Secret with the password, and the key in it. */
  readonly password: { readonly secretName: string; readonly key: string };
}

export const redisDefinition: Definition<RedisSpecInput, RedisEndpoints> = {
  name: 'redis',
  kind: redisKind,
  endpoints(cluster, { auth }) {
    const { primary, replicas, sentinel, auth: ownSecret } = redisNames(cluster);
    const { name: secretName = ownSecret, key = 'password' } = auth?.secretRef ?? {};
    return {
      primaryService: primary,
      replicasService: replicas,
      sentinelService: sentinel,
      password: { secretName, key },
    };
  },
  sample: { name: 'sample' },
  shell: (host) => `sh -c 'REDISCLI_AUTH="$(cat /etc/clusterwright/auth/password)" exec redis-cli -h ${host}'`,
  reference: redisReferenceOptions,
};
