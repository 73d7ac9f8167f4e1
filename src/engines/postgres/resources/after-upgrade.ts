/** What the Job has that works on the new version once it takes writes: statistics as the operator's role, and the user's SQL as the owner. */
import { createHash } from 'node:crypto';
import type { Cluster } from '../../../api/cluster.ts';
import type { ContainerSpec, Volume } from '../../../resources/plain.ts';
import { hasSource, serverCaSecret, sslMode } from '../client/server-ca.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { paths, postgresNames } from '../names.ts';

type Variable = NonNullable<ContainerSpec['env']>[number];
type Mount = NonNullable<ContainerSpec['volumeMounts']>[number];

/** Another SQL is another Job. */
export function afterDigest({ upgrade }: PostgresSpec): string {
  return createHash('sha256')
    .update(upgrade.afterSql ?? '')
    .digest('hex')
    .slice(0, 16);
}

export function operatorCertificate(cluster: Cluster<PostgresSpec>): {
  readonly volume: Volume;
  readonly mounts: readonly Mount[];
} {
  const { certificates } = postgresNames(cluster.metadata.name);
  const mounts = [{ name: 'tls', mountPath: paths.tls, readOnly: true }];
  const items = (...keys: readonly string[]) => keys.map((key) => ({ key, path: key }));
  if (!hasSource(cluster)) {
    const all = items('tls.crt', 'tls.key', 'ca.crt');
    return {
      volume: { name: 'tls', secret: { secretName: certificates.operator, defaultMode: 0o440, items: all } },
      mounts,
    };
  }
  const sources = [
    { secret: { name: certificates.operator, items: items('tls.crt', 'tls.key') } },
    { secret: { name: serverCaSecret(cluster), items: items('ca.crt') } },
  ];
  return { volume: { name: 'tls', projected: { defaultMode: 0o440, sources } }, mounts };
}

export function afterVariables(cluster: Cluster<PostgresSpec>): Variable[] {
  const { metadata, spec } = cluster;
  const { primary, app } = postgresNames(metadata.name);
  const { database, owner } = spec.initial;
  const { afterSql } = spec.upgrade;
  const checked = hasSource(cluster) ? { SSL_MODE: sslMode(cluster), CHANNEL_BINDING: 'require' } : {};
  const fixed = { PRIMARY: primary, TLS: paths.tls, FIRST_DATABASE: database, OWNER: owner, ...checked };
  return [
    ...Object.entries(fixed).map(([name, value]): Variable => ({ name, value })),
    ...(afterSql === undefined
      ? []
      : [
          // Kubernetes makes one `$` of two, and fills in `$(NAME)`.
          { name: 'AFTER_SQL', value: afterSql.replaceAll('$', '$$$$') },
          { name: 'PGPASSWORD', valueFrom: { secretKeyRef: { name: app, key: 'password' } } },
        ]),
  ];
}
