/** `upgrade.sh` on real servers whose log has a volume of its own. */
import { existsSync, mkdirSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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

describe.runIf(hasBoth)('from 15 to 17, with a volume for the log', () => {
  let home: PostgresHome;
  let server: PostgresProcess;

  const environment =
    'OLD=15 NEW=17 MESSAGE=/data/message VOLUME=/data/volume SOCKET=/data WAL_DIRECTORY=/data/wal/pg_wal';
  const upgrade = (mode: string): string => home.shell(`${environment} sh /data/upgrade.sh ${mode}`);
  const at = (path: string): string => join(home.directory, path);
  const log = (): string => readlinkSync(at('volume/data/pg_wal'));

  beforeAll(async () => {
    if (older === undefined) return;
    home = openHome(older);
    mkdirSync(at('volume'));
    mkdirSync(at('wal'));
    for (const script of ['upgrade.sh', 'post-init.sh'] as const) writeFileSync(at(script), texts[script]);
    home.give(home.directory);
    initialise(home, 'volume/data', '--locale=C.UTF-8', '--waldir=/data/wal/pg_wal');
    server = await startPostgres(home, 'volume/data');
    home.shell(
      `PGBIN=/usr/lib/postgresql/15/bin OPERATOR_ROLE=clusterwright sh /data/post-init.sh 'port=${server.port} dbname=postgres'`,
    );
    await server.sql('CREATE TABLE kept AS SELECT generate_series(1, 1000) AS n');
    await server.shutDown();
  });
  afterAll(async () => {
    await server?.stop();
    home?.remove();
  });

  test('what was begun is undone on both volumes, and the old data keeps its log', async () => {
    home.shell('cd /data && for left in volume/data.new-17 wal/pg_wal.17; do mkdir $left && touch $left/left; done');
    expect(upgrade('undo')).toMatch(/^system=\d+\nstate=shut down\n/);
    expect([readdirSync(at('volume')), readdirSync(at('wal'))]).toEqual([['data'], ['pg_wal']]);
    server = await startPostgres(home, 'volume/data');
    expect(await server.sql('SELECT count(*) FROM kept')).toEqual([['1000']]);
    await server.shutDown();
  });

  test('the new data has its log on the same volume, and that of the old data is gone', async () => {
    const said = upgrade('upgrade');
    expect(said).toMatch(/^system=\d+\nstate=shut down\ncheckpoint=[0-9A-F/]+\nwarnings=\n$/);
    expect([readdirSync(at('volume')).sort(), readdirSync(at('wal'))]).toEqual([
      ['data', 'warnings-15-17'],
      ['pg_wal.17'],
    ]);
    expect(log()).toBe('/data/wal/pg_wal.17');
    server = await startPostgres(home.version(17), 'volume/data');
    expect(await server.sql('SELECT count(*) FROM kept')).toEqual([['1000']]);
    await server.shutDown();
  });

  test('it is done again after a kill before the old data was removed, and keeps the new log', () => {
    const before = upgrade('upgrade');
    home.shell(
      'mkdir /data/volume/data.old-15 /data/wal/pg_wal && ln -s /data/wal/pg_wal /data/volume/data.old-15/pg_wal',
    );
    expect(upgrade('upgrade')).toBe(before);
    expect([readdirSync(at('volume')).sort(), readdirSync(at('wal'))]).toEqual([
      ['data', 'warnings-15-17'],
      ['pg_wal.17'],
    ]);
    expect(existsSync(at('wal/pg_wal.17'))).toBe(true);
  });
});
