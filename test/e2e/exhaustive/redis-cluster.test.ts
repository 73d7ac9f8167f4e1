/**
 * A Redis Cluster in a living Kubernetes, under writers whose client is not ours: made, its primaries killed, all its pods gone at once, a volume
 * lost, restarted, and shards that come and go with their slots.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { restartAnnotation, switchoverAnnotation } from '../../../src/api/maintenance.ts';
import { persistentVolumeClaims, services } from '../../../src/api/resource.ts';
import type { Pod } from '../../../src/resources/children.ts';
import { killProcess } from '../../../src/sandbox/faults/process.ts';
import { listAll, removeByName } from '../../support/kubernetes.ts';
import type { TestCluster } from '../../support/redis-cluster.ts';
import { statusOf } from '../../support/redis-view.ts';
import { redisClusters } from '../../support/resources.ts';
import { recordResult } from '../../support/results.ts';
import { openShardsLedger, type ShardsLedger } from '../../support/shards-ledger.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { type Patience, until } from '../../support/until.ts';

const name = 'c';
const quick = 400_000;

let stage: Stage;
let cluster: TestCluster;

beforeAll(async () => {
  stage = await openStage('redis-cluster');
  await stage.startOperator();
});
afterAll(() => stage.close());

const members = async () => statusOf(await cluster.object()).members ?? [];
const primaries = async (): Promise<string[]> =>
  (await members()).filter(({ role }) => role === 'primary').map((one) => one.name);
const dataPods = async (): Promise<readonly Pod[]> => (await cluster.pods()).data;

/** Of the Service with all nodes, where clients begin. */
async function entrance(): Promise<string> {
  const service = await stage.client.get({ resource: services, namespace: stage.namespace, name: `${name}-nodes` });
  return (service.spec as { readonly clusterIP: string }).clusterIP;
}

/** The status says so, of the spec as it is now, and so does every node. */
async function whole(shards: number, replicas = 1, patience: Patience = {}): Promise<void> {
  await until(
    `${shards} shards whole`,
    async () => {
      const object = await cluster.object();
      const { phase, observedGeneration, members: told = [], conditions } = statusOf(object);
      const ready = conditions?.find(({ type }) => type === 'Ready');
      expect({ phase, words: ready?.message }).toMatchObject({ phase: 'Ready' });
      expect(observedGeneration).toBe(object.metadata.generation);
      const pods = await dataPods();
      expect(pods).toHaveLength(shards * (replicas + 1));
      expect(told.filter(({ role }) => role === 'primary')).toHaveLength(shards);
      for (const pod of pods) {
        const info = String(await cluster.ask(pod, 'CLUSTER', 'INFO'));
        expect(info).toMatch(/cluster_state:ok/);
        expect(info).toMatch(/cluster_slots_ok:16384/);
        expect(info).toMatch(new RegExp(`cluster_known_nodes:${pods.length}\r?$`, 'm'));
      }
    },
    { withinMs: 180_000, ...patience },
  );
}

/** Runs `fault` under writers of a dozen slots. */
async function underWriters(scenario: string, fault: (ledger: ShardsLedger) => Promise<void>) {
  const ledger = await openShardsLedger({
    host: await entrance(),
    password: await cluster.password(),
    ...{ writers: 12, run: scenario.replaceAll(/\W+/g, '-') },
  });
  const written = async (count: number): Promise<void> => {
    const goal = ledger.acknowledged + count;
    await until(`${count} writes`, () => expect(ledger.acknowledged).toBeGreaterThanOrEqual(goal));
  };
  await written(500);
  const quietP99 = ledger.p99SinceMark();
  ledger.mark();
  await fault(ledger);
  await written(500);
  const [gapMs, p99] = [ledger.gapSinceMark(), ledger.p99SinceMark()];
  const { acknowledged, lost } = await ledger.close();
  const measured = `99 % of writes within ${p99.toFixed(1)} ms, before ${quietP99.toFixed(1)} ms`;
  await recordResult({ scenario, gapMs, acknowledged, lost: lost.length, measured });
  expect(lost.slice(0, 10)).toEqual([]);
  return { gapMs, acknowledged };
}

const annotate = (annotation: string, value: string): Promise<unknown> =>
  stage.client.mergePatch(
    { resource: redisClusters, namespace: stage.namespace, name },
    { metadata: { annotations: { [annotation]: value } } },
  );

