/**
 * Every write of a restore and of a major upgrade is a crash point: the operator is killed after each, and the cluster ends as it does
 * without crashes, with every commit that clients were promised.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { persistentVolumeClaims } from '../../../src/api/resource.ts';
import type { PostgresSpecInput } from '../../../src/engines/postgres/kind/schema.ts';
import { configAnnotation, holdsAnnotation, wayBackAnnotation } from '../../../src/engines/postgres/names.ts';
import { imageReference } from '../../../src/sandbox/images/recipe.ts';
import { openStore } from '../../support/backup-store.ts';
import { takeBackup } from '../../support/backups.ts';
import { childrenAtRest, killedAfterEveryWrite, reportCrashes, undisturbed } from '../../support/crash-points.ts';
import { listAll } from '../../support/kubernetes.ts';
import { keepPostgresEvidence } from '../../support/postgres-evidence.ts';
import { openPostgresLedger } from '../../support/postgres-ledger.ts';
import { underPostgresWriters } from '../../support/postgres-scenario.ts';
import { prepareSoundness, soundnessOf } from '../../support/postgres-soundness.ts';
import type { PostgresTestCluster } from '../../support/postgres-test-cluster.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;
let target: never;
let id = '';
let shaken: PostgresTestCluster;

const image = imageReference('postgres:17');
const two = { instances: 2, resources: { limits: { memory: '384Mi' } }, deletionPolicy: 'Delete' } as const;
const content = 'select count(*), md5(string_agg(v, null order by n)) from kept';
/** Pods of several Jobs start one after the other, and each operator looks at them anew. */
const withinMs = 800_000;

beforeAll(async () => {
  stage = await openStage('postgres-data-crashes');
  target = (await openStore(stage)).target as never;
  const operator = await stage.startOperator();
  const origin = await stage.createPostgres('origin', { ...two, instances: 1 });
  await origin.whole(1);
  await primarySql(origin, 'create table kept as select n, md5(n::text) as v from generate_series(1, 20000) as n');
  const taken = await takeBackup(stage, 'first', { cluster: { kind: 'PostgresCluster', name: 'origin' }, target });
  id = taken.id ?? '';
  await removed(origin);
  await operator.stop();
});
afterEach((context) => keepPostgresEvidence(context, stage, shaken));
afterAll(() => stage.close());

/** The digest of a configuration, in which the name of the cluster is. */
const digest = new RegExp(`("${configAnnotation}":)"[0-9a-f]+"`, 'g');
/** The system identifier of upgraded data, in what a backup goes by. */
const system = /UID-\d{10,20}/g;

async function atRest(cluster: PostgresTestCluster): Promise<Record<string, unknown>> {
  const found = JSON.stringify(await childrenAtRest(stage, cluster));
  return JSON.parse(found.replaceAll(digest, '$1"DIGEST"').replaceAll(system, 'UID-SYSTEM')) as Record<string, unknown>;
}

async function primarySql(cluster: PostgresTestCluster, statement: string): Promise<string> {
  return cluster.sql((await cluster.primary()).metadata.name, statement);
}

async function removed(cluster: PostgresTestCluster): Promise<void> {
  await cluster.remove();
  await until(`${cluster.name} is gone`, () => expect(cluster.object()).rejects.toThrow(/not found/));
}

async function removedByAnOperator(...clusters: readonly PostgresTestCluster[]): Promise<void> {
  const operator = await stage.startOperator();
  for (const cluster of clusters) await removed(cluster);
  await operator.stop();
}

const whole = (cluster: PostgresTestCluster, version?: string) => async () => {
  await cluster.whole(2, { withinMs: 0 });
  const running = (await cluster.status()).version ?? '';
  if (version !== undefined) expect(running).toMatch(new RegExp(`^${version}\\.`));
};

test('killed after every write it makes, the operator begins a cluster with the data of a backup', async () => {
  const spec: PostgresSpecInput = { ...two, bootstrap: { restore: { target, id } } };
  const steady = await stage.createPostgres('steady', spec);
  const without = await undisturbed(stage, whole(steady), withinMs);
  shaken = await stage.createPostgres('shaken', spec);
  const crashed = await killedAfterEveryWrite(stage, whole(shaken), withinMs);
  await reportCrashes('postgres of 2, restored', without, crashed);
  expect(without.length, without.join('\n')).toBeLessThan(80);
  expect(await primarySql(shaken, content)).toBe(await primarySql(steady, content));
  expect(await primarySql(shaken, 'select count(*) from kept')).toBe('20000');
  expect(await atRest(shaken)).toEqual(await atRest(steady));
  await prepareSoundness(shaken);
  const members = (await shaken.pods()).map(({ metadata }) => metadata.name);
  const { timelines, digests, damage } = await soundnessOf(shaken, members);
  expect([timelines.length, digests.length, damage]).toEqual([1, 1, []]);
  expect(crashed.length).toBeGreaterThanOrEqual(20);
  await removedByAnOperator(steady, shaken);
});

test('it upgrades it from 15 to 17, and no acknowledged commit is lost', async () => {
  const old: PostgresSpecInput = { ...two, version: '15', image, backup: { target } };
  const steady = await stage.createPostgres('steady15', old);
  shaken = await stage.createPostgres('shaken15', old);
  await undisturbed(stage, async () => {
    await whole(steady, '15')();
    await whole(shaken, '15')();
  });
  await steady.change({ version: '17' });
  const without = await undisturbed(stage, whole(steady, '17'), withinMs);
  const crashed: string[] = [];
  const scenario = { cluster: shaken, ledger: await openPostgresLedger({ cluster: shaken }) };
  await underPostgresWriters('15 to 17, every write a crash', scenario, async () => {
    await shaken.change({ version: '17' });
    crashed.push(...(await killedAfterEveryWrite(stage, whole(shaken, '17'), withinMs)));
    return `${crashed.length} crashes`;
  });
  await reportCrashes('postgres of 2, 15 to 17', without, crashed);
  expect(without.length, without.join('\n')).toBeLessThan(160);
  expect(await atRest(shaken)).toEqual(await atRest(steady));
  // The data of before, as it was.
  const claims = (await listAll(stage.client, persistentVolumeClaims, stage.namespace)).filter(
    ({ metadata }) => metadata.annotations?.[wayBackAnnotation] === '15',
  );
  const owners = claims.map(({ metadata }) => metadata.name.replace(/^data-(\w+)-.*/, '$1'));
  expect(owners.sort()).toEqual(['shaken15', 'steady15']);
  expect(claims.map(({ metadata }) => typeof metadata.annotations?.[holdsAnnotation])).toEqual(['string', 'string']);
});
