/** `upgrade.sh` on real servers: what the new server has, and what the operator's role may do in it. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { invalidIndexesQuestion, markedQuestion } from '../../../src/engines/postgres/client/questions/databases.ts';
import { texts } from '../../../src/engines/postgres/resources/shell/texts.ts';
import {
  initialise,
  openHome,
  type PostgresHome,
  type PostgresProcess,
  startPostgres,
} from '../../support/postgres-process.ts';
import { postgresPrograms } from '../../support/postgres-program.ts';

const [older, newer] = [postgresPrograms.get('15'), postgresPrograms.get('17')];
/** One root directory has both, as the image has. */
const hasBoth = older !== undefined && older.root === newer?.root;

describe.runIf(hasBoth)('from 15 to 17', () => {
  let home: PostgresHome;
  let server: PostgresProcess;
  /** What the upgrade says of what it has left out. */
  let warnings: string;
  /** And when the Job runs again. */
  let repeated: string;
  /** What a rehearsal says with these parameters in the spec. It does not get far: a volume of data is none for a copy. */
  let rehearsed: readonly string[];

  const environment = 'OLD=15 NEW=17 MESSAGE=/data/message VOLUME=/data/volume SOCKET=/data';
  const upgrade = (mode: string): string => home.shell(`${environment} sh /data/upgrade.sh ${mode}`);
  /** As the operator's role, which is no superuser. Throws where PostgreSQL refuses it. */
  const asOperator = (...statements: readonly string[]): string => {
    const login = ['-X', '-v', 'ON_ERROR_STOP=1', '-p', `${server.port}`, '-U', 'clusterwright', '-d', 'postgres'];
    return home.run('psql', ...login, ...statements.flatMap((statement) => ['-c', statement]));
  };

  beforeAll(async () => {
    if (older === undefined) return;
    home = openHome(older);
    mkdirSync(join(home.directory, 'volume'));
    for (const script of ['upgrade.sh', 'post-init.sh'] as const) {
      writeFileSync(join(home.directory, script), texts[script]);
    }
    home.give(home.directory);
    initialise(home, 'volume/data', '--locale=C.UTF-8');
    server = await startPostgres(home, 'volume/data');
    home.shell(
      `PGBIN=/usr/lib/postgresql/15/bin OPERATOR_ROLE=clusterwright sh /data/post-init.sh 'port=${server.port} dbname=postgres'`,
    );
    asOperator('CREATE ROLE app LOGIN', 'GRANT app TO CURRENT_USER', 'CREATE DATABASE app OWNER app');
    asOperator('CREATE ROLE reports LOGIN');
    await server.sql(
      'CREATE ROLE boss SUPERUSER; CREATE ROLE keeper CREATEROLE; CREATE ROLE reader; CREATE ROLE nested',
    );
    await server.sql(
      'CREATE ROLE ops; GRANT boss TO ops; CREATE ROLE analyst; GRANT pg_read_all_data TO analyst; CREATE ROLE rewinder',
    );
    await server.sql('GRANT pg_read_server_files TO reader; GRANT reader TO nested');
    await server.sql(
      'CREATE EXTENSION pg_stat_statements; CREATE TABLE kept AS SELECT generate_series(1, 1000) AS n',
      'app',
    );
    // Letters that Unicode has had since 16: the ICU of 15 does not know where they belong, that of 17 does.
    await server.sql(
      "CREATE DATABASE sorted TEMPLATE template0 LOCALE 'C.UTF-8' LOCALE_PROVIDER icu ICU_LOCALE 'de-DE'",
    );
    const rows =
      'SELECT chr(c) || n FROM unnest(ARRAY[7305, 42955, 42970, 1103, 97, 122, 19968]) c, generate_series(1, 300) n';
    await server.sql(`CREATE TABLE t (v text PRIMARY KEY); INSERT INTO t ${rows}`, 'sorted');
    await server.sql(`CREATE TABLE t (v text COLLATE "de-x-icu" PRIMARY KEY); INSERT INTO t ${rows}`, 'app');
    await server.sql(
      `CREATE COLLATION public.own (provider = icu, locale = 'sv'); CREATE TABLE u (v text COLLATE public.own UNIQUE); INSERT INTO u ${rows}`,
      'app',
    );
    // Equal rows under a unique index: nobody can build it again.
    const isReady = (value: boolean) =>
      `UPDATE pg_index SET indisready = ${value} WHERE indexrelid = 'doubled'::regclass`;
    await server.sql('CREATE TABLE w (v text COLLATE "de-x-icu"); CREATE UNIQUE INDEX doubled ON w (v)', 'app');
    for (const statement of [isReady(false), "INSERT INTO w VALUES ('a'), ('a')", isReady(true)])
      await server.sql(statement, 'app');
    // The owner of the database has it say nothing.
    await server.sql("ALTER DATABASE app SET client_min_messages = 'error'");
    // What the owner of a database sets for its sessions would end the statements of the upgrade, on a volume that has no way back.
    await server.sql('CREATE DATABASE hasty');
    await server.sql(`CREATE TABLE t (v text COLLATE "de-x-icu" PRIMARY KEY); INSERT INTO t ${rows}`, 'hasty');
    for (const setting of ['statement_timeout = 1', 'lock_timeout = 1', 'default_transaction_read_only = on']) {
      await server.sql(`ALTER DATABASE hasty SET ${setting}`);
    }
    // The owner of a database tries to decide what the superuser calls.
    await server.sql(
      `CREATE FUNCTION public.format(text, name, name, text) RETURNS text LANGUAGE sql AS $$ SELECT 'GRANT pg_monitor TO reports' $$`,
    );
    await server.sql('ALTER DATABASE postgres SET search_path = public, pg_catalog');
    await server.shutDown();
    rehearsed = ['work_mem wrok_mem old_snapshot_threshold vacuum_defer_cleanup_age', 'work_mem wrok_mem'].map(
      (names) =>
        home.shell(`${environment} VOLUME=/data/volume PARAMETERS='${names}' sh /data/upgrade.sh rehearse || echo $?`),
    );
    expect(upgrade('upgrade')).toMatch(/^system=\d+\nstate=shut down\ncheckpoint=[0-9A-F/]+\nwarnings=/);
    const said = () => readFileSync(join(home.directory, 'message'), 'utf8').split('warnings=')[1] ?? '';
    warnings = said();
    // The pod was lost after everything was done.
    upgrade('upgrade');
    repeated = said();
    server = await startPostgres(home.version(17), 'volume/data');
    // An upgrade on a busy machine.
  }, 240_000);
  afterAll(async () => {
    await server?.stop();
    home?.remove();
  });

  test('a rehearsal refuses parameters that the old version has and the new one does not, and no others', () => {
    expect(rehearsed).toEqual([
      'PostgreSQL 17 does not have these settings of spec.parameters: old_snapshot_threshold, vacuum_defer_cleanup_age. Remove them\n3\n',
      'the volume for the copy is not empty\n3\n',
    ]);
  });

  test('it has the data, the newest extensions and statistics', async () => {
    expect(await server.sql('SELECT count(*) FROM kept', 'app')).toEqual([['1000']]);
    const versions =
      'SELECT extversion = default_version FROM pg_extension JOIN pg_available_extensions ON name = extname';
    expect(await server.sql(`${versions} WHERE extname = 'pg_stat_statements'`, 'app')).toEqual([['t']]);
    expect(await server.sql("SELECT reltuples FROM pg_class WHERE relname = 'kept'", 'app')).toEqual([['1000']]);
  });

  test.each([
    ['sorted', 't'],
    ['app', 't'],
    ['app', 'u'],
    ['hasty', 't'],
  ])(
    'each row of database %s, table %s is found by its index, also where the new server sorts in another way',
    async (database, table) => {
      const byIndex =
        'SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_bitmapscan = off';
      const missed = `SELECT count(*) FROM (SELECT v AS x FROM ${table} OFFSET 0) a WHERE NOT EXISTS (SELECT FROM ${table} b WHERE b.v = a.x)`;
      expect(await server.sql(`${byIndex}; ${missed}`, database)).toEqual([['0']]);
    },
  );

  test('an index that cannot be rebuilt is named first, also when the Job runs again, and no query uses it', async () => {
    expect(warnings.trim()).toBe(
      'index public.doubled of database app is invalid and is not used; index public.doubled of database app: could not create unique index "doubled";',
    );
    expect(repeated).toBe(warnings);
    const invalid = 'SELECT indexrelid::regclass FROM pg_index WHERE NOT indisvalid';
    expect(await server.sql(invalid, 'app')).toEqual([['doubled']]);
    expect(await server.sql('SET enable_seqscan = off; SELECT v FROM w ORDER BY v', 'app')).toEqual([['a'], ['a']]);
  });

  test('the operator finds it in its database, and no longer once it is rebuilt', async () => {
    const found = async () =>
      (await server.sql(invalidIndexesQuestion.sql, 'app')).flat().filter((one) => one !== null);
    expect(asOperator(markedQuestion.sql)).toMatch(/app\s*\|\s*1\n\(1 row\)/);
    expect(await found()).toEqual(['doubled']);
    await server.sql('DELETE FROM w WHERE ctid = (SELECT min(ctid) FROM w); REINDEX INDEX doubled', 'app');
    expect(await found()).toEqual([]);
  });

  test('and no database or collation is said to have another order than its indexes', async () => {
    const differing =
      'SELECT datname FROM pg_database WHERE datcollversion <> pg_database_collation_actual_version(oid)';
    expect(await server.sql(differing)).toEqual([]);
    const own = 'SELECT collname FROM pg_collation WHERE collversion <> pg_collation_actual_version(oid)';
    expect(await server.sql(own, 'app')).toEqual([]);
  });

  test.each(['app', 'reports', 'clusterwright_pooler', 'clusterwright_monitor'])(
    'the operator sets the password of %s, as before',
    (role) => {
      asOperator(`ALTER ROLE ${role} PASSWORD 'another'`, `CREATE ROLE member_of_${role} IN ROLE ${role}`);
    },
  );

  test('it makes databases of the roles that it made before', () => {
    asOperator('CREATE DATABASE more OWNER app');
    asOperator('GRANT reports TO CURRENT_USER WITH SET TRUE', 'CREATE DATABASE reports OWNER reports');
  });

  test.each(['boss', 'keeper', 'reader', 'nested', 'ops', 'analyst', 'rewinder', 'postgres', 'pg_read_server_files'])(
    'it may not change %s, which has more rights than it',
    (role) => {
      expect(() => asOperator(`GRANT ${role} TO CURRENT_USER`)).toThrow(/permission denied/);
    },
  );

  test('it has no rights of the roles that it administers, and nothing that a database of a user brought', async () => {
    const granted = await server.sql(
      `SELECT r.rolname, m.admin_option, m.inherit_option, m.set_option FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.roleid
WHERE m.member = 'clusterwright'::regrole AND r.rolname IN ('app', 'clusterwright_pooler', 'clusterwright_monitor') ORDER BY 1, 2`,
    );
    expect(granted).toEqual([
      ['app', 't', 't', 't'],
      ['clusterwright_monitor', 't', 'f', 'f'],
      ['clusterwright_pooler', 't', 'f', 'f'],
    ]);
    expect(await server.sql("SELECT pg_has_role('reports', 'pg_monitor', 'member')")).toEqual([['f']]);
  });
});