describe('a Redis Cluster', () => {
  test(
    'forms three shards with a replica each',
    async () => {
      const began = performance.now();
      cluster = await stage.create(name, { mode: 'Cluster', storage: { size: '1Gi' } });
      await whole(3);
      await recordResult({
        scenario: 'Redis Cluster: created',
        measured: `whole after ${((performance.now() - began) / 1000).toFixed(1)} s`,
      });
      expect((await members()).map(({ name: pod, slots }) => [pod.slice(0, -2), slots]).filter(([, s]) => s)).toEqual([
        ['c-s0', '0-5460'],
        ['c-s1', '5461-10921'],
        ['c-s2', '10922-16383'],
      ]);
      // Which one, the scheduler decides.
      expect(['Optimal', 'BestEffort']).toContain(statusOf(await cluster.object()).placement);
    },
    quick,
  );

  test(
    'goes on when the process of a primary is killed',
    async () => {
      const [victim = ''] = await primaries();
      const { gapMs } = await underWriters('Redis Cluster: primary killed', async () => {
        await killProcess({ namespace: stage.namespace, name: victim });
        await whole(3);
      });
      expect(gapMs).toBeLessThan(15_000);
    },
    quick,
  );

  test(
    'hands over before the pod of a primary is deleted',
    async () => {
      const [victim = ''] = await primaries();
      const before = await cluster.pod(victim);
      const { gapMs } = await underWriters("Redis Cluster: primary's pod deleted", async () => {
        await removeByName(stage.client, before);
        await until('a new pod', async () => {
          expect((await cluster.pod(victim)).metadata.uid).not.toBe(before.metadata.uid);
        });
        await whole(3);
      });
      expect(gapMs).toBeLessThan(5_000);
    },
    quick,
  );

  test('switches over on request, and restarts on request, a primary after its replica has taken over', async () => {
    const replica = (await members()).find(({ role }) => role === 'replica')?.name ?? '';
    const uids = async () => (await dataPods()).map(({ metadata }) => metadata.uid);
    const before = await uids();
    const { gapMs } = await underWriters('Redis Cluster: switchover and restart', async () => {
      await annotate(switchoverAnnotation, replica);
      await until(`${replica} primary`, async () => expect(await primaries()).toContain(replica));
      await whole(3);
      await annotate(restartAnnotation, 'once');
      await until(
        'all restarted',
        async () => {
          const now = await uids();
          expect(now).toHaveLength(6);
          expect(now.filter((uid) => before.includes(uid))).toEqual([]);
        },
        { withinMs: 300_000 },
      );
      await whole(3);
    });
    expect(gapMs).toBeLessThan(5_000);
  }, 600_000);

  test('gets a shard and gives it up again, with the slots and keys, under writers', async () => {
    const shares = async (): Promise<Record<string, number>> =>
      Object.fromEntries(
        (await members())
          .filter(({ role }) => role === 'primary')
          .map(({ shard = '', slots = '' }) => [shard, slotsIn(slots)]),
      );
    const added = await underWriters('Redis Cluster: 3 to 4 shards', async () => {
      await cluster.change({ shards: 4 });
      await whole(4, 1, { withinMs: 400_000 });
    });
    expect(Object.values(await shares())).toEqual([4096, 4096, 4096, 4096]);
    expect(added.gapMs).toBeLessThan(3_000);
    const removed = await underWriters('Redis Cluster: 4 to 3 shards', async () => {
      await cluster.change({ shards: 3 });
      await whole(3, 1, { withinMs: 400_000 });
    });
    expect(Object.keys(await shares())).toEqual(['c-s0', 'c-s1', 'c-s2']);
    expect(removed.gapMs).toBeLessThan(3_000);
    const claims = await listAll(stage.client, persistentVolumeClaims, stage.namespace);
    expect(claims.filter(({ metadata }) => metadata.name.startsWith('data-c-s3-'))).toHaveLength(2);
  }, 900_000);

  test(
    'all its pods at once come back with their keys and IDs',
    async () => {
      const ids = async () => (await members()).map(({ id }) => id).sort();
      const before = [...(await dataPods())];
      const idsBefore = await ids();
      const ledger = await openShardsLedger({
        host: await entrance(),
        password: await cluster.password(),
        ...{ writers: 2, run: 'kept' },
      });
      await until('200 writes', () => expect(ledger.acknowledged).toBeGreaterThan(200));
      await Promise.all(before.map((pod) => removeByName(stage.client, pod)));
      await until('new pods', async () => {
        const uids = (await dataPods()).map(({ metadata }) => metadata.uid);
        expect(uids).toHaveLength(before.length);
        expect(before.filter(({ metadata }) => uids.includes(metadata.uid))).toEqual([]);
      });
      await whole(3);
      const lostNow = await ledger.close();
      expect(lostNow.lost.slice(0, 10)).toEqual([]);
      expect(await ids()).toEqual(idsBefore);
    },
    quick,
  );
});

/** Of `0-5460 6000`. */
function slotsIn(text: string): number {
  return text.split(/[ ,]+/).reduce((sum, range) => {
    const [first, last = first] = range.split('-').map(Number);
    return sum + Number(last) - Number(first) + 1;
  }, 0);
}
