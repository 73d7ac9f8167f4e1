/**
 * E10: a member whose data is damaged says so and is replaced: removed first, then another one is added. Under writers,
 * and with the machine that it ran on as it was: what is damaged is the volume alone.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { retiredAnnotation } from '../../src/engines/etcd/names.ts';
import { killProcess } from '../../src/sandbox/faults/process.ts';
import { volumeDirectory } from '../../src/sandbox/faults/volume.ts';
import { keepEtcdEvidence } from '../support/etcd-evidence.ts';
import { underEtcdWriters } from '../support/etcd-scenario.ts';
import { damage, recordsOf, replaceIn } from '../support/etcd-story.ts';
import type { EtcdTestCluster } from '../support/etcd-test-cluster.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

let stage: Stage;
let cluster: EtcdTestCluster;

const base64 = (text: string): string => Buffer.from(text).toString('base64');
/** Long enough to be found in the file of the database. */
const known = 'x'.repeat(3000);

beforeAll(async () => {
  stage = await openStage('etcd-damage');
  await stage.startOperator();
  cluster = await stage.createEtcd('e');
  await cluster.whole(3, { withinMs: 120_000 });
  const [host = ''] = await cluster.addresses();
  for (let n = 0; n < 8; n++) await cluster.ask(host, 'kv/put', { key: base64(`known/${n}`), value: base64(known) });
});
afterEach((context) => keepEtcdEvidence(context, stage, cluster));
afterAll(() => stage.close());

const database = (volume: string): string => join(volume, 'data/member/snap/db');

/** In the tenth record, an entry: so many bytes after the length that stands before it, which tells where the next one is. */
async function damageLog(volume: string, after: number): Promise<void> {
  const directory = join(volume, 'data/member/wal');
  const [oldest = ''] = (await readdir(directory)).filter((name) => name.endsWith('.wal')).sort();
  const file = join(directory, oldest);
  const record = recordsOf(file)[9];
  if (record === undefined) throw new Error(`${file} has fewer than ten records`);
  damage(file, record + after);
}

test.each<[how: string, harm: (volume: string) => Promise<void> | void]>([
  ['its log', (volume) => damageLog(volume, 40)],
  ['its log, which etcd takes for the end of it', (volume) => damageLog(volume, 0)],
  ['its database', (volume) => damage(database(volume), 20, 4116)],
  [
    'one byte that only a comparison shows',
    (volume) => replaceIn(database(volume), 'x'.repeat(2000), `${'x'.repeat(1999)}y`),
  ],
])('a member is damaged in %s: it is removed, and a new one takes its place', async (how, harm) => {
  const leader = (await cluster.leader()).metadata.name;
  const pods = await cluster.pods();
  const victim = pods.find(({ metadata }) => metadata.name !== leader);
  if (victim === undefined) throw new Error('there is nobody but the leader');
  const { name } = victim.metadata;
  const ref = { namespace: stage.namespace, name };
  await underEtcdWriters(`a member damaged in ${how}`, cluster, async () => {
    const beganAt = Date.now();
    const volume = await volumeDirectory(ref);
    // Stopped first: a process that runs would write over the damage.
    await killProcess(ref, { signal: 'SIGSTOP' });
    await harm(volume);
    await killProcess(ref);
    await until('the status says so', async () => expect(await cluster.ready()).toMatch(/^False/), { everyMs: 20 });
    await until('it has been replaced', async () => {
      const names = (await cluster.pods()).map((pod) => pod.metadata.name);
      expect(names).not.toContain(name);
      expect(names.length).toBe(3);
    });
    await cluster.whole(3, { withinMs: 120_000 });
    const changes = (await cluster.messages(leader, beganAt)).filter(({ text }) => / member$/.test(text));
    expect(changes.map(({ text }) => text)).toEqual(['removed member', 'added member', 'promote member']);
  });
  const kept = (await cluster.claims()).find(({ metadata }) => metadata.name === `data-${name}`);
  expect(kept?.metadata.annotations?.[retiredAnnotation]).toBeDefined();
});
