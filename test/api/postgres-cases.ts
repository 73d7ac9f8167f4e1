/** PostgresClusters that are accepted and refused. Rows about fields that every kind shares are those of RedisCluster: they must mean the same here. */
import { forbiddenParameters } from '../../src/engines/postgres/kind/parameters.ts';
import type { Case, Json } from './case.ts';
import { maintenanceCases } from './maintenance-cases.ts';
import { postgresBesideCases } from './postgres-beside-cases.ts';
import { postgresImportCases } from './postgres-import-cases.ts';
import { redisCases } from './redis-cases.ts';
import { redisImportCases } from './redis-import-cases.ts';

const sharedFields = [
  'image',
  'storage',
  'resources',
  'scheduling',
  'pods',
  'backup',
  'bootstrap',
  'deletionPolicy',
  'paused',
];

const isShared = (spec: unknown): boolean =>
  typeof spec === 'object' &&
  spec !== null &&
  Object.keys(spec).every((field) => sharedFields.includes(field)) &&
  !/ephemeral|"pods":\{"serviceAccountName/.test(JSON.stringify(spec));

const shared: readonly Case[] = redisCases.filter(
  (row) => isShared(row.spec) && isShared(row.old ?? {}) && !redisImportCases.includes(row),
);

const parameters = (value: Json): Json => ({ parameters: value });
const many = (count: number): Json =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`extension.setting_${i}`, 'x']));

const target = { claim: { name: 'backups' } };
const restored = (until: Json): Json => ({ bootstrap: { restore: { target, until } } });
const archived = (archive: Json): Json => ({ backup: { target, archive } });

