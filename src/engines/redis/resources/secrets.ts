/** The Secrets of a cluster: the password of clients, and that of its own identity. */
import type { Cluster } from '../../../api/cluster.ts';
import type { Desired } from '../../../plan/objects.ts';
import { unownedMetadata } from '../../../resources/metadata.ts';
import { bindingOf, generatedSecret } from '../../../resources/secret.ts';
import { identityKey } from '../client/identity.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { dataPort, redisNames } from '../names.ts';

export const passwordLength = 32;

/** @param service to which clients connect first */
export function secretsOf(cluster: Cluster<RedisSpec>, service: string): Desired[] {
  const { metadata, spec } = cluster;
  const names = redisNames(metadata.name);
  const data = { engine: 'redis', component: 'data', version: spec.version };
  const internal: Desired = {
    object: generatedSecret(unownedMetadata(cluster, names.internal, data)),
    generate: [{ key: identityKey, length: passwordLength, isOursAlone: true }],
  };
  if (spec.auth?.secretRef !== undefined) return [internal];
  return [
    {
      object: generatedSecret(unownedMetadata(cluster, names.auth, data), connectionValues(cluster, service)),
      generate: [{ key: 'password', length: passwordLength }],
    },
    internal,
  ];
}

/** What an application needs to connect. `{password}` is filled in when the Secret is made. */
function connectionValues({ metadata }: Cluster<RedisSpec>, service: string): Record<string, string> {
  const host = `${service}.${metadata.namespace}.svc`;
  const username = 'default';
  const uri = `redis://${username}:{password}@${host}:${dataPort}`;
  return { ...bindingOf('redis'), host, port: String(dataPort), username, uri };
}
