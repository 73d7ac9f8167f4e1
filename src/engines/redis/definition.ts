/** What people meet of Redis. */

import { placesIn } from '../../engine/connection.ts';
import type { Definition } from '../../engine/definition.ts';
import { redisReferenceOptions } from './kind/reference.ts';
import { exporterImage, proxyImage, releasedImage } from './kind/released-image.ts';
import { defaultVersion, type RedisSpecInput, redisKind } from './kind/schema.ts';
import { releases } from './kind/server.ts';
import { dataPort, redisNames, sentinelPort, tlsPort } from './names.ts';

export interface RedisEndpoints {
  /** Name of the Service whose endpoint is the primary, on port 6379. */
  readonly primaryService: string;
  /** Name of the Service with all replicas, on port 6379. */
  readonly replicasService: string;
  /** Name of the Service of the sentinels, on port 26379. */
  readonly sentinelService: string;
  /** In mode Cluster: name of the Service with all nodes, on port 6379. The three above do not exist then. */
  readonly nodesService?: string;
  /** Name of the Secret with the password, and the key in it. */
  readonly password: { readonly secretName: string; readonly key: string };
}

export const redisDefinition: Definition<RedisSpecInput, RedisEndpoints> = {
  name: 'redis',
  kind: redisKind,
  endpoints(cluster, { auth, mode }) {
    const { primary, replicas, sentinel, nodes, auth: ownSecret } = redisNames(cluster);
    const { name: secretName = ownSecret, key = 'password' } = auth?.secretRef ?? {};
    return {
      primaryService: primary,
      replicasService: replicas,
      sentinelService: sentinel,
      ...(mode === 'Cluster' ? { nodesService: nodes } : {}),
      password: { secretName, key },
    };
  },
  connection({ name, namespace }, { mode, auth, tls }) {
    const { primary, replicas, sentinel, nodes, auth: ownSecret } = redisNames(name);
    const { name: secretName = ownSecret, key = 'password' } = auth?.secretRef ?? {};
    const place = placesIn(namespace);
    const [writes, elects] = [place(primary, dataPort), place(sentinel, sentinelPort)];
    if (mode === 'Cluster') {
      const all = place(nodes, dataPort);
      const env = { REDIS_HOST: all.host, REDIS_PORT: String(all.port), REDIS_PASSWORD: { secretName, key } };
      return { services: { nodes: all }, env };
    }
    const isElected = mode !== 'Standalone';
    // The CAs are in a ConfigMap.
    const secured =
      tls === undefined
        ? {}
        : {
            primaryTls: place(primary, tlsPort),
            ...(isElected ? { replicasTls: place(replicas, tlsPort) } : {}),
          };
    return {
      services: {
        primary: writes,
        ...(isElected ? { replicas: place(replicas, dataPort), sentinel: elects } : {}),
        ...secured,
      },
      env: {
        REDIS_HOST: writes.host,
        REDIS_PORT: String(writes.port),
        REDIS_PASSWORD: { secretName, key },
        ...(isElected
          ? { REDIS_SENTINEL_HOST: elects.host, REDIS_SENTINEL_PORT: String(elects.port), REDIS_SENTINEL_NAME: name }
          : {}),
      },
    };
  },
  images: [releasedImage(defaultVersion), exporterImage, proxyImage],
  sample: { name: 'sample' },
  shell: (host, { engine = 'Redis' }) =>
    `sh -c 'REDISCLI_AUTH="$(cat /etc/clusterwright/auth/password)" exec ${releases[engine].program}-cli -h ${host}'`,
  reference: redisReferenceOptions,
};
