/**
 * `spec.parameters`: settings of postgresql.conf. PostgreSQL has some 350, and extensions bring more, so this is a list of those that a
 * user may not set. They name files, addresses, programs or peers, decide durability, or belong to Patroni and the operator.
 */
import type { StructuralSchema } from '../../../api/schema.ts';

const names = (...list: readonly string[]): readonly string[] => list;

/** Who else sets it, or what it would break. */
export const forbiddenParameters = {
  'belongs to the operator': names(
    'cluster_name',
    'db_user_namespace',
    'hot_standby',
    'idle_replication_slot_timeout',
    'jit',
    'listen_addresses',
    'log_destination',
    'log_directory',
    'log_filename',
    'logging_collector',
    'max_replication_slots',
    'max_slot_wal_keep_size',
    'max_wal_senders',
    'password_encryption',
    'port',
    'primary_conninfo',
    'primary_slot_name',
    'recovery_min_apply_delay',
    'reserved_connections',
    'restore_command',
    // Patroni needs them where clients have used up all others.
    'superuser_reserved_connections',
    'synchronous_standby_names',
    'sync_replication_slots',
    'synchronized_standby_slots',
    'track_commit_timestamp',
    'wal_keep_size',
    'wal_level',
    'wal_log_hints',
    'wal_receiver_create_temp_slot',
    // 0 lets each commit that waits for a standby wait for seconds.
    'wal_receiver_status_interval',
  ),
  'belongs to backups': names(
    'archive_cleanup_command',
    'archive_command',
    'archive_library',
    'archive_mode',
    'archive_timeout',
    'recovery_end_command',
    'summarize_wal',
  ),
  'belongs to tls': names(
    'ssl',
    'ssl_ca_file',
    'ssl_cert_file',
    'ssl_ciphers',
    'ssl_crl_dir',
    'ssl_crl_file',
    'ssl_dh_params_file',
    'ssl_ecdh_curve',
    'ssl_groups',
    'ssl_key_file',
    'ssl_max_protocol_version',
    'ssl_min_protocol_version',
    'ssl_passphrase_command',
    'ssl_passphrase_command_supports_reload',
    'ssl_prefer_server_ciphers',
    'ssl_tls13_ciphers',
  ),
  'names a file or a program': names(
    'bonjour',
    'bonjour_name',
    'config_file',
    'data_directory',
    'dynamic_library_path',
    'dynamic_shared_memory_type',
    'extension_control_path',
    // Of Debian.
    'extension_destdir',
    'external_pid_file',
    'hba_file',
    'ident_file',
    // No settings, but postgresql.conf has them in the place of one.
    'include',
    'include_dir',
    'include_if_exists',
    'io_method',
    'jit_provider',
    'krb_server_keyfile',
    'local_preload_libraries',
    'oauth_validator_libraries',
    'promote_trigger_file',
    'stats_temp_directory',
    'syslog_facility',
    'syslog_ident',
    'unix_socket_directories',
    'unix_socket_group',
    'unix_socket_permissions',
  ),
  'may lose or damage data': names(
    'allow_in_place_tablespaces',
    'allow_system_table_mods',
    'data_sync_retry',
    'debug_io_direct',
    'fsync',
    'full_page_writes',
    'ignore_checksum_failure',
    'ignore_invalid_pages',
    'ignore_system_indexes',
    'recovery_init_sync_method',
    'remove_temp_files_after_crash',
    'restart_after_crash',
    'send_abort_for_crash',
    'send_abort_for_kill',
    // `replica` leaves out foreign keys and triggers.
    'session_replication_role',
    'synchronous_commit',
    'wal_consistency_checking',
    'wal_sync_method',
    'zero_damaged_pages',
  ),
  'belongs to a restore': names(
    'recovery_target',
    'recovery_target_action',
    'recovery_target_inclusive',
    'recovery_target_lsn',
    'recovery_target_name',
    'recovery_target_time',
    'recovery_target_timeline',
    'recovery_target_xid',
  ),
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** Languages of functions whose settings are code that runs when the language is loaded, or name files. */
const languages = names('pljava', 'pllua', 'plperl', 'pltcl', 'pltclu');

/** They load code. A name without a path is looked for in the image's own directory of libraries alone. */
export const libraryParameters = names(
  'output_plugin_libraries',
  'session_preload_libraries',
  'shared_preload_libraries',
);

/** A standby may have no less of them than its primary: Patroni sets them on the command line. See `start-values.ts`. */
const wholeNumbers = names(
  'max_connections',
  'max_locks_per_transaction',
  'max_prepared_transactions',
  'max_worker_processes',
);

const plainList = '^ *([A-Za-z0-9_][A-Za-z0-9_.-]*( *, *[A-Za-z0-9_][A-Za-z0-9_.-]*)*)? *$';

const quoted = (list: readonly string[]): string => list.map((name) => `'${name}'`).join(', ');

export const parametersSchema = {
  type: 'object',
  description:
    'Settings of postgresql.conf, by name, as text. PostgreSQL itself says which of them need a restart: members restart one at a time. Settings that name files, addresses, programs or peers, that decide durability, or that belong to other fields are refused. `shared_preload_libraries` takes names without a path.',
  default: {},
  maxProperties: 100,
  additionalProperties: {
    type: 'string',
    description: 'Value of the setting, as in postgresql.conf without quotes.',
    maxLength: 1024,
  },
  'x-kubernetes-validations': [
    {
      rule: "self.all(name, size(name) <= 63 && name.matches('^[a-z_][a-z0-9_]*([.][a-z_][a-z0-9_]*)?$'))",
      message: 'parameters are named as in postgresql.conf, in lower case, such as work_mem',
    },
    {
      rule: "self.all(name, !self[name].contains('\\n') && !self[name].contains('\\r'))",
      message: 'a parameter is one line',
    },
    {
      // Patroni could ask no standby anything, and would promote none.
      rule: "!('default_transaction_isolation' in self) || self['default_transaction_isolation'].matches('^(read uncommitted|read committed|repeatable read)$')",
      message:
        'default_transaction_isolation must be read uncommitted, read committed or repeatable read: a standby runs no query of a session with serializable, so that none could be promoted; set serializable with ALTER DATABASE or ALTER ROLE',
    },
    {
      // Patroni reads 0144 as 100, and takes its own value in place of one that it does not read.
      rule: `[${quoted(wholeNumbers)}].all(name, !(name in self) || self[name].matches('^(0|[1-9][0-9]{0,5})$'))`,
      message: `a whole number without a unit: ${wholeNumbers.join(', ')}`,
    },
    {
      rule: `self.all(name, !name.matches('^(${languages.join('|')})[.]'))`,
      message: `a parameter of a language for functions, which is code or names a file: ${languages.map((name) => `${name}.*`).join(', ')}`,
    },
    {
      rule: `[${quoted(libraryParameters)}].all(name, !(name in self) || self[name].matches('${plainList}'))`,
      message: `libraries are a list of names without a path: ${libraryParameters.join(', ')}`,
    },
    ...Object.entries(forbiddenParameters).map(([why, list]) => ({
      rule: `self.all(name, !(name in [${quoted(list)}]))`,
      message: `one of the parameters ${why}: ${list.join(', ')}`,
      messageExpression: `[${quoted(list)}].filter(name, name in self)[0] + ': not allowed, ${why}'`,
    })),
  ],
} as const satisfies StructuralSchema;
