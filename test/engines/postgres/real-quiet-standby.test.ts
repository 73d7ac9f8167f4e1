/** Base backups of a standby whose primary has gone on to the next file of its log, and writes nothing more. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dumpPostgres } from '../../../src/engines/postgres/agent/dump.ts';
import { type Lsn, parseLsn } from '../../../src/engines/postgres/client/lsn.ts';
import { agentContext } from '../../support/agent-context.ts';
import {
  initialise,
  openHome,
  type PostgresHome,
  type PostgresProcess,
  startPostgres,
  startStandby,
} from '../../support/postgres-process.ts';
import { postgresPrograms } from '../../support/postgres-program.ts';
import { until } from '../../support/until.ts';

it.skipIf(postgresPrograms.size === 0)('the sandbox has made images of PostgreSQL, whose servers run here', () => {
  expect([...postgresPrograms.keys()].length).toBeGreaterThan(0);
});

function requiredLsn(text: string): Lsn {
  const position = parseLsn(text);
  if (position === undefined) throw new Error(`${text} is no position`);
  return position;
}

describe.each([...postgresPrograms])('PostgreSQL %s', (_, program) => {
  let home: PostgresHome;
  const started: PostgresProcess[] = [];

  beforeEach(() => {
    home = openHome(program);
    initialise(home, 'primary');
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((server) => server.stop()));
    home.remove();
  });

  const positionOf = async (server: PostgresProcess, sql: string) =>
    requiredLsn(String((await server.sql(sql))[0]?.[0]));

  it('the first backup of a quiet standby holds what its primary has acknowledged', async () => {
    const primary = await startPostgres(home, 'primary');
    started.push(primary);
    const standby = await startStandby(home, primary, 'standby');
    started.push(standby);
    for (const statement of ['checkpoint', 'select pg_switch_wal()', 'select pg_create_restore_point($$quiet$$)'])
      await primary.sql(statement);
    const acknowledged = await positionOf(primary, 'select pg_current_wal_flush_lsn()');
    await until('the standby to have replayed it', async () => {
      const replayed = await positionOf(standby, 'select pg_last_wal_replay_lsn()');
      return replayed >= acknowledged;
    });

    const dump = await dumpPostgres(
      {
        engine: 'postgres',
        user: 'postgres',
        members: [primary, standby].map(({ port }) => ({ host: '127.0.0.1', port })),
      },
      agentContext(),
    );
    for await (const _ of dump.content);

    expect(dump.topology).toMatchObject({ role: 'standby' });
    expect(requiredLsn(dump.state().endLsn)).toBeGreaterThanOrEqual(acknowledged);
    dump.close();
  });
});
