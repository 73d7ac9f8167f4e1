/**
 * The list of forbidden parameters, compared with every setting of real servers: none that loads code or names a file is forgotten. And what a server says of
 * settings that it has refused.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { validateCluster } from '../../../src/api/validate.ts';
import { settingsQuestion } from '../../../src/engines/postgres/client/questions/server.ts';
import { postgresKind } from '../../../src/engines/postgres/kind/schema.ts';
import { readAtStart } from '../../../src/engines/postgres/plan/restart-forecast.ts';
import { initialise, openHome, startPostgres } from '../../support/postgres-process.ts';
import { postgresPrograms } from '../../support/postgres-program.ts';
import { until } from '../../support/until.ts';

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

  it('of settings that are refused, the values that are in force are told; a text keeps the server from starting', async () => {
    const home = openHome(program);
    const data = initialise(home, 'primary', '--locale=C.UTF-8');
    const file = join(data, 'postgresql.conf');
    renameSync(file, join(data, 'postgresql.base.conf'));
    const valid = [
      ...["include 'postgresql.base.conf'", "timezone = 'Europe/Berlin'", "datestyle = 'iso'", 'work_mem = 8MB'],
      ...["search_path = 'app, public'", "event_source = 'PostgreSQL'"],
    ];
    writeFileSync(file, `${valid.join('\n')}\n`);
    const server = await startPostgres(home, 'primary', {});
    try {
      await server.sql("ALTER SYSTEM SET lc_monetary = 'POSIX'");
      await server.sql('SELECT pg_reload_conf()');
      const own = ['event_source', 'lc_monetary', 'search_path'];
      const names = [
        ...own,
        'datestyle',
        'lc_messages',
        'log_timezone',
        'max_wal_size',
        'timezone',
        'work_mem',
        'wrok_mem',
      ];
      const seen = async (): Promise<readonly string[]> => {
        const rows = await server.sql(settingsQuestion(names).sql);
        return rows.map(([name, value, isDefault, isText, isPending]) =>
          [name, value, isDefault === 't' && 'default', isText === 't' && 'text', isPending === 't' && 'pending']
            .filter((word) => word !== false)
            .join(' '),
        );
      };
      await until('it has read the file of ALTER SYSTEM', async () => expect((await seen()).join()).toContain('POSIX'));
      const before = await seen();
      expect(before).toEqual([
        'datestyle ISO, MDY text',
        'event_source PostgreSQL text',
        'lc_messages C.UTF-8 default text',
        // Of `ALTER SYSTEM`.
        'lc_monetary POSIX',
        expect.stringMatching(/^log_timezone \S+ default text$/),
        'max_wal_size 1024 default',
        // Of this session.
        'search_path public',
        'timezone Europe/Berlin text',
        'work_mem 8192',
      ]);
      const refused = ["lc_messages = 'de_DE.UTF-8'", "log_timezone = 'Europe/Berln'", "timezone = 'Europe/Berln'"];
      writeFileSync(file, `${readFileSync(file, 'utf8')}${refused.join('\n')}\nwork_mem = 16MB\n`);
      await server.sql('SELECT pg_reload_conf()');
      await until('it has read the file', async () => expect((await seen()).at(-1)).toBe('work_mem 16384'));
      expect((await seen()).slice(0, -1)).toEqual(before.slice(0, -1));
      await server.shutDown();
      expect(() => home.run('postgres', '-D', '/data/primary', '-C', 'work_mem')).toThrow(/contains errors/);
    } finally {
      await server.stop();
      home.remove();
    }
  });
});
