/**
 * The Job that runs `init.sql`: psql sends all of it in one message, which the server takes as one transaction. psql itself reads none of
 * it, so its own commands, among them one for a shell, do nothing here. The transaction begins with a guard and ends with the mark that
 * the guard looks for. So it runs once, whatever becomes of the Job.
 */
import { createHash } from 'node:crypto';
import type { Cluster } from '../../../api/cluster.ts';
import type { KubeObject } from '../../../api/object.ts';
import { leafKeys } from '../../../certificates/facts.ts';
import { configMap } from '../../../resources/configmap.ts';
import { job } from '../../../resources/job.ts';
import { agentComponent, ownedMetadata } from '../../../resources/metadata.ts';
import { podBase } from '../../../resources/pod-base.ts';
import { containerSecurityContext } from '../../../resources/podsecurity.ts';
import { schedulingFields } from '../../../resources/scheduling.ts';
import { literal, quoted } from '../client/quoting.ts';
import { hasSource, serverCaSecret, sslMode } from '../client/server-ca.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { filledMark, initMark, initName, postgresNames, sqlPort } from '../names.ts';
import { postgresImage } from './pods.ts';

const authority = '/etc/postgresql/authority';
const key = 'init.sql';
/** Exit codes of psql: an error of its own, and one of the server. A lost connection, 2, is worth another pod. */
const permanentCodes = [1, 3];
const retries = 6;
const deadlineSeconds = 3600;

/** None where there is nothing to run. */
export function initObjects(cluster: Cluster<PostgresSpec>): readonly KubeObject[] {
  const { metadata, spec } = cluster;
  if (spec.init === undefined || spec.instances === 0) return [];
  const sql = initSql(spec.initial, spec.init.sql);
  const digest = createHash('sha256').update(sql).digest('hex').slice(0, 8);
  const name = initName(metadata.name, digest);
  const owned = ownedMetadata(cluster, name, { engine: 'postgres', component: agentComponent, version: spec.version });
  return [
    configMap(owned, { [key]: sql }),
    job({
      metadata: owned,
      pods: spec.pods,
      podSpec: initPod(cluster, name),
      retries,
      deadlineSeconds,
      permanentCodes,
    }),
  ];
}

function initSql({ database, owner }: PostgresSpec['initial'], sql: string): string {
  const isFilled = `EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = ${literal(owner)}
    AND pg_catalog.starts_with(coalesce(pg_catalog.shobj_description(oid, 'pg_authid'), ''), ${literal(filledMark)}))`;
  const isMarked = `EXISTS (SELECT FROM pg_catalog.pg_database WHERE datname = ${literal(database)}
    AND position(${literal(initMark)} IN coalesce(pg_catalog.shobj_description(oid, 'pg_database'), '')) > 0)`;
  const guard = `BEGIN IF ${isFilled} OR ${isMarked} THEN RAISE EXCEPTION 'init.sql has run in this cluster before'; END IF; END`;
  // What begins with a backslash would be for psql.
  return [
    '',
    // Two pods at once: the second waits, and meets the mark.
    `SELECT pg_catalog.pg_advisory_xact_lock(4920161);`,
    `DO ${literal(guard)};`,
    sql,
    `;COMMENT ON DATABASE ${quoted(database)} IS ${literal(initMark)}`,
  ].join('\n');
}

function initPod(cluster: Cluster<PostgresSpec>, config: string) {
  const { metadata, spec } = cluster;
  const names = postgresNames(metadata.name);
  const password = { secretKeyRef: { name: names.app, key: 'password' } };
  const { topologySpreadConstraints: _, ...placed } = schedulingFields(spec.scheduling, {});
  const plain = {
    PGHOST: `${names.primary}.${metadata.namespace}.svc`,
    PGPORT: String(sqlPort),
    PGDATABASE: spec.initial.database,
    PGUSER: spec.initial.owner,
    PGSSLMODE: sslMode(cluster),
    // Proves that who has been logged in to is who has shown the certificate.
    ...(hasSource(cluster) ? { PGCHANNELBINDING: 'require' } : {}),
    PGSSLROOTCERT: `${authority}/${leafKeys.trusted}`,
    PGCONNECT_TIMEOUT: '10',
    PGAPPNAME: 'clusterwright-init',
  };
  return {
    ...podBase(spec.pods),
    ...placed,
    containers: [
      {
        name: 'psql',
        image: postgresImage(cluster),
        imagePullPolicy: 'IfNotPresent' as const,
        command: [`/usr/lib/postgresql/${spec.version}/bin/psql`, '--no-psqlrc', '--quiet', '--output=/dev/null'],
        args: ['--command=$(INIT_SQL)'],
        env: [
          ...Object.entries(plain).map(([name, value]) => ({ name, value })),
          { name: 'PGPASSWORD', valueFrom: password },
          { name: 'INIT_SQL', valueFrom: { configMapKeyRef: { name: config, key } } },
        ],
        resources: { requests: { cpu: '50m', memory: '32Mi' }, limits: { memory: '128Mi' } },
        securityContext: containerSecurityContext,
        terminationMessagePolicy: 'FallbackToLogsOnError' as const,
        volumeMounts: [{ name: 'authority', mountPath: authority, readOnly: true }],
      },
    ],
    volumes: [
      {
        name: 'authority',
        secret: {
          secretName: serverCaSecret(cluster),
          items: [{ key: leafKeys.trusted, path: leafKeys.trusted }],
        },
      },
    ],
  };
}
