/** The list of forbidden parameters, compared with every setting of real servers: none that loads code or names a file is forgotten. */
import { describe, expect, it } from 'vitest';
import { validateCluster } from '../../../src/api/validate.ts';
import { postgresKind } from '../../../src/engines/postgres/kind/schema.ts';
import { readAtStart } from '../../../src/engines/postgres/plan/restart-forecast.ts';
import { initialise, openHome, startPostgres } from '../../support/postgres-process.ts';
import { postgresPrograms } from '../../support/postgres-program.ts';

function isAccepted(name: string, value: string): boolean {
  const metadata = { name: 'db', namespace: 'apps', uid: 'db' };
  const object = { apiVersion: 'clusterwright.dev/v1alpha1', kind: 'PostgresCluster', metadata };
  return validateCluster(postgresKind, { ...object, spec: { parameters: { [name]: value } } }, { namespace: 'apps' })
    .ok;
}

/** With a value of any type. */
const isSettable = (name: string): boolean => ['x', '1', 'on'].some((value) => isAccepted(name, value));

/** Texts that a user may set. Each new one of a later version is looked at first. */
const harmless = [
  ...['DateStyle', 'IntervalStyle', 'TimeZone', 'application_name', 'client_encoding', 'createrole_self_grant'],
  ...['backtrace_functions', 'default_table_access_method', 'default_tablespace', 'default_text_search_config'],
  ...['event_source', 'lc_messages', 'lc_monetary', 'lc_numeric', 'lc_time', 'log_connections', 'log_line_prefix'],
  ...['log_timezone', 'restrict_nonsystem_relation_kind', 'search_path', 'temp_tablespaces'],
  // A name of a file without a path, in a directory of the image.
  'timezone_abbreviations',
];
/** What only sounds like files and programs. */
const numbers = [
  ...['log_rotation_age', 'log_rotation_size', 'log_temp_files', 'log_truncate_on_rotation', 'max_files_per_process'],
  ...['temp_file_limit', 'track_activities', 'update_process_title', 'log_replication_commands', 'log_file_mode'],
  ...['allow_alter_system', 'file_extend_method', 'file_copy_method', 'wal_compression', 'wal_init_zero'],
  ...['wal_recycle', 'wal_skip_threshold', 'wal_summary_keep_time', 'jit_profiling_support', 'geqo_seed'],
];
/** With names without a path. */
const libraries = ['output_plugin_libraries', 'session_preload_libraries', 'shared_preload_libraries'];

describe.each([...postgresPrograms])('PostgreSQL %s', (_, program) => {
  it('every setting that is a text, or is about files, libraries and programs, is refused or known to be harmless', async () => {
    const home = openHome(program);
    initialise(home, 'primary', '--locale=C.UTF-8');
    const server = await startPostgres(home, 'primary', {});
    try {
      const rows = await server.sql(
        "SELECT name FROM pg_settings WHERE context <> 'internal' AND (vartype = 'string' OR short_desc ~* 'file|director|librar|command|path|program|socket') ORDER BY name",
      );
      const open = rows.flatMap(([name]) => (name != null && isAccepted(name.toLowerCase(), 'x') ? [name] : []));
      expect(open.filter((name) => ![...harmless, ...numbers, ...libraries].includes(name))).toEqual([]);
      expect(libraries.filter((name) => isAccepted(name, '/tmp/x'))).toEqual([]);
      const atStart = await server.sql("SELECT name FROM pg_settings WHERE context = 'postmaster' ORDER BY name");
      const unknown = atStart.flatMap(([name]) =>
        name != null && isSettable(name) && !readAtStart.has(name) ? [name] : [],
      );
      expect(unknown).toEqual([]);
    } finally {
      await server.stop();
      home.remove();
    }
  });
});
