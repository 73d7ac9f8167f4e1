/**
 * E10: members whose data comes apart while they run, on real pods. One byte is changed in the database that a member has
 * mapped; etcd finds it when it compares, after a compaction or when a member starts.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { corruptAnnotation, retiredAnnotation } from '../../../src/engines/etcd/names.ts';
import { killProcess } from '../../../src/sandbox/faults/process.ts';
import { volumeDirectory } from '../../../src/sandbox/faults/volume.ts';
import { keepEtcdEvidence } from '../../support/etcd-evidence.ts';
import { changeInPlace } from '../../support/etcd-story.ts';
import type { EtcdTestCluster } from '../../support/etcd-test-cluster.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

const run = promisify(execFile);
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const known = 'x'.repeat(3000);
/** etcd compares once a minute what a compaction has left. */
const comparedWithinMs = 150_000;

let stage: Stage;
let cluster: EtcdTestCluster;

beforeAll(async () => {
  stage = await openStage('etcd-corruption');
  await stage.startOperator();
});
afterEach((context) => keepEtcdEvidence(context, stage, cluster));
afterAll(() => stage.close());

async function made(name: string): Promise<{ readonly leader: string; readonly followers: readonly string[] }> {
  cluster = await stage.createEtcd(name, { deletionPolicy: 'Delete' });
  await cluster.whole(3, { withinMs: 120_000 });
  const [host = ''] = await cluster.addresses();
  for (let n = 0; n < 8; n++) await cluster.ask(host, 'kv/put', { key: base64(`known/${n}`), value: base64(known) });
  const leader = (await cluster.leader()).metadata.name;
  const names = (await cluster.pods()).map(({ metadata }) => metadata.name);
  return { leader, followers: names.filter((name) => name !== leader) };
}

/** `letter`: members that get the same one hold the same. It is done again where the member was about to write that page anew. */
async function changeDataOf(pod: string, letter: string): Promise<void> {
  const { podIP = '' } = (await cluster.pod(pod)).status ?? {};
  const volume = await volumeDirectory({ namespace: stage.namespace, name: pod });
  const hash = async (): Promise<unknown> => (await cluster.ask(podIP, 'maintenance/hashkv', { revision: '9' })).hash;
  const before = await hash();
  await until('it holds other data', async () => {
    changeInPlace(join(volume, 'data/member/snap/db'), 'x'.repeat(2000), `${'x'.repeat(1999)}${letter}`);
    expect(await hash()).not.toBe(before);
  });
  // Longer than it takes to write what is left to write.
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(await hash()).not.toBe(before);
}

async function compact(): Promise<void> {
  const [host = ''] = await cluster.addresses();
  await cluster.ask(host, 'kv/compaction', { revision: '5', physical: true });
}

const alarms = async (): Promise<unknown> => {
  const [host = ''] = await cluster.addresses();
  return (await cluster.ask(host, 'maintenance/alarm', { action: 'GET' })).alarms ?? [];
};

async function etcdctl(pod: string, ...words: readonly string[]): Promise<string> {
  const { stdout } = await run('kubectl', ['-n', stage.namespace, 'exec', pod, '--', 'etcdctl', ...words]);
  return stdout;
}

const marksOf = async (pod: string): Promise<readonly boolean[]> => {
  const claim = (await cluster.claims()).find(({ metadata }) => metadata.name === `data-${pod}`);
  return [retiredAnnotation, corruptAnnotation].map((mark) => claim?.metadata.annotations?.[mark] !== undefined);
};

/** Blocked and stalled, and then nobody is removed, started or made for as long as this. */
async function standsStill(): Promise<string> {
  await until('the status says so', async () => expect(await cluster.ready()).toBe('False DataCorrupt'), {
    withinMs: comparedWithinMs,
  });
  const [before, pods] = [await cluster.view(), (await cluster.pods()).map(({ metadata }) => metadata.uid)];
  await new Promise((resolve) => setTimeout(resolve, 15_000));
  expect(await cluster.view()).toEqual(before);
  expect((await cluster.pods()).map(({ metadata }) => metadata.uid)).toEqual(pods);
  const { phase, conditions } = await cluster.status();
  expect(phase).toBe('Blocked');
  expect(conditions).toContainEqual(
    expect.objectContaining({ type: 'Stalled', status: 'True', reason: 'DataCorrupt' }),
  );
  return conditions?.find(({ type }) => type === 'Ready')?.message ?? '';
}

