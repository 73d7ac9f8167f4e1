/** A PostgresCluster without its operator: detached from its resource (`--cascade=orphan`) and adopted by a new one of the same name, and paused. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { statefulSets } from '../../../src/api/resource.ts';
import { podIsReady } from '../../../src/resources/children.ts';
import { isNotFound } from '../../../src/runtime/api-error.ts';
import { removeByName } from '../../support/kubernetes.ts';
import { keepPostgresEvidence } from '../../support/postgres-evidence.ts';
import { openPostgresLedger } from '../../support/postgres-ledger.ts';
import { type PostgresScenario, underPostgresWriters } from '../../support/postgres-scenario.ts';
import type { PostgresTestCluster } from '../../support/postgres-test-cluster.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;
let cluster: PostgresTestCluster;
let scenario: PostgresScenario;

// What it would delete with an ordinary deletion.
const spec = { deletionPolicy: 'Delete', resources: { limits: { memory: '256Mi' } } } as const;

beforeAll(async () => {
  stage = await openStage('postgres-detach');
  await stage.startOperator();
  cluster = await stage.createPostgres('p', spec);
  await cluster.whole(3, { withinMs: 240_000 });
  scenario = { cluster, ledger: await openPostgresLedger({ cluster }) };
});
afterEach((context) => keepPostgresEvidence(context, stage, cluster));
afterAll(() => stage.close());

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;

/** UID and number of starts of each member. */
async function processes(): Promise<readonly string[]> {
  const pods = await cluster.pods();
  return pods.map(({ metadata, status }) => `${metadata.uid} ${status?.containerStatuses?.[0]?.restartCount}`);
}

/** Kubernetes has nobody left that would delete them. */
async function hasNoOwner(): Promise<void> {
  await expect(cluster.object()).rejects.toSatisfy(isNotFound);
  const { items } = await stage.client.list(statefulSets, { namespace: stage.namespace });
  expect(items.map(({ metadata }) => metadata.ownerReferences ?? [])).toEqual([[], [], []]);
}

test('the resource goes, and its members run on; a new one takes them over as they are', async () => {
  const before = await processes();
  const claims = (await cluster.claims()).map(({ metadata }) => metadata.uid);
  const { gapMs } = await underPostgresWriters('detached and adopted', scenario, async () => {
    await removeByName(stage.client, await cluster.object(), { propagation: 'Orphan' });
    await until('detached', hasNoOwner);
    // Longer than the lock lasts, and than the operator needs for a reconcile.
    await new Promise((resolve) => setTimeout(resolve, 25_000));
    expect(await processes()).toEqual(before);
    const adoptedAt = performance.now();
    await stage.createPostgres('p', spec);
    await cluster.whole(3);
    const adopted = seconds(adoptedAt);
    expect(await processes()).toEqual(before);
    expect((await cluster.claims()).map(({ metadata }) => metadata.uid)).toEqual(claims);
    return `adopted in ${adopted}`;
  });
  expect(gapMs).toBeLessThan(5000);
});

test('without the resource, a failover needs nobody; the new resource finds another primary', async () => {
  await underPostgresWriters('detached, a failover, and adopted', scenario, async () => {
    await removeByName(stage.client, await cluster.object(), { propagation: 'Orphan' });
    await until('detached', hasNoOwner);
    const before = await cluster.primary();
    await removeByName(stage.client, before, { gracePeriodSeconds: 0 });
    await until('another primary', async () =>
      expect((await cluster.primary()).metadata.name).not.toBe(before.metadata.name),
    );
    await stage.createPostgres('p', spec);
    await cluster.whole(3, { withinMs: 120_000 });
    return undefined;
  });
});

test('with the operator paused for the cluster, nothing is changed, and Patroni fails over', async () => {
  await underPostgresWriters('paused, and a failover', scenario, async () => {
    await cluster.change({ paused: true });
    await until('paused', async () => expect((await cluster.status()).phase).toBe('Paused'));
    await cluster.change({ instances: 5 });
    const before = await cluster.primary();
    await removeByName(stage.client, before, { gracePeriodSeconds: 0 });
    await until('another primary', async () =>
      expect((await cluster.primary()).metadata.name).not.toBe(before.metadata.name),
    );
    await until('three run', async () => expect((await cluster.pods()).filter(podIsReady)).toHaveLength(3), {
      withinMs: 120_000,
    });
    expect((await cluster.status()).phase).toBe('Paused');
    expect(await cluster.claims()).toHaveLength(3);
    await cluster.change({ instances: 3, paused: false });
    await cluster.whole(3, { withinMs: 120_000 });
    return undefined;
  });
});

test('what was adopted is changed, and deleted, like what was created', async () => {
  await cluster.change({ instances: 2 });
  await cluster.whole(2, { withinMs: 120_000 });
  await cluster.remove();
  await until('everything gone', async () => {
    expect(await cluster.claims()).toEqual([]);
    expect(await cluster.pods()).toEqual([]);
  });
});
