/** `copy_database.py` on real servers of two versions: what it copies, what it refuses, and when a copy is marked as whole. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { filledQuestion } from '../../../src/engines/postgres/client/application.ts';
import { ask, askOne } from '../../../src/engines/postgres/client/question.ts';
import { withSession } from '../../../src/engines/postgres/client/session.ts';
import { changeStaging, stagingQuestion } from '../../../src/engines/postgres/client/staging.ts';
import { copiedMark } from '../../../src/engines/postgres/names.ts';
import { texts } from '../../../src/engines/postgres/resources/shell/texts.ts';
import { sleep, systemClock } from '../../../src/system/clock.ts';
import { dialTcp } from '../../../src/system/dial.ts';
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
const io = { dial: dialTcp, sleep: (ms: number, signal?: AbortSignal) => sleep(systemClock, ms, signal) };

interface Attempt {
  readonly code: number;
  readonly words: string;
}

describe.runIf(hasBoth)('a copy of a database of 15 in 17', () => {
  let home: PostgresHome;
  let source: PostgresProcess;
  let target: PostgresProcess;
  let attempts = 0;

  /** As the operator does it: in a session of its own role, which is no superuser. */
  const asOperator = <T>(
    work: (connection: Parameters<Parameters<typeof withSession>[2]>[0]) => Promise<T>,
  ): Promise<T> => {
    const login = { user: 'clusterwright', database: 'postgres' };
    return withSession(io, { address: '127.0.0.1', port: target.port, login, timeoutMs: 60_000 }, work);
  };
  const change = (what: 'create' | 'drop' | 'publish', name: string): Promise<void> =>
    asOperator((connection) => changeStaging(connection, what, name, { database: 'app', owner: 'app' }));
  const staged = () => asOperator((connection) => ask(connection, stagingQuestion));

  /** Makes a database for one attempt, and runs that. `before`: what runs beside it. */
  async function attempt(
    variables: Readonly<Record<string, string>> = {},
    before = '',
  ): Promise<Attempt & { readonly staging: string }> {
    attempts += 1;
    const staging = `clusterwright-import-${attempts}`;
    if (variables.TARGET_PGDATABASE === undefined) await change('create', staging);
    const values = {
      PROGRAMS: '/usr/lib/postgresql/17/bin',
      MAJOR: '17',
      DIRECTORY: '/data/dump',
      MESSAGE: '/data/message',
      MARK: copiedMark,
      PATIENCE_SECONDS: '1',
      SOURCE_PGHOST: '127.0.0.1',
      SOURCE_PGPORT: `${source.port}`,
      SOURCE_PGUSER: 'reader',
      SOURCE_PGDATABASE: 'the shop',
      SOURCE_PASSWORD_FILE: '/data/password',
      TARGET_PGHOST: '127.0.0.1',
      TARGET_PGPORT: `${target.port}`,
      TARGET_PGUSER: 'app',
      TARGET_PGDATABASE: staging,
      TARGET_PASSWORD_FILE: '/data/password',
      ...variables,
    };
    const words = Object.entries(values).map(([name, value]) => `${name}='${value}'`);
    const output = home.shell(
      `rm -rf /data/dump /data/message; ${before} env ${words.join(' ')} python3 -IS /data/copy_database.py > /dev/null 2>&1; echo $?; cat /data/message`,
    );
    const [code = '', ...lines] = output.split('\n');
    return { code: Number(code), words: lines.join('\n'), staging };
  }
  const refusal = async (...given: Parameters<typeof attempt>): Promise<Attempt> => {
    const { staging, ...result } = await attempt(...given);
    expect(await staged()).toContainEqual({ database: staging, copied: undefined });
    return result;
  };

  beforeAll(async () => {
    if (older === undefined) return;
    home = openHome(older);
    for (const script of ['copy_database.py', 'post-init.sh'] as const)
      writeFileSync(join(home.directory, script), texts[script]);
    writeFileSync(join(home.directory, 'password'), 'unused');
    home.give(home.directory);
    initialise(home, 'old');
    initialise(home.version(17), 'new', '--locale=C.UTF-8');
    source = await startPostgres(home, 'old', {
      config: ["unix_socket_directories = ''"],
      hba: ['host all plain 127.0.0.1/32 password'],
    });
    target = await startPostgres(home.version(17), 'new');
    home.shell(
      `PGBIN=/usr/lib/postgresql/17/bin OPERATOR_ROLE=clusterwright sh /data/post-init.sh 'port=${target.port} dbname=postgres'`,
    );
    await asOperator((connection) => connection.query('CREATE ROLE app LOGIN'));
    await source.sql('CREATE ROLE shop LOGIN; CREATE ROLE reader LOGIN; GRANT pg_read_all_data TO reader');
    await source.sql('CREATE DATABASE "the shop" OWNER shop');
    await source.sql(
      "ALTER ROLE reader SET idle_in_transaction_session_timeout = '1s'; ALTER ROLE reader SET statement_timeout = '2s'",
    );
    await source.sql(
      `CREATE EXTENSION pg_trgm; CREATE SCHEMA "a ""b"; CREATE TABLE "a ""b"."c'd" (n bigserial PRIMARY KEY, v text);
       INSERT INTO "a ""b"."c'd" (v) SELECT md5(n::text) FROM generate_series(1, 10000) AS n;
       CREATE TABLE orders (id int, at date) PARTITION BY RANGE (at); CREATE TABLE orders_1 PARTITION OF orders FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
       INSERT INTO orders SELECT n, date '2030-01-01' + n FROM generate_series(1, 500) AS n;
       CREATE VIEW recent AS SELECT * FROM orders; CREATE INDEX ON "a ""b"."c'd" USING gin (v gin_trgm_ops);
       CREATE TYPE mood AS ENUM ('good', 'bad'); CREATE DOMAIN short AS text CHECK (length(VALUE) < 9);
       CREATE TABLE parent (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, m mood, s short, twice int GENERATED ALWAYS AS (length(s) * 2) STORED);
       CREATE TABLE child (extra int) INHERITS (parent);
       INSERT INTO parent (m, s) VALUES ('good', 'a'), ('bad', 'bb'); INSERT INTO child (id, m, s, extra) OVERRIDING SYSTEM VALUE VALUES (9, 'bad', 'c', 1);
       ALTER TABLE parent ADD COLUMN peer int REFERENCES parent DEFERRABLE INITIALLY DEFERRED; UPDATE ONLY parent SET peer = 3 - id;
       CREATE MATERIALIZED VIEW total AS SELECT count(*) AS n FROM parent;
       CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no''; END';
       CREATE TRIGGER no_rows BEFORE INSERT ON parent EXECUTE FUNCTION stop();
       CREATE FUNCTION twice(int) RETURNS int LANGUAGE sql AS 'SELECT 2 * $1';
       ALTER TABLE orders OWNER TO shop; SELECT lo_from_bytea(0, 'large'); GRANT SELECT ON ALL TABLES IN SCHEMA "a ""b" TO reader`,
      'the shop',
    );
    await source.sql(
      'GRANT SELECT ON LARGE OBJECT ' +
        ((await source.sql('SELECT oid FROM pg_largeobject_metadata', 'the shop'))[0]?.[0] ?? '') +
        ' TO reader',
      'the shop',
    );
  });
  afterAll(async () => {
    await source?.stop();
    await target?.stop();
    home?.remove();
  });

  test('what a superuser alone could make is refused before anything is copied', async () => {
    const cases = [
      ['CREATE EXTENSION file_fdw', 'DROP EXTENSION file_fdw', /only a superuser can create extension file_fdw/],
      [
        `CREATE FUNCTION odd() RETURNS int LANGUAGE internal AS 'int4pl'`,
        'DROP FUNCTION odd()',
        /function public\.odd in language internal/,
      ],
      [
        `CREATE FUNCTION on_ddl() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END'; CREATE EVENT TRIGGER ddl ON ddl_command_start EXECUTE FUNCTION on_ddl()`,
        'DROP EVENT TRIGGER ddl; DROP FUNCTION on_ddl()',
        /event trigger ddl/,
      ],
      [
        'ALTER TABLE orders_1 ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY',
        'ALTER TABLE orders_1 DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY',
        /row-level security applies to the owner of table public\.orders_1/,
      ],
      [
        'CREATE POLICY own ON orders_1 TO shop USING (true)',
        'DROP POLICY own ON orders_1',
        /policies of the source name role shop/,
      ],
    ] as const;
    for (const [make, drop, words] of cases) {
      await source.sql(make, 'the shop');
      const { code, words: said } = await refusal();
      await source.sql(drop, 'the shop');
      expect([code, said]).toEqual([3, expect.stringMatching(words)]);
    }
  });

  test('a role that may not read everything is refused', async () => {
    await source.sql('CREATE TABLE hidden (n int); ALTER TABLE hidden ENABLE ROW LEVEL SECURITY', 'the shop');
    expect(await refusal()).toEqual({ code: 3, words: expect.stringContaining('row-level security') });
    await source.sql('DROP TABLE hidden', 'the shop');
    await source.sql('CREATE ROLE nobody LOGIN');
    expect(await refusal({ SOURCE_PGUSER: 'nobody' })).toEqual({
      code: 3,
      words: expect.stringContaining('permission denied'),
    });
  });

  test('text that is not valid in the encoding of the new database is refused', async () => {
    await source.sql("CREATE DATABASE bytes ENCODING 'SQL_ASCII' TEMPLATE template0");
    await source.sql("CREATE TABLE t (v text); INSERT INTO t VALUES (E'\\xff'); GRANT SELECT ON t TO reader", 'bytes');
    expect(await refusal({ SOURCE_PGDATABASE: 'bytes' })).toEqual({
      code: 3,
      words: expect.stringContaining('invalid byte sequence for encoding "UTF8"'),
    });
  });

  test('no word of the source reaches psql as a command', async () => {
    // Whoever runs the source, or sits on the way to it, answers as it likes. Here: functions in the place of PostgreSQL's own.
    const said = String.raw`E'orders\n\\! touch /data/commanded\n'`;
    const kinds = ['text, name, name', 'text, text, name, name'];
    const each = (sql: (kind: string) => string) => source.sql(kinds.map(sql).join('; '), 'the shop');
    await each(
      (kind) => `CREATE FUNCTION pg_catalog.format(${kind}) RETURNS text LANGUAGE sql AS $$ SELECT ${said} $$`,
    );
    try {
      await refusal();
    } finally {
      await each((kind) => `DROP FUNCTION pg_catalog.format(${kind})`);
    }
    expect(existsSync(join(home.directory, 'commanded'))).toBe(false);
  });

  test('a source that is not verified does not get the password itself', async () => {
    await source.sql("CREATE ROLE plain LOGIN PASSWORD 'unused'");
    expect(await refusal({ SOURCE_PGUSER: 'plain', SOURCE_PGSSLMODE: 'disable' })).toEqual({
      code: 3,
      words: expect.stringContaining('server requested a cleartext password'),
    });
  });

  test('a later version is refused, and a source that does not answer is asked again', async () => {
    expect(await refusal({ MAJOR: '14' })).toEqual({
      code: 3,
      words: expect.stringContaining('the source is PostgreSQL 15'),
    });
    expect(await refusal({ SOURCE_PGPORT: '1' })).toEqual({ code: 1, words: expect.stringContaining('the source:') });
    const missing = await attempt({ TARGET_PGDATABASE: 'clusterwright-import-none' });
    expect([missing.code, missing.words]).toEqual([1, expect.stringContaining('does not exist')]);
  });

  test('rows that are written meanwhile are missing: refused, unless the spec takes that', async () => {
    const psql = `/usr/lib/postgresql/15/bin/psql -X -q -h 127.0.0.1 -p ${source.port} -U postgres -d 'the shop'`;
    // The copy begins once the writer has its lock, and the writer ends once the copy waits for that.
    const waits =
      'DO $$ BEGIN FOR n IN 1..600 LOOP EXIT WHEN EXISTS (SELECT FROM pg_locks WHERE NOT granted); PERFORM pg_sleep(0.1); END LOOP; END $$;';
    const held =
      "SELECT 1 FROM pg_locks WHERE granted AND mode = 'AccessExclusiveLock' AND relation = 'orders'::regclass";
    const writer = `(printf '%s\n' 'BEGIN;' 'INSERT INTO orders SELECT 0, now()::date; LOCK orders;' '${waits}' 'COMMIT;' | ${psql} > /dev/null &) ; n=0; until ${psql} -At -c "${held}" | grep -q 1 || [ $((n += 1)) -gt 600 ]; do sleep 0.1; done;`;
    expect(await refusal({}, writer)).toEqual({
      code: 3,
      words: expect.stringMatching(/^1 rows were written at the source/),
    });
    const { code, words } = await attempt({ TAKES_CHANGES: 'true' }, writer);
    expect([code, words]).toEqual([
      0,
      expect.stringMatching(/; 1 rows that were written at the source meanwhile are missing$/),
    ]);
  });

  test('the whole copy is marked, and becomes the first database; what was not is dropped', async () => {
    const { code, words, staging } = await attempt();
    expect([code, words]).toEqual([0, '4 tables, 10505 rows, 1 large objects']);
    // It was filled already, and is not filled again.
    expect((await attempt({ TARGET_PGDATABASE: staging })).code).toBe(1);
    const found = await staged();
    expect(found).toContainEqual({ database: staging, copied: '4 tables, 10505 rows, 1 large objects' });
    for (const { database } of found) if (database !== staging) await change('drop', database);
    expect(await asOperator((connection) => askOne(connection, filledQuestion('app')))).toEqual({
      isFilled: false,
    });
    await change('publish', staging);
    expect(await staged()).toEqual([]);
    expect(await asOperator((connection) => askOne(connection, filledQuestion('app')))).toEqual({ isFilled: true });
    const login = { user: 'app', database: 'app' };
    const denied = withSession(
      io,
      { address: '127.0.0.1', port: target.port, login, timeoutMs: 60_000 },
      (connection) => connection.query('COMMENT ON ROLE app IS NULL'),
    );
    await expect(denied).rejects.toThrow('permission denied');
    const facts = `SELECT (SELECT count(*) FROM "a ""b"."c'd"), (SELECT count(*) FROM recent), twice(21),
      (SELECT convert_from(lo_get(oid), 'UTF8') FROM pg_largeobject_metadata), nextval('"a ""b"."c''d_n_seq"'),
      (SELECT string_agg(DISTINCT relowner::regrole::text, ',') FROM pg_class WHERE relnamespace IN ('public'::regnamespace, '"a ""b"'::regnamespace) AND relkind IN ('r', 'p', 'v')),
      (SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = 'app'),
      (SELECT string_agg(id || m::text || s || twice || coalesce(peer::text, ''), ' ' ORDER BY id) FROM parent), (SELECT n FROM total)`;
    expect(await target.sql(facts, 'app')).toEqual([
      ['10000', '502', '42', 'large', '10001', 'app', null, '1gooda22 2badbb41 9badc2', '3'],
    ]);
  });

  test('nobody makes a database out of another one', async () => {
    await expect(change('drop', 'app')).rejects.toThrow('is no database of an import');
  });
});
