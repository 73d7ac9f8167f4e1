/**
 * PostgreSQL in versions that are not the default: created, switched over, hit, backed up and restored as that one is. A version 16 is in
 * no image of the sandbox.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { images as recipes } from '../../../src/engines/images.ts';
import { imageReference } from '../../../src/sandbox/images/recipe.ts';
import { silent } from '../../../src/sandbox/progress.ts';
import { loadImages } from '../../../src/sandbox/sandbox.ts';
import { type BackupStore, openStore } from '../../support/backup-store.ts';
import { takeBackup } from '../../support/backups.ts';
import { removeByName } from '../../support/kubernetes.ts';
import { keepPostgresEvidence } from '../../support/postgres-evidence.ts';
import { openPostgresLedger } from '../../support/postgres-ledger.ts';
import { type PostgresScenario, underPostgresWriters } from '../../support/postgres-scenario.ts';
import type { PostgresTestCluster } from '../../support/postgres-test-cluster.ts';
import { recordResult } from '../../support/results.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

const content = 'select count(*), md5(string_agg(v, null order by n)) from kept';

describe.each([
  ['15', 'postgres:17'],
  ['18', 'postgres:18'],
] as const)('PostgreSQL %s', (version, imageName) => {
  let stage: Stage;
  let store: BackupStore;
  let cluster: PostgresTestCluster;
  let scenario: PostgresScenario;
  const image = imageReference(imageName);

  beforeAll(async () => {
    await loadImages([imageName], { recipes }, silent);
    stage = await openStage(`postgres-${version}`);
    await stage.startOperator();
    store = await openStore(stage);
  });
  afterEach((context) => keepPostgresEvidence(context, stage, cluster));
  afterAll(() => stage.close());

  const moved = (from: string): Promise<void> =>
    until('another primary', async () => expect((await cluster.primary()).metadata.name).not.toBe(from));
  const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;

  test('three members are created', async () => {
    const startedAt = performance.now();
    cluster = await stage.createPostgres('p', { version, image });
    await cluster.whole(3);
    const primary = (await cluster.primary()).metadata.name;
    const running = await cluster.sql(primary, 'show server_version');
    const measured = `${running}, whole after ${seconds(startedAt)}`;
    await recordResult({ scenario: `postgres ${version}: create 3`, measured });
    expect(running).toMatch(new RegExp(`^${version}\\.`));
    expect((await cluster.status()).version).toMatch(new RegExp(`^${version}\\.`));
    scenario = { cluster, ledger: await openPostgresLedger({ cluster }) };
  });

  test('a person asks for a switchover', async () => {
    const before = (await cluster.primary()).metadata.name;
    const { gapMs } = await underPostgresWriters(`${version}, switchover`, scenario, async () => {
      await cluster.switchover();
      await moved(before);
      await cluster.whole(3);
      return undefined;
    });
    expect(gapMs).toBeLessThan(8_000);
  });

  test('the pod of the primary is deleted', async () => {
    const before = await cluster.primary();
    const { gapMs } = await underPostgresWriters(`${version}, primary pod deleted`, scenario, async () => {
      await removeByName(stage.client, before);
      await moved(before.metadata.name);
      await cluster.whole(3);
      return undefined;
    });
    expect(gapMs).toBeLessThan(10_000);
  });

  test('a setting takes a restart', async () => {
    const { gapMs } = await underPostgresWriters(`${version}, a setting changed by restarts`, scenario, async () => {
      await cluster.change({ parameters: { max_connections: '120' } });
      await until('everybody has it', async () => {
        for (const { metadata } of await cluster.pods())
          expect(await cluster.sql(metadata.name, 'show max_connections')).toBe('120');
      });
      await cluster.whole(3);
      return undefined;
    });
    expect(gapMs).toBeLessThan(8_000);
  });

  test('it is backed up, and a new cluster begins with its data', async () => {
    const primary = (await cluster.primary()).metadata.name;
    const made = 'create table kept as select n, md5(n::text) as v from generate_series(1, 20000) as n';
    await cluster.sql(primary, made);
    const target = store.target as never;
    const takenAt = performance.now();
    const { id = '' } = await takeBackup(stage, 'first', { cluster: { kind: 'PostgresCluster', name: 'p' }, target });
    const taken = seconds(takenAt);
    const askedAt = performance.now();
    const restored = await stage.createPostgres('restored', {
      version,
      image,
      instances: 2,
      bootstrap: { restore: { target, id } },
    });
    await restored.whole(2, { withinMs: 240_000 });
    const measured = `backup verified after ${taken}, restored cluster whole after ${seconds(askedAt)}`;
    await recordResult({ scenario: `postgres ${version}: backup and restore`, measured });
    const found = await restored.sql((await restored.primary()).metadata.name, content);
    expect(found).toBe(await cluster.sql(primary, content));
    expect(stage.warnings).toEqual([]);
  });
});
