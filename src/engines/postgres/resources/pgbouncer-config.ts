/**
 * PgBouncer's configuration. It holds no password: who may connect is asked of PostgreSQL, with a function that returns SCRAM
 * verifiers. PgBouncer logs in to PostgreSQL with what a client has proven, so it needs no password of a user.
 */
import type { Cluster } from '../../../api/cluster.ts';
import { hasSource, sslMode } from '../client/server-ca.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { poolerPaths, poolerPort, postgresNames, roles, sqlPort } from '../names.ts';

export type PoolerSpec = NonNullable<PostgresSpec['pooler']>;

/** Where members show the certificate of another CA. */
export const serverCaName = 'server-ca.crt';

const tlsFile = (name: string): string => `${poolerPaths.config}/${name}`;

/**
 * A new server connection that has reached a standby ends itself: around a failover the Service may lead there, and such a connection would
 * stay in the pool. Names are qualified: the owner of a database sets its search path, and everybody who connects runs this.
 */
const notOnStandby =
  'SELECT CASE WHEN pg_catalog.pg_is_in_recovery() THEN pg_catalog.pg_terminate_backend(pg_catalog.pg_backend_pid()) END';

/** `SELECT name, verifier`: of the function that `post-init.sh` makes in the database `postgres`. */
const verifierOf = 'SELECT name, verifier FROM clusterwright.login_verifier($1)';

/** The operator logs in to the console by certificate. Everybody else uses a password, and never the console. */
const clients: readonly string[] = [
  `hostssl pgbouncer ${roles.operator} 0.0.0.0/0 cert`,
  `hostssl pgbouncer ${roles.operator} ::/0 cert`,
  'hostssl pgbouncer all 0.0.0.0/0 reject',
  'hostssl pgbouncer all ::/0 reject',
  ...Object.values(roles).flatMap((role) => [
    `hostssl all ${role} 0.0.0.0/0 reject`,
    `hostssl all ${role} ::/0 reject`,
  ]),
  'hostssl all all 0.0.0.0/0 scram-sha-256',
  'hostssl all all ::/0 scram-sha-256',
];

/** The CA of clients that show a certificate stays ours: the operator is the only one. */
function settings(
  cluster: Cluster<PostgresSpec>,
  { maxClients, poolSize, mode, parameters, tls }: PoolerSpec,
): Readonly<Record<string, string | number>> {
  const shown = tls === undefined ? poolerPaths.config : poolerPaths.tls;
  return {
    listen_addr: '*',
    listen_port: poolerPort,
    unix_socket_dir: poolerPaths.socket,
    auth_type: 'hba',
    auth_hba_file: tlsFile('hba.conf'),
    auth_file: tlsFile('userlist.txt'),
    auth_user: roles.pooler,
    auth_dbname: 'postgres',
    auth_query: verifierOf,
    admin_users: roles.operator,
    client_tls_sslmode: 'require',
    client_tls_ca_file: tlsFile('ca.crt'),
    client_tls_cert_file: `${shown}/tls.crt`,
    client_tls_key_file: `${shown}/tls.key`,
    server_tls_sslmode: sslMode(cluster),
    server_tls_ca_file: tlsFile(hasSource(cluster) ? serverCaName : 'ca.crt'),
    pool_mode: mode,
    max_client_conn: maxClients,
    default_pool_size: poolSize,
    // Drivers of Java send it, and it changes nothing that a later client would notice.
    ignore_startup_parameters: 'extra_float_digits',
    // A primary is away for a second or two.
    server_login_retry: 1,
    server_connect_timeout: 5,
    tcp_keepidle: 10,
    tcp_keepintvl: 5,
    tcp_keepcnt: 3,
    tcp_user_timeout: 20_000,
    dns_max_ttl: 5,
    log_connections: 0,
    log_disconnections: 0,
    stats_period: 3600,
    log_stats: 0,
    ...parameters,
  };
}

/** Pods of before read theirs again when it changes, and do not have the files that this one names. */
export function iniKey(cluster: Cluster<PostgresSpec>): string {
  return hasSource(cluster) ? 'pgbouncer-source.ini' : 'pgbouncer.ini';
}

export function pgbouncerFiles(cluster: Cluster<PostgresSpec>, pooler: PoolerSpec): Record<string, string> {
  const { name, namespace } = cluster.metadata;
  const host = `${postgresNames(name).primary}.${namespace}.svc`;
  const ini = (as: Cluster<PostgresSpec>): string =>
    [
      '[databases]',
      `* = host=${host} port=${sqlPort} connect_query='${notOnStandby}'`,
      '',
      '[pgbouncer]',
      ...Object.entries(settings(as, pooler)).map((pair) => pair.join(' = ')),
      '',
    ].join('\n');
  const { tls: _, ...spec } = cluster.spec;
  return {
    'pgbouncer.ini': ini({ ...cluster, spec }),
    [iniKey(cluster)]: ini(cluster),
    'hba.conf': `${clients.join('\n')}\n`,
  };
}
