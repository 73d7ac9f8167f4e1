/**
 * An etcd that is full takes no writes until it has room again: by itself where it is full of history or of unused
 * space, and where it is full of keys once somebody has deleted some. All under writers.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { keepEtcdEvidence } from '../support/etcd-evidence.ts';
import { underEtcdWriters } from '../support/etcd-scenario.ts';
import type { EtcdTestCluster } from '../support/etcd-test-cluster.ts';
import { recordResult } from '../support/results.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

const mebibyte = 1024 ** 2;
/** The least that a spec may ask for. */
const quota = 16 * mebibyte;

let stage: Stage;
let cluster: EtcdTestCluster;

beforeAll(async () => {
  stage = await openStage('etcd-space');
  await stage.startOperator();
  cluster = await stage.createEtcd('e', { config: { quotaBackend: '16Mi' }, maintenance: { defrag: { mode: 'Off' } } });
  await cluster.whole(3, { withinMs: 120_000 });
});
afterEach((context) => keepEtcdEvidence(context, stage, cluster));
afterAll(() => stage.close());

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;

async function ask(path: string, body: object = {}): Promise<Readonly<Record<string, unknown>>> {
  const [host = ''] = await cluster.addresses();
  return cluster.ask(host, path, body, 10_000);
}

async function put(key: string, bytes: number): Promise<void> {
  await ask('kv/put', { key: base64(key), value: base64('x'.repeat(bytes)) });
}

/** Writes as many bytes to each of these keys in turn. Resolves with etcd's word when it takes no more. */
async function fill(keyOf: () => string, bytes: number): Promise<string> {
  for (let n = 0; n < 200; n++) {
    const refused = await put(keyOf(), bytes).then(
      () => undefined,
      (error: Error) => error.message,
    );
    if (refused !== undefined) return refused;
  }
  return 'all was written';
}

const alarms = async (): Promise<unknown> => (await ask('maintenance/alarm', { action: 'GET' })).alarms ?? [];

interface Size {
  readonly total: number;
  readonly inUse: number;
}

async function sizeOf(host: string): Promise<Size> {
  const { dbSize, dbSizeInUse } = await cluster.ask(host, 'maintenance/status', {}, 10_000);
  return { total: Number(dbSize), inUse: Number(dbSizeInUse) };
}

/** Names of the pods in the order in which they gave back unused space from a moment on, as they tell themselves. */
async function defragmentedSince(moment: number): Promise<string[]> {
  const told = await Promise.all(
    (await cluster.pods()).map(async ({ metadata: { name } }) =>
      (await cluster.messages(name, moment))
        .filter(({ text }) => text === 'finished defragmenting directory')
        .map(({ at }) => ({ name, at })),
    ),
  );
  return told
    .flat()
    .sort((a, b) => a.at - b.at)
    .map(({ name }) => name);
}

/** Of the databases of all members. */
async function sizes(): Promise<Size[]> {
  return Promise.all((await cluster.addresses()).map(sizeOf));
}

/** The names of all pods, the leader's last. */
async function leaderLast(): Promise<string[]> {
  const leader = (await cluster.leader()).metadata.name;
  const names = (await cluster.pods()).map(({ metadata }) => metadata.name);
  return [...names.filter((name) => name !== leader), leader];
}

test('E11: full of history, it says so, gives its space back one member at a time, and takes writes again', async () => {
  const order = await leaderLast();
  let [said, done] = ['', ''];
  const { gapMs } = await underEtcdWriters('quota used up by history', cluster, async () => {
    const beganAt = Date.now();
    expect(await fill(() => 'filler', mebibyte)).toContain('database space exceeded');
    const at = performance.now();
    const saysSo = async (): Promise<void> => {
      const { phase, conditions } = await cluster.status();
      const reason = expect.stringMatching(/^(FreeingSpace|Defragmenting|MovingLeader|EndingAlarm)$/);
      expect(conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'False', reason }));
      expect(phase).toBe('Degraded');
    };
    await until('the status says so', saysSo, { everyMs: 20 });
    said = seconds(at);
    await until('no alarm is raised', async () => expect(await alarms()).toEqual([]));
    done = seconds(at);
    expect((await sizes()).filter(({ total }) => total * 2 > quota)).toEqual([]);
    expect(await defragmentedSince(beganAt)).toEqual(order);
    await cluster.whole(3);
  });
  await recordResult({
    scenario: 'etcd: quota used up by history',
    measured: `said after ${said}, writes after ${done}`,
  });
  expect(gapMs).toBeLessThan(40_000);
});

test('E11: full of keys, it says what can be done; when they are deleted it takes writes again', async () => {
  let done = '';
  await underEtcdWriters('quota used up by keys', cluster, async () => {
    let keys = 0;
    // Where some of it is unused after all, that is given back first.
    await until(
      'it is full of keys, and says so',
      async () => {
        await fill(() => `hoard/${keys++}`, mebibyte / 8);
        expect([await cluster.ready(), (await cluster.status()).phase]).toEqual(['False QuotaExhausted', 'Blocked']);
      },
      { withinMs: 120_000, everyMs: 500 },
    );
    await ask('kv/deleterange', { key: base64('hoard/'), range_end: base64('hoard0') });
    const deletedAt = performance.now();
    await until('no alarm is raised', async () => expect(await alarms()).toEqual([]));
    done = seconds(deletedAt);
    await cluster.whole(3);
  });
  await recordResult({
    scenario: 'etcd: quota used up by keys, which are deleted',
    measured: `writes ${done} after they are deleted`,
  });
});

test('a database that is mostly unused is made smaller, one member at a time, the leader last, before it is full', async () => {
  const order = await leaderLast();
  const { gapMs } = await underEtcdWriters('planned defragmentation', cluster, async () => {
    for (let n = 0; n < 5; n++) await put('filler', mebibyte);
    const { header } = await ask('kv/deleterange', { key: base64('filler') });
    const { revision } = header as { readonly revision: string };
    await ask('kv/compaction', { revision, physical: true });
    await until('most of every database is unused', async () => {
      const found = await sizes();
      expect(found.filter(({ total, inUse }) => total * 4 < quota || inUse * 2 > total)).toEqual([]);
    });
    const beganAt = Date.now();
    await cluster.change({ maintenance: { defrag: { mode: 'Automatic' } } });
    await until('every database is smaller', async () => {
      expect((await sizes()).filter(({ total }) => total * 4 > quota)).toEqual([]);
    });
    await cluster.whole(3);
    expect(await defragmentedSince(beganAt)).toEqual(order);
    expect(await alarms()).toEqual([]);
  });
  expect(gapMs).toBeLessThan(5_000);
});
