/**
 * Patroni's configuration: what each member reads when it starts, and what all of them share in the store.
 *
 * Files are JSON, which is YAML. Names of fields are those of Patroni 4.
 */
import { createHash } from 'node:crypto';
import type { Cluster } from '../../../api/cluster.ts';
import { durationMs } from '../../../api/duration.ts';
import { instanceLabel, selectorLabels } from '../../../resources/metadata.ts';
import { hasSource } from '../client/server-ca.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import {
  archiveSlot,
  component,
  configSetting,
  paths,
  patroniPort,
  programs,
  roleLabel,
  roles,
  sqlPort,
} from '../names.ts';
import { importSource } from './import-source.ts';
import { parametersOf } from './parameters.ts';
import type { Beginning } from './roster.ts';

type Json = Readonly<Record<string, unknown>>;

const tlsFile = (name: string): string => `${paths.tls}/${name}`;

/** Who is a server of this cluster. Who may log in by certificate is another question: see `ssl_ca_file`. */
export function serverCaFile(cluster: Cluster<PostgresSpec>): string {
  return tlsFile(hasSource(cluster) ? 'server-ca.crt' : 'ca.crt');
}

/** A client certificate of one of our roles. */
function login(cluster: Cluster<PostgresSpec>, username: string, certificate: string): Json {
  return {
    username,
    sslmode: 'verify-ca',
    sslrootcert: serverCaFile(cluster),
    sslcert: tlsFile(`${certificate}.crt`),
    sslkey: tlsFile(`${certificate}.key`),
  };
}

/**
 * Who may connect, and how. The superuser connects by the local socket alone; our other roles by certificate alone; everybody else by
 * password, over TLS.
 */
const clients: readonly string[] = [
  `local all ${roles.superuser} peer map=container`,
  `local replication ${roles.replication} peer map=container`,
  'local all all scram-sha-256',
  `hostssl replication ${roles.replication} all cert`,
  `hostssl postgres ${roles.rewind} all cert`,
  `hostssl all ${roles.operator} all cert`,
  `hostssl all ${[roles.superuser, roles.replication, roles.rewind, roles.operator].join(',')} all reject`,
  'hostssl all all all scram-sha-256',
];

/** `uid`: what the kernel calls the user of the container, since it has no name in the image's passwd. */
const identities = (user: string): readonly string[] => [
  `container ${user} ${roles.superuser}`,
  `container ${user} ${roles.replication}`,
];

/** Name of the account in the image, with the number that the pods run as. */
export const accountName = 'postgres';

/** A container that starts again in a pod of before has yet the files of before, and must find what names them. */
export function configKey(cluster: Cluster<PostgresSpec>): string {
  return hasSource(cluster) ? 'patroni-source.yml' : 'patroni.yml';
}

/** By the keys of the ConfigMap. */
export function memberConfigs(cluster: Cluster<PostgresSpec>): Readonly<Record<string, string>> {
  const { tls: _, ...spec } = cluster.spec;
  return { 'patroni.yml': memberConfig({ ...cluster, spec }), [configKey(cluster)]: memberConfig(cluster) };
}

/** What every member reads; a member's own name and addresses come from its environment. */
export function memberConfig(cluster: Cluster<PostgresSpec>): string {
  const { metadata, spec } = cluster;
  const { [instanceLabel]: _, ...labels } = selectorLabels(cluster, { engine: 'postgres', component });
  const callback = `python3 -IS ${paths.patroni}/relabel.py`;
  const config: Json = {
    scope: metadata.name,
    log: { level: 'INFO' },
    kubernetes: {
      namespace: metadata.namespace,
      use_endpoints: false,
      // Would need the right to read Endpoints.
      bypass_api_service: false,
      labels,
      scope_label: instanceLabel,
      role_label: roleLabel,
      leader_label_value: 'primary',
      follower_label_value: 'replica',
      standby_leader_label_value: 'primary',
      // 401: the token has just been renewed.
      retriable_http_codes: [401, 429],
    },
    restapi: {
      listen: `0.0.0.0:${patroniPort}`,
      cafile: tlsFile('patroni-ca.crt'),
      certfile: tlsFile('patroni.crt'),
      keyfile: tlsFile('patroni.key'),
      // The kubelet asks without a certificate. What changes something needs one.
      verify_client: 'optional',
    },
    ctl: {
      cacert: tlsFile('patroni-ca.crt'),
      certfile: tlsFile('patroni.crt'),
      keyfile: tlsFile('patroni.key'),
      // Leaves out the name of the host alone, since members call each other by address. The CA is checked.
      insecure: true,
    },
    postgresql: {
      listen: `0.0.0.0:${sqlPort}`,
      data_dir: paths.data,
      bin_dir: programs(spec.version),
      pgpass: '/tmp/pgpass',
      use_unix_socket: true,
      use_unix_socket_repl: true,
      remove_data_directory_on_rewind_failure: false,
      remove_data_directory_on_diverged_timelines: false,
      authentication: {
        superuser: { username: roles.superuser },
        replication: login(cluster, roles.replication, 'replication'),
        rewind: login(cluster, roles.rewind, 'rewind'),
      },
      callbacks: {
        on_start: callback,
        on_role_change: callback,
        ...(hasSource(cluster) ? { on_reload: callback } : {}),
      },
      basebackup: [{ checkpoint: 'fast' }, ...slotless(spec), ...waldir(spec)],
      parameters: {
        unix_socket_directories: paths.socket,
        ssl: 'on',
        // The operator's CA alone, whoever has signed what is shown: a client of another one could be any role.
        ssl_ca_file: tlsFile('ca.crt'),
        ssl_cert_file: tlsFile('server.crt'),
        ssl_key_file: tlsFile('server.key'),
        password_encryption: 'scram-sha-256',
        logging_collector: 'off',
      },
      pg_ident: identities(accountName),
      pg_hba: clients,
    },
  };
  return text(config);
}