const creates: readonly Case[] = [
  {
    story: 'everything set',
    spec: {
      version: '16',
      image: 'registry.example.com:5000/postgres:16.9',
      instances: 5,
      storage: { size: '10Gi', storageClassName: 'fast' },
      walStorage: { size: '2Gi', storageClassName: 'faster' },
      resources: { requests: { cpu: 1, memory: '2Gi' }, limits: { cpu: '1500m', memory: '2Gi' } },
      scheduling: { topologySpread: 'Required', priorityClassName: 'database' },
      parameters: { work_mem: '8MB', 'pg_stat_statements.max': '10000', max_connections: '200' },
      synchronous: { count: 4, strict: true },
      failover: { ttl: '1m' },
      initial: { database: 'orders', owner: '_orders_1' },
      init: { sql: 'CREATE TABLE t ()' },
      deletionPolicy: 'Delete',
      paused: true,
    },
  },
  { story: 'the longest SQL', spec: { init: { sql: '-'.repeat(65_536) } } },
  { story: 'SQL that is too long', spec: { init: { sql: '-'.repeat(65_537) } }, refused: 'spec.init.sql' },
  { story: 'the longest SQL of letters with two bytes', spec: { init: { sql: 'ж'.repeat(61_440) } } },
  { story: 'SQL of too many bytes', spec: { init: { sql: 'ж'.repeat(61_441) } }, refused: 'spec.init.sql' },
  { story: 'empty SQL', spec: { init: { sql: '' } }, refused: 'spec.init.sql' },
  { story: 'init without SQL', spec: { init: {} }, refused: 'spec.init.sql' },
  { story: 'no instance', spec: { instances: 0 } },
  { story: 'one instance, which waits for nobody', spec: { instances: 1 } },
  { story: 'one instance, and more standbys than there are', spec: { instances: 1, synchronous: { count: 4 } } },
  ...[2, 3, 4, 5].map((instances) => ({ story: `${instances} instances`, spec: { instances } })),
  ...['15', '16', '17', '18'].map((version) => ({ story: `version ${version}`, spec: { version } })),
  { story: 'asynchronous replication', spec: { synchronous: { count: 0 } } },
  { story: 'as many synchronous standbys as there are', spec: { instances: 2, synchronous: { count: 1 } } },
  { story: 'the shortest ttl', spec: { failover: { ttl: '20s' } } },
  { story: 'the longest ttl', spec: { failover: { ttl: '10m' } } },
  { story: 'the longest name of a parameter', spec: parameters({ ['a'.repeat(63)]: 'x' }) },
  { story: 'the longest value of a parameter', spec: parameters({ work_mem: '1'.repeat(1024) }) },
  { story: 'as many parameters as there may be', spec: parameters(many(100)) },
  { story: 'a parameter with quotes', spec: parameters({ search_path: `"$user", 'public'` }) },
  ...['', 'pg_stat_statements', 'pg_stat_statements, auto_explain', 'a ,postgis-3,b.c '].map((value) => ({
    story: `libraries ${JSON.stringify(value)}`,
    spec: parameters({ shared_preload_libraries: value, session_preload_libraries: value }),
  })),
  ...['0', '25', '999999'].map((value) => ({
    story: `max_prepared_transactions ${value}`,
    spec: parameters({ max_prepared_transactions: value }),
  })),
  ...['read uncommitted', 'read committed', 'repeatable read'].map((value) => ({
    story: `default_transaction_isolation ${value}`,
    spec: parameters({ default_transaction_isolation: value }),
  })),
  { story: 'a parameter that is named like a language', spec: parameters({ plperl: 'x', 'plperlx.y': 'x' }) },
  { story: 'the longest name of a database', spec: { initial: { database: 'a'.repeat(63) } } },
  { story: 'an owner that only begins like a role of PostgreSQL', spec: { initial: { owner: 'pgbouncer' } } },

  ...(
    [
      { time: '2026-01-31T12:00:00Z' },
      { time: '2026-01-31T12:00:00.123456Z' },
      { lsn: '16/B374D848' },
      { lsn: 'FFFFFFFF/FFFFFFFF' },
      { name: 'before the release 1.2' },
      { name: 'a'.repeat(63) },
      { xid: '1'.repeat(20) },
    ] as const
  ).map((until) => ({ story: `a restore until ${JSON.stringify(until)}`, spec: restored(until) })),
  ...(
    [
      [{}, 'spec.bootstrap.restore.until'],
      [{ lsn: '0/0', xid: '7' }, 'spec.bootstrap.restore.until'],
      [{ time: '2026-01-31 12:00:00' }, 'spec.bootstrap.restore.until.time'],
      [{ time: '2026-01-31T12:00:00.1234567Z' }, 'spec.bootstrap.restore.until.time'],
      [{ time: 'yesterday' }, 'spec.bootstrap.restore.until.time'],
      [{ lsn: '16/b374d848' }, 'spec.bootstrap.restore.until.lsn'],
      [{ lsn: '000000016/B374D848' }, 'spec.bootstrap.restore.until.lsn'],
      [{ name: "it's" }, 'spec.bootstrap.restore.until.name'],
      [{ name: '' }, 'spec.bootstrap.restore.until.name'],
      [{ name: 'a'.repeat(64) }, 'spec.bootstrap.restore.until.name'],
      [{ xid: '-1' }, 'spec.bootstrap.restore.until.xid'],
      [{ xid: '1'.repeat(21) }, 'spec.bootstrap.restore.until.xid'],
    ] as const
  ).map(([until, refused]) => ({ story: `a restore until ${JSON.stringify(until)}`, spec: restored(until), refused })),
  { story: 'an archive', spec: archived({}) },
  ...['15s', '60m'].map((maxLag) => ({ story: `an archive that may be ${maxLag} late`, spec: archived({ maxLag }) })),
  ...['14s', '61m', '20', '20000000ms', 30].map((maxLag) => ({
    story: `an archive that may be ${JSON.stringify(maxLag)} late`,
    spec: archived({ maxLag }),
    refused: 'spec.backup.archive.maxLag',
  })),

  { story: 'no spec', spec: undefined, refused: 'spec' },
  { story: 'a number of replicas', spec: { replicas: 3 }, refused: 'spec.replicas' },
  ...[6, -1, '3', 1.5].map((instances) => ({
    story: `${JSON.stringify(instances)} instances`,
    spec: { instances },
    refused: 'spec.instances',
  })),
  ...['14', '19', '17.12', 17, 'latest'].map((version) => ({
    story: `version ${JSON.stringify(version)}`,
    spec: { version },
    refused: 'spec.version',
  })),
  ...[2, 3].map((count) => ({
    story: `${count} synchronous standbys of two instances`,
    spec: { instances: 2, synchronous: { count } },
    refused: 'spec.synchronous.count',
  })),
  {
    story: 'three synchronous standbys of three instances',
    spec: { synchronous: { count: 3 } },
    refused: 'spec.synchronous.count',
  },
  ...[-1, 5, '1'].map((count) => ({
    story: `${JSON.stringify(count)} synchronous standbys`,
    spec: { instances: 5, synchronous: { count } },
    refused: 'spec.synchronous.count',
  })),
  { story: 'strict by a word', spec: { synchronous: { strict: 'yes' } }, refused: 'spec.synchronous.strict' },
  {
    story: 'an unknown field of synchronous',
    spec: { synchronous: { mode: 'quorum' } },
    refused: 'spec.synchronous.mode',
  },
  ...['15s', '19999ms', '11m', '20', '20000000ms', 20].map((ttl) => ({
    story: `a ttl of ${JSON.stringify(ttl)}`,
    spec: { failover: { ttl } },
    refused: 'spec.failover.ttl',
  })),
  { story: 'the smallest volume for the log', spec: { walStorage: { size: '256Mi' } } },
  {
    story: 'a volume for the log that is too small',
    spec: { walStorage: { size: '255Mi' } },
    refused: 'spec.walStorage.size',
  },
  { story: 'a volume for the log without a size', spec: { walStorage: {} }, refused: 'spec.walStorage.size' },
  { story: 'a volume for the log of no size', spec: { walStorage: { size: 'much' } }, refused: 'spec.walStorage.size' },
  {
    story: 'a volume for the log of a size that is too long',
    spec: { walStorage: { size: `1${'0'.repeat(20)}` } },
    refused: 'spec.walStorage.size',
  },
  ...['Fast', 'a'.repeat(254)].map((storageClassName) => ({
    story: `a volume for the log of the class ${storageClassName.slice(0, 10)}`,
    spec: { walStorage: { size: '1Gi', storageClassName } },
    refused: 'spec.walStorage.storageClassName',
  })),
  {
    story: 'a log that may be lost',
    spec: { walStorage: { size: '1Gi', ephemeral: true } },
    refused: 'spec.walStorage.ephemeral',
  },
  { story: 'data that may be lost', spec: { storage: { ephemeral: true } }, refused: 'spec.storage.ephemeral' },
  {
    story: 'an instance with too little memory',
    spec: { resources: { limits: { memory: '255Mi' } } },
    refused: 'spec.resources.limits.memory',
  },
  {
    story: 'a parameter as a number',
    spec: parameters({ max_connections: 100 }),
    refused: 'spec.parameters.max_connections',
  },
  {
    story: 'a value that is too long',
    spec: parameters({ work_mem: '1'.repeat(1025) }),
    refused: 'spec.parameters.work_mem',
  },
  { story: 'too many parameters', spec: parameters(many(101)), refused: 'spec.parameters' },
  ...['many', '5O0', '0144', '0x64', '100kB', '1e2', '200.4', '-1', '', ' 100', '1000000'].map((value) => ({
    story: `max_connections ${JSON.stringify(value)}, which Patroni reads otherwise or not at all`,
    spec: parameters({ max_connections: value }),
    refused: 'spec.parameters',
  })),
  ...['max_locks_per_transaction', 'max_prepared_transactions', 'max_worker_processes'].map((name) => ({
    story: `${name} with a unit`,
    spec: parameters({ [name]: '100kB' }),
    refused: 'spec.parameters',
  })),
  ...['Work_Mem', 'work-mem', 'a.b.c', '.a', 'a.', '1a', 'a b', 'a\n', 'a'.repeat(64)].map((name) => ({
    story: `a parameter named ${JSON.stringify(name)}`,
    spec: parameters({ [name]: 'x' }),
    refused: 'spec.parameters',
  })),
  ...['8MB\n', "8MB\rfsync = 'off'"].map((value) => ({
    story: `a parameter of two lines: ${JSON.stringify(value)}`,
    spec: parameters({ work_mem: value }),
    refused: 'spec.parameters',
  })),
  // By name, besides the list itself: losing one of these from the list would lose data, or the cluster.
  ...[
    ...['fsync', 'full_page_writes', 'synchronous_commit', 'wal_level', 'wal_sync_method', 'data_sync_retry'],
    ...['synchronous_standby_names', 'primary_conninfo', 'primary_slot_name', 'hot_standby', 'wal_log_hints'],
    ...['restore_command', 'archive_command', 'recovery_target', 'max_slot_wal_keep_size', 'listen_addresses'],
    ...['port', 'ssl', 'ssl_ca_file', 'hba_file', 'ident_file', 'data_directory', 'unix_socket_directories'],
    ...['password_encryption', 'dynamic_library_path', 'local_preload_libraries', 'zero_damaged_pages'],
    ...['jit_provider', 'oauth_validator_libraries', 'extension_control_path', 'extension_destdir', 'include'],
    ...['include_dir', 'include_if_exists', 'archive_library', 'archive_cleanup_command', 'recovery_end_command'],
    ...['config_file', 'external_pid_file', 'log_directory', 'log_filename', 'krb_server_keyfile', 'ssl_key_file'],
    ...['unix_socket_group', 'unix_socket_permissions', 'ssl_passphrase_command', 'recovery_target_time'],
    ...['recovery_min_apply_delay', 'db_user_namespace', 'idle_replication_slot_timeout'],
  ].map((name) => ({
    story: `${name}, which the operator or Patroni decides`,
    spec: parameters({ [name]: 'x' }),
    refused: 'spec.parameters',
  })),
  ...[
    ...['plperl.on_init', 'plperl.on_plperlu_init', 'pltcl.start_proc', 'pltclu.start_proc'],
    ...['pljava.vmoptions', 'pllua.on_init'],
  ].map((name) => ({
    story: `the parameter ${name}, which is code`,
    spec: parameters({ [name]: 'x' }),
    refused: 'spec.parameters',
  })),
  ...['session_preload_libraries', 'shared_preload_libraries', 'output_plugin_libraries'].flatMap((name) =>
    ['/tmp/evil', '../evil', '$libdir/pg_stat_statements', 'a, /b', 'a b', '"a"', 'a,', ',', '.a'].map((value) => ({
      story: `the parameter ${name} as ${JSON.stringify(value)}`,
      spec: parameters({ [name]: value }),
      refused: 'spec.parameters',
    })),
  ),
  ...['serializable', 'SERIALIZABLE', 'Serializable', ' serializable', 'x'].map((value) => ({
    story: `default_transaction_isolation ${JSON.stringify(value)}, with which a standby runs no query`,
    spec: parameters({ default_transaction_isolation: value }),
    refused: 'spec.parameters',
  })),
  ...Object.values(forbiddenParameters)
    .flat()
    .map((name) => ({
      story: `the parameter ${name}`,
      spec: parameters({ work_mem: '8MB', [name]: 'off' }),
      refused: 'spec.parameters',
    })),
  ...['postgres', 'template0', 'template1', 'App', '1a', 'a-b', 'a"b', '', 'a'.repeat(64)].map((database) => ({
    story: `the database ${JSON.stringify(database)}`,
    spec: { initial: { database } },
    refused: 'spec.initial.database',
  })),
  ...[
    ...['postgres', 'public', 'clusterwright', 'replicator', 'rewinder', 'pg_monitor'],
    ...['App', '1a', 'a b', "a'b", '', 'a'.repeat(64)],
  ].map((owner) => ({
    story: `the owner ${JSON.stringify(owner)}`,
    spec: { initial: { owner } },
    refused: 'spec.initial.owner',
  })),
];