test('a follower that etcd names is removed, its alarm ends, and a new one takes its place', async () => {
  const { followers } = await made('named');
  const [victim = ''] = followers;
  await changeDataOf(victim, 'y');
  await compact();
  await until(
    'it has been removed',
    async () => expect((await cluster.pods()).map(({ metadata }) => metadata.name)).not.toContain(victim),
    { withinMs: comparedWithinMs },
  );
  await cluster.whole(3, { withinMs: 120_000 });
  expect(await alarms()).toEqual([]);
  expect(await marksOf(victim)).toEqual([true, true]);
  const [host = ''] = await cluster.addresses();
  await cluster.ask(host, 'kv/put', { key: base64('after'), value: base64('1') });
});

test('an alarm that names nobody stays until a person has decided, with the means of the page', async () => {
  const { leader, followers } = await made('nobody');
  const [one = '', two = ''] = followers;
  await changeDataOf(one, 'y');
  await changeDataOf(two, 'z');
  await compact();
  expect(await standsStill()).toContain('etcd has raised CORRUPT and names no member');
  expect(await alarms()).toEqual([{ alarm: 'CORRUPT' }]);
  expect(await etcdctl(leader, 'alarm', 'list')).toContain('alarm:CORRUPT');
  const hashes = await etcdctl(leader, 'endpoint', 'hashkv', '--cluster');
  expect(
    new Set(
      hashes
        .trim()
        .split('\n')
        .map((line) => line.split(', ')[1]),
    ).size,
  ).toBe(3);
  await etcdctl(leader, 'get', '--prefix', '', '--consistency=s', '--write-out=json');
  const members = (await cluster.status()).members ?? [];
  for (const pod of followers) {
    const id = members.find(({ name }) => name === pod)?.id ?? '';
    await until(`${pod} removed`, () => etcdctl(leader, 'member', 'remove', id));
    await until(`the process of ${pod} stopped`, async () =>
      expect((await cluster.pods()).map(({ metadata }) => metadata.name)).not.toContain(pod),
    );
  }
  expect(await alarms()).toEqual([{ alarm: 'CORRUPT' }]);
  await until('one state is left', async () => {
    const { conditions } = await cluster.status();
    expect(conditions?.find(({ type }) => type === 'Ready')?.message).toContain(`(one state in ${leader})`);
  });
  await etcdctl(leader, 'alarm', 'disarm');
  await cluster.whole(3, { withinMs: 180_000 });
  // The policy is Delete: they are kept, since they went while data was in doubt.
  expect([await marksOf(one), await marksOf(two)].map(([isRetired]) => isRetired)).toEqual([true, true]);
});

test('a good follower that does not start beside a leader whose data is wrong is not taken for the wrong one', async () => {
  const { leader, followers } = await made('leader');
  const [good = '', other = ''] = followers;
  await changeDataOf(leader, 'y');
  await killProcess({ namespace: stage.namespace, name: good });
  expect(await standsStill()).toContain(`${good} found data that differs from its own, and does not start`);
  const { stdout } = await run('kubectl', ['-n', stage.namespace, 'logs', good, '--previous']);
  const differing = stdout.split('\n').filter((line) => line.includes('found different hash'));
  expect(differing.every((line) => line.includes(leader) && !line.includes(other))).toBe(true);
  for (const pod of [leader, good]) await run('kubectl', ['-n', stage.namespace, 'delete', 'pod', pod]);
  await cluster.whole(3, { withinMs: 300_000 });
  const names = (await cluster.pods()).map(({ metadata }) => metadata.name);
  expect([leader, good, other].map((pod) => names.includes(pod))).toEqual([false, true, true]);
  expect(await marksOf(leader)).toEqual([true, true]);
});
