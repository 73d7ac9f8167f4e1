/**
 * Data of a PostgresCluster that is damaged, or that Patroni cannot rewind: the member is replaced by one with a new number, its volume is
 * kept as it is, and nothing that is damaged gets to the others or into a backup.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { events } from '../../../src/api/resource.ts';
import { paths, replaceAnnotation, retiredAnnotation } from '../../../src/engines/postgres/names.ts';
import type { Pod } from '../../../src/resources/children.ts';
import { cutFromApi, cutPods, healFromApi, healPods } from '../../../src/sandbox/faults/cut.ts';
import { imageReference } from '../../../src/sandbox/images/recipe.ts';
import { type BackupStore, openStore } from '../../support/backup-store.ts';
import { createBackup } from '../../support/backups.ts';
import { listAll, removeByName } from '../../support/kubernetes.ts';
import { keepPostgresEvidence } from '../../support/postgres-evidence.ts';
import { openPostgresLedger } from '../../support/postgres-ledger.ts';
import { type PostgresScenario, underPostgresWriters } from '../../support/postgres-scenario.ts';
import type { PostgresTestCluster } from '../../support/postgres-test-cluster.ts';
import { backups, postgresClusters } from '../../support/resources.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';
import { checkVolume } from '../../support/volume-check.ts';

let stage: Stage;
let store: BackupStore;
let cluster: PostgresTestCluster;
let scenario: PostgresScenario;

beforeAll(async () => {
  stage = await openStage('postgres-damage');
  await stage.startOperator();
  store = await openStore(stage);
  cluster = await stage.createPostgres('p');
  await cluster.whole(3);
  scenario = { cluster, ledger: await openPostgresLedger({ cluster }) };
});
afterEach((context) => keepPostgresEvidence(context, stage, cluster));
afterAll(() => stage.close());

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;
const refOf = ({ metadata: { name } }: Pod) => ({ namespace: stage.namespace, name });
/** A member that cannot start is given three minutes. */
const patient = { withinMs: 420_000 };

async function firstStandby(): Promise<string> {
  const [standby] = await cluster.standbys();
  if (standby === undefined) throw new Error('there is no standby');
  return standby.metadata.name;
}

/** Resolves with what the event says that tells of it. */
async function replaced(pod: string): Promise<string> {
  await until(
    `${pod} is replaced`,
    async () => {
      expect((await cluster.pods()).map(({ metadata }) => metadata.name)).not.toContain(pod);
      const claim = (await cluster.claims()).find(({ metadata }) => metadata.name === `data-${pod}`);
      expect(claim?.metadata.annotations?.[retiredAnnotation]).toBe('true');
    },
    patient,
  );
  await cluster.whole(3, patient);
  return until('an event tells of it', async () => {
    const notes = (await listAll(stage.client, events, stage.namespace)).map((event) => String(Object(event).note));
    const words = notes.find((note) => note.startsWith(`${pod} is replaced: `));
    if (words === undefined) throw new Error(notes.slice(-5).join('\n'));
    return words;
  });
}

/** Runs a command of busybox on the volume of a member that has left. */
async function onVolumeOf(pod: string, command: string): Promise<string> {
  const { namespace, client } = stage;
  const image = imageReference('postgres:17');
  const request = { namespace, claim: `data-${pod}`, image, command: ['/bin/sh', '-c', command] };
  const { code, output } = await checkVolume(client, request);
  expect([code, output]).toEqual([0, output]);
  return output.trim();
}

/** Removes what PostgreSQL does not need to start with. */
const withoutOlderLog = `cd ${paths.data}/pg_wal
first=$("$PGBIN"/pg_controldata -D ${paths.data} | sed -n "s/^Latest checkpoint's REDO WAL file: *//p")
test -n "$first"
for file in [0-9A-F]*; do if [ -f "$file" ] && [ "$file" \\< "$first" ]; then rm "$file"; fi; done`;

const psqlFile = (table: string): string => `select pg_relation_filepath('${table}')`;

test('pg_rewind of a former primary fails: the member is replaced, and what only it has is kept', async () => {
  const before = await cluster.primary();
  const old = before.metadata.name;
  const peers = (await cluster.standbys()).map(refOf);
  let file = '';
  const { gapMs } = await underPostgresWriters('a former primary cannot be rewound', scenario, async () => {
    let words = '';
    try {
      // Before it can tell the API server that it goes on without them: then nobody else would be elected.
      await cutFromApi([refOf(before)], 'hang');
      for (const peer of peers) await cutPods(refOf(before), peer);
      // What only it has. It steps down after some seconds.
      await cluster.sql(
        old,
        `set synchronous_commit = local;
        create table only_here as select n, md5(n::text) as v from generate_series(1, 20000) as n;
        select pg_switch_wal();
        checkpoint;`,
      );
      file = await cluster.sql(old, psqlFile('only_here'));
      await until('another primary', async () => expect((await cluster.primary()).metadata.name).not.toBe(old));
      // A rewind reads its log from where the others have left it, and that part is gone.
      await cluster.shell(old, withoutOlderLog);
    } finally {
      await healFromApi([refOf(before)]);
      for (const peer of peers) await healPods([refOf(before), peer]);
    }
    const healedAt = performance.now();
    await until(
      'Patroni could not rewind it',
      async () => expect(await cluster.log(old)).toMatch(/pg_rewind: (error|fatal)/),
      patient,
    );
    words = await replaced(old);
    return `“${words}”, whole ${seconds(healedAt)} after it was back`;
  });
  expect(gapMs).toBeLessThan(60_000);
  const bytes = await onVolumeOf(old, `stat -c %s /volume/data/${file}`);
  expect(Number(bytes)).toBeGreaterThan(1_000_000);
});

