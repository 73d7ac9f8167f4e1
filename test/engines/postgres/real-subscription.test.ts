/** A rehearsal copies a server that subscribes to another one. The copy takes no changes that the subscriber would then never get. */
import { writeFileSync } from 'node:fs';
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

describe.runIf(hasBoth)('a subscriber whose upgrade from 15 to 17 is rehearsed', () => {
  let home: PostgresHome;
  let publisher: PostgresProcess;
  let subscriber: PostgresProcess;

  beforeAll(async () => {
    if (older === undefined) return;
    home = openHome(older);
    writeFileSync(join(home.directory, 'upgrade.sh'), texts['upgrade.sh']);
    home.shell('mkdir /data/copy /data/socket');
    initialise(home, 'publisher');
    initialise(home, 'subscriber', '--locale=C.UTF-8');
    publisher = await startPostgres(home, 'publisher', {
      config: ['wal_level = logical', 'log_replication_commands = on'],
    });
    subscriber = await startPostgres(home, 'subscriber');
    for (const server of [publisher, subscriber]) await server.sql('CREATE TABLE t (n int PRIMARY KEY)');
    await publisher.sql('CREATE PUBLICATION p FOR TABLE t');
    await subscriber.sql(
      `CREATE SUBSCRIPTION s CONNECTION 'host=127.0.0.1 port=${publisher.port} user=postgres dbname=postgres' PUBLICATION p`,
    );
  });
  afterAll(async () => {
    await subscriber?.stop();
    await publisher?.stop();
    home?.remove();
  });

  test('the copy does not ask the publisher for changes', async () => {
    await expect.poll(() => subscriber.sql('SELECT srsubstate FROM pg_subscription_rel')).toEqual([['r']]);
    const asked = async (when: string): Promise<number> => {
      await publisher.sql(`DO $$ BEGIN RAISE LOG '${when}'; END $$`);
      await expect.poll(() => publisher.log()).toContain(`LOG:  ${when}`);
      return publisher.log().split('received replication command: START_REPLICATION SLOT').length - 1;
    };
    const before = await asked('before');
    const source = `host=127.0.0.1 port=${subscriber.port} user=postgres`;
    const environment = `OLD=15 NEW=17 MESSAGE=/data/message VOLUME=/data/copy SOCKET=/data/socket SOURCE='${source}'`;
    expect(home.shell(`${environment} sh /data/upgrade.sh rehearse`)).toMatch(/^system=\d+$/m);
    expect(await asked('after')).toBe(before);
  });
});