/**
 * Another value has members restart. How a member copies the primary's data is left out: Patroni reads that when it starts, and a member
 * copies then.
 */
export function memberConfigDigest(cluster: Cluster<PostgresSpec>): string {
  const { synchronous } = cluster.spec;
  const usual = { ...cluster, spec: { ...cluster.spec, synchronous: { ...synchronous, strict: false } } };
  return createHash('sha256').update(memberConfig(usual)).digest('hex').slice(0, 16);
}

/** What is shared: Patroni keeps it in the store, and the operator changes it there. */
export function sharedConfig(cluster: Cluster<PostgresSpec>): Json {
  const { postgresql, ...others } = settings(cluster);
  const parameters = { ...parametersOf(cluster), [configSetting]: configDigest(cluster) };
  return { ...others, postgresql: { ...postgresql, parameters } };
}

/** Of all that is shared. */
export function configDigest(cluster: Cluster<PostgresSpec>): string {
  const all = { ...settings(cluster), parameters: parametersOf(cluster) };
  return createHash('sha256').update(JSON.stringify(all)).digest('hex').slice(0, 16);
}

/** A single instance has no standby, and Patroni would have each of its commits wait for one. */
export function isStrict({ synchronous, instances }: PostgresSpec): boolean {
  return synchronous.strict && instances > 1;
}

function settings(cluster: Cluster<PostgresSpec>) {
  const { spec } = cluster;
  const { count } = spec.synchronous;
  const ttl = Math.round(durationMs(spec.failover.ttl) / 1000);
  const several = spec.instances > 1;
  const round = Math.floor(ttl / 4);
  return {
    ttl,
    loop_wait: round,
    retry_timeout: round,
    maximum_lag_on_failover: 32 * 1024 ** 2,
    failsafe_mode: true,
    check_timeline: true,
    synchronous_mode: count > 0 ? 'quorum' : false,
    synchronous_mode_strict: isStrict(spec),
    synchronous_node_count: Math.max(1, count),
    // Of several, another one is sooner. A single one recovers by itself, however long that takes.
    primary_start_timeout: several ? 0 : 300,
    member_slots_ttl: '30min',
    // They are in one annotation, and all annotations of an object together may have 256 KiB.
    max_timelines_history: 200,
    // On every member, and moved along: it outlives a failover. Patroni drops slots that it does not know.
    ...(spec.backup?.archive === undefined ? {} : { slots: { [archiveSlot]: { type: 'physical' } } }),
    postgresql: { use_pg_rewind: true, use_slots: true },
  };
}

/** What only the first member of a new cluster reads. */
export function bootstrapConfig(cluster: Cluster<PostgresSpec>, beginning: Beginning): string {
  return text({ bootstrap: { dcs: sharedConfig(cluster), ...methodOf(beginning, cluster) } });
}

function methodOf(beginning: Beginning, cluster: Cluster<PostgresSpec>): Json {
  // Patroni begins with the data that it finds, and comes to this only where the volume has none: an empty database is not what was asked for.
  const found = { method: 'restore', restore: { command: 'false', no_params: true } };
  switch (beginning) {
    case 'form':
      return {
        initdb: [
          { encoding: 'UTF8' },
          { locale: 'C.UTF-8' },
          'data-checksums',
          { 'auth-local': 'peer' },
          { 'auth-host': 'reject' },
          ...waldir(cluster.spec),
        ],
        post_init: `${paths.patroni}/post-init.sh`,
      };
    case 'restore':
      return found;
    case 'import':
      return { ...found, import: importSource(cluster) };
    default:
      return beginning satisfies never;
  }
}

/**
 * With a slot, `pg_basebackup` confirms the log from where the copy begins, and where commits wait for any connection that does
 * (`ANY 1 (*)`), all that have waited until then are acknowledged, before there is a second copy. Without, the primary may remove log that
 * a slow copy still needs: then Patroni begins the copy again.
 */
function slotless(spec: PostgresSpec): readonly string[] {
  return isStrict(spec) ? ['no-slot'] : [];
}

/** For `initdb` and `pg_basebackup`. They make the directory, and `pg_wal` leads to it. */
function waldir({ walStorage }: PostgresSpec): readonly Json[] {
  return walStorage === undefined ? [] : [{ waldir: paths.wal }];
}

function text(config: Json): string {
  return `${JSON.stringify(config, undefined, 1)}\n`;
}
