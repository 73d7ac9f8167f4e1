/**
 * The source of the certificate after `tls` is removed, for as long as servers accept TLS: what the ConfigMap tells pods has it. So certificates
 * are renewed until the port is closed.
 */
import type { Cluster } from '../../../api/cluster.ts';
import type { KubeObject } from '../../../api/object.ts';
import { validateCluster } from '../../../api/validate.ts';
import type { Children } from '../../../resources/children.ts';
import { type RedisSpec, redisKind } from '../kind/schema.ts';
import { redisNames } from '../names.ts';

type Tls = NonNullable<RedisSpec['tls']>;

/** The cluster with the `tls` that its servers have, or may have. */
export function withServedTls(cluster: Cluster<RedisSpec>, children: Children): Cluster<RedisSpec> {
  const { spec, metadata } = cluster;
  if (spec.tls !== undefined || spec.mode === 'Cluster') return cluster;
  const tls = servedTls(cluster, children.get('ConfigMap', redisNames(metadata.name).config));
  return tls === undefined ? cluster : { ...cluster, spec: { ...spec, tls } };
}

/** What pods are told of TLS; undefined where they are told nothing. */
export function toldOfTls(config: KubeObject | undefined): string | undefined {
  return (config?.data as Readonly<Record<string, string>> | undefined)?.tls;
}

/** People can edit a ConfigMap: what is not a valid `tls` counts for nothing. */
function servedTls(cluster: Cluster<RedisSpec>, config: KubeObject | undefined): Tls | undefined {
  const told = toldOfTls(config);
  if (told === undefined) return undefined;
  try {
    const verdict = validateCluster(redisKind, { ...cluster, spec: { tls: JSON.parse(told) } });
    return verdict.ok ? (verdict.cluster as unknown as Cluster<RedisSpec>).spec.tls : undefined;
  } catch {
    return undefined;
  }
}
