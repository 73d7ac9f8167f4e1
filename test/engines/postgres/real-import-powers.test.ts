/** Who has what once an import is over: roles of the source that have the names of the operator's, or more rights than a user's. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Import, importerHba, startImport } from '../../support/postgres-import.ts';
import {
  initialise,
  openHome,
  type PostgresHome,
  type PostgresProcess,
  startPostgres,
} from '../../support/postgres-process.ts';
import { postgresPrograms } from '../../support/postgres-program.ts';

// The images with Patroni have Python.
const programs = [...postgresPrograms].filter(([, { root }]) => existsSync(join(root, 'usr/bin/python3')));

it.skipIf(programs.length === 0)('the sandbox has made images of PostgreSQL, whose servers run here', () => {
  expect(programs.length).toBeGreaterThan(0);
});

describe.each(programs)('roles after an import of PostgreSQL %s', (version, program) => {
  let home: PostgresHome;
  let started: PostgresProcess[];
  let imports: Import[];

  beforeEach(() => {
    home = openHome(program);
    started = [];
    imports = [];
  });
  afterEach(async () => {
    for (const one of imports) one.kill('SIGTERM');
    await Promise.all([...imports.map(({ ended }) => ended), ...started.map((server) => server.stop())]);
    home.remove();
  });

  const begun = async (sql: string): Promise<{ readonly source: PostgresProcess; readonly one: Import }> => {
    initialise(home, 'source');
    const source = await startPostgres(home, 'source', { hba: importerHba });
    started.push(source);
    await source.sql(`CREATE ROLE importer LOGIN REPLICATION PASSWORD 'import-me'; ${sql}`);
    const one = await startImport(home, source, { version });
    imports.push(one);
    await one.open();
    return { source, one };
  };
  /** The data that Patroni would start with. */
  const imported = async (sql: string): Promise<PostgresProcess> => {
    const { source, one } = await begun(sql);
    await one.until(({ phase }) => phase === 'following');
    await source.shutDown();
    await one.cutOver('stopped@uid-1');
    expect([await one.ended, one.log()]).toEqual([0, expect.stringContaining('import: done')]);
    const copy = await startPostgres(home, 'volume/data');
    started.push(copy);
    return copy;
  };

  it('nobody of the source is a member of a role that the members of the cluster log in as', async () => {
    const copy = await imported(
      'CREATE ROLE rewinder; CREATE ROLE replicator; CREATE ROLE eve LOGIN; GRANT rewinder, replicator TO eve WITH ADMIN OPTION',
    );
    expect(
      (
        await copy.sql(
          "SELECT has_function_privilege('eve', 'pg_read_binary_file(text)', 'EXECUTE'), pg_has_role('eve', 'replicator', 'MEMBER')",
        )
      ).flat(),
    ).toEqual(['f', 'f']);
  });

  it.skipIf(Number(version) < 16)(
    'the operator gets no hold on a role through which it could be a superuser',
    async () => {
      const copy = await imported(
        'CREATE ROLE ops; GRANT postgres TO ops; CREATE ROLE reader; GRANT pg_read_all_data TO reader; CREATE ROLE shop',
      );
      const held =
        "SELECT r.rolname FROM pg_auth_members m JOIN pg_roles r ON r.oid = roleid WHERE member = 'clusterwright'::regrole AND r.rolname IN ('ops', 'reader', 'shop', 'rewinder', 'replicator') ORDER BY 1";
      expect((await copy.sql(held)).flat()).toEqual(['shop']);
    },
  );

  it('roles of the operator that somebody else has made, or is a member of, are refused', async () => {
    const { one } = await begun(`CREATE ROLE eve LOGIN CREATEROLE; CREATE ROLE clusterwright LOGIN CREATEROLE CREATEDB;
      CREATE ROLE clusterwright_pooler LOGIN; CREATE ROLE clusterwright_monitor LOGIN; CREATE SCHEMA clusterwright AUTHORIZATION eve;
      GRANT clusterwright TO eve`);
    const { problem } = await one.until(({ phase }) => phase === 'refused' || phase === 'following');
    expect(problem).toContain('eve');
  });

  it('an owner whose password the operator would not set is refused before the cut-over', async () => {
    const { source, one } = await begun('CREATE ROLE "app" LOGIN CREATEROLE');
    const { problem } = await one.until(({ phase }) => phase === 'refused' || phase === 'following');
    expect(problem).toContain('role app, which spec.initial names as owner, has more rights');
    await source.sql('ALTER ROLE app NOCREATEROLE');
    await one.until(({ phase }) => phase === 'following');
  });
});
