/** What comes of a change of `spec.tls`, for people who read a plan. The mounted configuration tells what pods know of it. */
import type { Cluster } from '../../../api/cluster.ts';
import type { Children } from '../../../resources/children.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { dataPort, redisNames, tlsPort } from '../names.ts';
import { toldOfTls } from '../observe/served-tls.ts';
import { dataPodNames } from '../observe/situation.ts';

export function tlsToCome(cluster: Cluster<RedisSpec>, children: Children): readonly string[] {
  const { spec, metadata } = cluster;
  const config = children.get('ConfigMap', redisNames(metadata.name).config);
  const had = toldOfTls(config) !== undefined;
  if (spec.tls !== undefined && !had) {
    const pods = dataPodNames(cluster, spec.replicas).join(', ');
    return [
      `${pods} accept TLS on port ${tlsPort} when their kubelets have brought the certificate, within two minutes; port ${dataPort} stays open`,
    ];
  }
  if (spec.tls !== undefined || !had) return [];
  return [
    `port ${tlsPort} and the Services for it stay until no client has been connected with TLS for ten minutes; then it is closed, without a restart`,
  ];
}
