/** Members of a PostgresCluster that hang, lose their volumes, or are lost together. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Pod } from '../../../src/resources/children.ts';
import { cutFromApi, cutPods, healFromApi, healPods } from '../../../src/sandbox/faults/cut.ts';
import { killProcess } from '../../../src/sandbox/faults/process.ts';
import { removeByName } from '../../support/kubernetes.ts';
import { keepPostgresEvidence } from '../../support/postgres-evidence.ts';
import { openPostgresLedger } from '../../support/postgres-ledger.ts';
import { type PostgresScenario, underPostgresWriters } from '../../support/postgres-scenario.ts';
import type { PostgresTestCluster } from '../../support/postgres-test-cluster.ts';
import { postgresClusters } from '../../support/resources.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;
let cluster: PostgresTestCluster;
let scenario: PostgresScenario;

beforeAll(async () => {
  stage = await openStage('postgres-loss');
  await stage.startOperator();
  cluster = await stage.createPostgres('p');
  await cluster.whole(3);
  scenario = { cluster, ledger: await openPostgresLedger({ cluster }) };
});
afterEach((context) => keepPostgresEvidence(context, stage, cluster));
afterAll(() => stage.close());

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;
const refOf = ({ metadata: { name } }: Pod) => ({ namespace: stage.namespace, name });

async function movedFrom(name: string): Promise<void> {
  await until('another primary', async () => expect((await cluster.primary()).metadata.name).not.toBe(name));
}

test('Patroni of the primary hangs: the kubelet ends it, and another one is elected', async () => {
  const before = await cluster.primary();
  const { gapMs } = await underPostgresWriters('Patroni of the primary frozen', scenario, async () => {
    // The first process of the container only starts Patroni, and passes signals on.
    await cluster.shell(before.metadata.name, 'kill -STOP $(pgrep -P 1 -f patroni)');
    const restartsOf = ({ status }: Pod): number => status?.containerStatuses?.[0]?.restartCount ?? 0;
    await until('the kubelet has ended it', async () => {
      expect(restartsOf(await cluster.pod(before.metadata.name))).toBeGreaterThan(restartsOf(before));
    });
    await cluster.whole(3);
    return undefined;
  });
  expect(gapMs).toBeLessThan(48_000);
});

test.each([
  ['a standby', () => cluster.standbys().then(([first]) => first)],
  ['the primary', () => cluster.primary()],
] as const)(
  'the volume of %s is lost: the member is whole again, with the data of the others',
  async (what, choose) => {
    const victim = await choose();
    if (victim === undefined) throw new Error('there is no such member');
    const { name } = victim.metadata;
    const wasPrimary = (await cluster.primary()).metadata.name === name;
    const { gapMs } = await underPostgresWriters(`volume of ${what} lost`, scenario, async () => {
      const claim = (await cluster.claims()).find(({ metadata }) => metadata.name === `data-${name}`);
      if (claim === undefined) throw new Error('it has no claim');
      await removeByName(stage.client, claim);
      await removeByName(stage.client, victim, { gracePeriodSeconds: 0 });
      if (wasPrimary) await movedFrom(name);
      await until('its volume is another one, or it has been replaced', async () => {
        expect((await cluster.claims()).map(({ metadata }) => metadata.uid)).not.toContain(claim.metadata.uid);
      });
      await cluster.whole(3, { withinMs: 240_000 });
      return undefined;
    });
    expect(gapMs).toBeLessThan(48_000);
  },
);

test('the settings of a standby are not those that its Patroni has read: Patroni compares them again', async () => {
  const [standby] = await cluster.standbys();
  if (standby === undefined) throw new Error('there is no standby');
  const { name } = standby.metadata;
  await underPostgresWriters('settings of a standby lost', scenario, async () => {
    await cluster.shell(name, "sed -i '/clusterwright.config/d' /var/lib/postgresql/data/postgresql.conf");
    await cluster.sql(name, 'SELECT pg_reload_conf()');
    // Otherwise the operator asks the members of a cluster that is whole every ten minutes.
    const ref = { resource: postgresClusters, namespace: stage.namespace, name: cluster.name };
    await stage.client.mergePatch(ref, { metadata: { annotations: { 'example.com/touched': 'now' } } });
    await until('said', async () => expect(await cluster.ready()).toBe('False Updating'));
    await cluster.whole(3);
    return undefined;
  });
  expect(await cluster.sql(name, 'SHOW clusterwright.config')).not.toBe('');
});

test('the primary and one standby are lost: nobody is promoted, it says so, and it goes on when they are back', async () => {
  const before = await cluster.primary();
  const [standby, survivor] = await cluster.standbys();
  if (standby === undefined || survivor === undefined) throw new Error('there are too few members');
  await underPostgresWriters('primary and one standby lost', scenario, async () => {
    const startedAt = performance.now();
    const [lost, survives] = [[before, standby].map(refOf), refOf(survivor)];
    // Between two kills, they cannot say how much they have.
    await cutFromApi(lost, 'hang');
    for (const pod of lost) await cutPods(pod, survives);
    let isOver = false;
    const killing = (async () => {
      while (!isOver) {
        for (const pod of lost) await killProcess(pod).catch(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
    })();
    let said = '';
    try {
      await until('it says so', async () => expect(await cluster.ready()).toMatch(/^False (NoPrimary|QuorumLost)/));
      said = seconds(startedAt);
      // Longer than the lock lasts.
      while (performance.now() - startedAt < 45_000) {
        expect(await cluster.sql(survivor.metadata.name, 'select pg_is_in_recovery()')).toBe('t');
        await new Promise((resolve) => setTimeout(resolve, 1000));
      }
    } finally {
      isOver = true;
      await killing;
      await healFromApi(lost);
      for (const pod of lost) await healPods([pod, survives]);
    }
    const backAt = performance.now();
    // The kubelet waits longer with every start.
    await cluster.whole(3, { withinMs: 360_000 });
    return `said after ${said}, not promoted for 45 s, whole ${seconds(backAt)} after the processes stay`;
  });
});