const updates: readonly Case[] = [
  { story: 'out', old: { instances: 1 }, spec: { instances: 5 } },
  { story: 'in', old: { instances: 5 }, spec: { instances: 1 } },
  { story: 'parked', old: {}, spec: { instances: 0 } },
  { story: 'a volume for the log, added', old: {}, spec: { walStorage: { size: '1Gi' } }, refused: 'spec.walStorage' },
  {
    story: 'a volume for the log, removed',
    old: { walStorage: { size: '1Gi' } },
    spec: {},
    refused: 'spec.walStorage',
  },
  {
    story: 'a volume for the log that grows',
    old: { walStorage: { size: '1Gi', storageClassName: 'a' } },
    spec: { walStorage: { size: '2Gi', storageClassName: 'a' } },
  },
  {
    story: 'a volume for the log that shrinks',
    old: { walStorage: { size: '2Gi' } },
    spec: { walStorage: { size: '2047Mi' } },
    refused: 'spec.walStorage.size',
  },
  {
    story: 'a size for the log that no volume was given, taken back',
    old: { walStorage: { size: '2Gi' } },
    status: { walStorage: { capacity: '1Gi', minimumSize: '1Gi' } },
    spec: { walStorage: { size: '1Gi' } },
  },
  {
    story: 'a size for the log that a volume was given, shrinks',
    old: { walStorage: { size: '2Gi' } },
    status: { walStorage: { capacity: '1Gi', minimumSize: '2Gi' } },
    spec: { walStorage: { size: '1Gi' } },
    refused: 'spec.walStorage.size',
  },
  ...[{ storageClassName: 'b' }, {}].map((other) => ({
    story: `another class of the volume for the log: ${JSON.stringify(other)}`,
    old: { walStorage: { size: '1Gi', storageClassName: 'a' } },
    spec: { walStorage: { size: '1Gi', ...other } },
    refused: 'spec.walStorage',
  })),
  { story: 'other parameters', old: parameters({ work_mem: '8MB' }), spec: parameters({ work_mem: '16MB' }) },
  { story: 'another ttl', old: {}, spec: { failover: { ttl: '30s' } } },
  { story: 'the same version, said', old: {}, spec: { version: '17' } },
  { story: 'the same first database, said', old: {}, spec: { initial: { database: 'app', owner: 'app' } } },
  {
    story: 'two instances, fewer than commits wait for',
    old: { instances: 5, synchronous: { count: 2 } },
    spec: { instances: 2, synchronous: { count: 2 } },
    refused: 'spec.synchronous.count',
  },
  { story: 'a later version', old: { version: '16' }, status: { version: '16.9' }, spec: { version: '17' } },
  {
    story: 'a version that skips others',
    old: { version: '15' },
    status: { version: '15.20' },
    spec: { version: '18' },
  },
  {
    story: 'a later version is taken back while the old one runs',
    old: { version: '17' },
    status: { version: '16.9' },
    spec: { version: '16' },
  },
  { story: 'an earlier version before anything runs', old: { version: '17' }, spec: { version: '16' } },
  {
    story: 'an earlier version',
    old: { version: '17' },
    status: { version: '17.12' },
    spec: { version: '16' },
    refused: 'spec.version',
  },
  {
    story: 'an earlier version by leaving it out',
    old: { version: '18' },
    status: { version: '18.1' },
    spec: {},
    refused: 'spec.version',
  },
  { story: 'SQL after an upgrade', old: {}, spec: { upgrade: { afterSql: '\n  select 1;\nselect 2' } } },
  { story: 'the longest SQL after an upgrade', old: {}, spec: { upgrade: { afterSql: 'x'.repeat(8192) } } },
  {
    story: 'longer SQL after an upgrade',
    old: {},
    spec: { upgrade: { afterSql: 'x'.repeat(8193) } },
    refused: 'spec.upgrade.afterSql',
  },
  ...['', '  ', '\\! id', '\n \\copy t to program id'].map((afterSql) => ({
    story: `a command of psql, or nothing, after an upgrade: ${JSON.stringify(afterSql)}`,
    old: {},
    spec: { upgrade: { afterSql } },
    refused: 'spec.upgrade.afterSql',
  })),
  {
    story: 'another first database',
    old: {},
    spec: { initial: { database: 'orders' } },
    refused: 'spec.initial.database',
  },
  {
    story: 'another first database by leaving it out',
    old: { initial: { database: 'orders' } },
    spec: {},
    refused: 'spec.initial.database',
  },
  { story: 'another owner', old: {}, spec: { initial: { owner: 'orders' } }, refused: 'spec.initial.owner' },
];

export const postgresCases: readonly Case[] = [
  ...shared,
  ...creates,
  ...updates,
  ...postgresBesideCases,
  ...maintenanceCases,
  ...postgresImportCases,
];
