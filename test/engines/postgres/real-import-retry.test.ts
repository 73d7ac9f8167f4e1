/** A base backup that fails on the way: the source is not made to read all of its data again and again. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { importerHba, startImport } from '../../support/postgres-import.ts';
import { initialise, openHome, startPostgres } from '../../support/postgres-process.ts';
import { postgresPrograms } from '../../support/postgres-program.ts';

// The images with Patroni have Python.
const [first] = [...postgresPrograms].filter(([, { root }]) => existsSync(join(root, 'usr/bin/python3')));

it.skipIf(first === undefined)(
  'after each base backup that has failed, the pause is twice as long',
  async () => {
    if (first === undefined) return;
    const [version, program] = first;
    const home = openHome(program);
    initialise(home, 'source');
    const source = await startPostgres(home, 'source', {
      hba: importerHba,
      config: ['log_replication_commands = on', 'allow_in_place_tablespaces = on'],
    });
    const one = await startImport(home, source, { version, againSeconds: 0.5 });
    try {
      await source.sql("CREATE ROLE importer LOGIN REPLICATION PASSWORD 'import-me'");
      // It is found only at the end.
      await source.sql("CREATE TABLESPACE t LOCATION ''");
      await one.open();
      const begun = (): number => source.log().match(/received replication command: BASE_BACKUP/g)?.length ?? 0;
      const begins: number[] = [];
      const end = Date.now() + 180_000;
      while (begins.length < 4 && Date.now() < end) {
        if (begun() > begins.length) begins.push(Date.now());
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      const [, second = 0, third = 0, fourth = 0] = begins;
      expect(third - second).toBeGreaterThan(2000);
      expect(fourth - third).toBeGreaterThan(4000);
    } finally {
      // A base backup that is cut off leaves a process, which in a pod ends with the first one.
      await one.until(({ phase }) => phase === 'refused');
      one.kill('SIGTERM');
      await one.ended;
      await source.stop();
      home.remove();
    }
  },
  300_000,
);