test('a page of a standby is damaged: nothing of it is backed up, and the member is replaced on request', async () => {
  const victim = await firstStandby();
  const primary = (await cluster.primary()).metadata.name;
  await cluster.sql(
    primary,
    'create table kept as select n, md5(n::text) as v from generate_series(1, 20000) as n; checkpoint;',
  );
  const file = await cluster.sql(primary, psqlFile('kept'));
  const { gapMs } = await underPostgresWriters(
    'a page of a standby damaged, replaced on request',
    scenario,
    async () => {
      const position = await cluster.sql(primary, 'select pg_current_wal_lsn()');
      await until('it has replayed the table', async () =>
        expect(await cluster.sql(victim, `select pg_last_wal_replay_lsn() >= '${position}'`)).toBe('t'),
      );
      // On its disk, and not in its memory any more: it is read anew after a start.
      await cluster.sql(victim, 'checkpoint');
      await cluster.shell(
        victim,
        `printf 'damaged' | dd of=${paths.data}/${file} bs=1 seek=40000 conv=notrunc 2>/dev/null`,
      );
      const { uid } = (await cluster.pod(victim)).metadata;
      await removeByName(stage.client, await cluster.pod(victim));
      await until('it has started again', async () => expect((await cluster.pod(victim)).metadata.uid).not.toBe(uid));
      await cluster.whole(3);
      await expect(cluster.sql(victim, 'select count(*) from kept')).rejects.toThrow(/invalid page|checksum/);
      expect(await cluster.sql(primary, 'select count(*) from kept')).toBe('20000');
      const other = (await cluster.standbys()).map(({ metadata }) => metadata.name).find((name) => name !== victim);
      expect(await cluster.sql(other ?? '', 'select count(*) from kept')).toBe('20000');
      const told = `Ready ${await cluster.ready()}`;
      await createBackup(stage, 'of-damaged', {
        cluster: { kind: 'PostgresCluster', name: 'p' },
        target: store.target as never,
      });
      const { conditions = [], phase } = await until(
        'the backup has ended',
        async () => {
          const { status } = await stage.client.get({
            resource: backups,
            namespace: stage.namespace,
            name: 'of-damaged',
          });
          const found = (status ?? {}) as { phase?: string; conditions?: { message: string }[] };
          expect(found.phase).toMatch(/Verified|Failed/);
          return found;
        },
        { withinMs: 300_000 },
      );
      await stage.client.mergePatch(
        { resource: postgresClusters, namespace: stage.namespace, name: 'p' },
        { metadata: { annotations: { [replaceAnnotation]: victim } } },
      );
      await replaced(victim);
      return `${told} with the damage; the backup ${phase}: ${conditions.map(({ message }) => message).join('; ')}`;
    },
  );
  expect(gapMs).toBeLessThan(8_000);
});

/** PostgreSQL writes its files when it stops, so it is killed before. Resolves when the pod is gone. */
async function damaged(pod: string, command: string): Promise<void> {
  const { metadata } = await cluster.pod(pod);
  const killed = `kill -STOP $(pgrep -P 1 -f patroni); kill -9 $(head -1 ${paths.data}/postmaster.pid); sleep 1`;
  await cluster.shell(pod, `${killed}; ${command}`);
  await removeByName(stage.client, await cluster.pod(pod), { gracePeriodSeconds: 0 });
  await until('its pod is another one', async () =>
    expect((await cluster.pod(pod)).metadata.uid).not.toBe(metadata.uid),
  );
}

test.each([
  ['the log of a standby is gone', `rm -rf ${paths.data}/pg_wal`],
  [
    'the control file of a standby is damaged',
    `printf 'damaged' | dd of=${paths.data}/global/pg_control bs=1 seek=100 conv=notrunc`,
  ],
] as const)('%s: the member is replaced', async (what, damage) => {
  const victim = await firstStandby();
  const { gapMs } = await underPostgresWriters(what, scenario, async () => {
    await damaged(victim, damage);
    const damagedAt = performance.now();
    const words = await replaced(victim);
    return `“${words}”, whole ${seconds(damagedAt)} after the damage`;
  });
  expect(gapMs).toBeLessThan(8_000);
});

test('the log of a standby is damaged: it receives that from the primary again', async () => {
  const victim = await firstStandby();
  const { gapMs } = await underPostgresWriters('the log of a standby is damaged', scenario, async () => {
    // Of segments alone. It does not start with a damaged history file.
    const page = `[ -f "$f" ] && printf '%08192d' 0 | dd of="$f" bs=8192 conv=notrunc`;
    await damaged(victim, `cd ${paths.data}/pg_wal && for f in ????????????????????????; do ${page}; done; true`);
    const damagedAt = performance.now();
    await cluster.whole(3, patient);
    return `whole ${seconds(damagedAt)} after it has started again`;
  });
  expect((await cluster.pods()).map(({ metadata }) => metadata.name)).toContain(victim);
  expect(gapMs).toBeLessThan(8_000);
});
