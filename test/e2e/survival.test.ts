/** Worse than a lost primary: everybody restarts at once, the network splits, a volume is blank. */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { persistentVolumeClaims } from '../../src/api/resource.ts';
import { cutPods, healPods } from '../../src/sandbox/faults/cut.ts';
import { killProcess } from '../../src/sandbox/faults/process.ts';
import { keepEvidence } from '../support/evidence.ts';
import { removeByName } from '../support/kubernetes.ts';
import { connectRedis } from '../support/redis-client.ts';
import type { TestCluster } from '../support/redis-cluster.ts';
import { primaryIn } from '../support/redis-view.ts';
import { persistentVolumes } from '../support/resources.ts';
import { underWriters } from '../support/scenario.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

const size = { data: 3, sentinels: 3 };

let stage: Stage;
let cluster: TestCluster;

beforeAll(async () => {
  stage = await openStage('survival');
  await stage.startOperator();
  cluster = await stage.create('r');
  await cluster.whole(size, { withinMs: 120_000 });
});

afterEach(async (context) => {
  try {
    await keepEvidence(context, stage, cluster);
  } finally {
    await healPods();
  }
});
afterAll(() => stage.close());

describe('the data survives', () => {
  test('a restart of every pod at once, with new addresses for all of them', async () => {
    await underWriters('all pods restarted', stage.client, cluster, async () => {
      const { data, sentinels } = await cluster.pods();
      const before = [...data, ...sentinels];
      await Promise.all(before.map((pod) => removeByName(stage.client, pod)));
      await until('new pods', async () => {
        const now = await cluster.pods();
        const uids = [...now.data, ...now.sentinels].map((pod) => pod.metadata.uid);
        expect(uids).toHaveLength(before.length);
        expect(before.filter((pod) => uids.includes(pod.metadata.uid))).toEqual([]);
      });
      await cluster.whole(size, { withinMs: 180_000 });
    });
  });

  test('a primary that starts on a blank volume before anybody has missed it', async () => {
    const missing = await cluster.load('kept', 1000);
    const before = await cluster.primary();
    await underWriters('primary restarted on a blank volume', stage.client, cluster, async () => {
      await wipeVolume(before.metadata.name);
      await killProcess({ namespace: stage.namespace, name: before.metadata.name });
      await servedByAnother(before.metadata.name);
      const view = await cluster.whole(size, { withinMs: 120_000 });
      expect(primaryIn(view)).not.toBe(before.metadata.name);
    });
    expect(await missing()).toEqual([]);
  });

  test('an old primary that comes back after it was cut off from everybody', async () => {
    const before = await cluster.primary();
    const { name } = before.metadata;
    await underWriters('primary cut off from all others', stage.client, cluster, async () => {
      const { data, sentinels } = await cluster.pods();
      const others = [...data, ...sentinels].filter((pod) => pod.metadata.name !== name);
      await Promise.all(others.map((other) => cutPods(here(name), here(other.metadata.name))));
      await servedByAnother(name);
      await healPods();
      const view = await cluster.whole(size, { withinMs: 120_000 });
      expect(view.data[name]).toMatch(/^follows /);
    });
  });
});

test('a primary that has lost its replicas stops taking writes, and takes them again when they are back', async () => {
  const primary = await cluster.primary();
  const { data } = await cluster.pods();
  const replicas = data.filter((pod) => pod.metadata.name !== primary.metadata.name);
  const write = async (): Promise<unknown> => {
    const connection = await connectRedis(await cluster.entrance(), 1000);
    try {
      return await connection.command('SET', 'written', 'yes');
    } finally {
      connection.close();
    }
  };
  for (const replica of replicas) await cutPods(here(primary.metadata.name), here(replica.metadata.name));
  await until('writes refused', () => expect(write()).rejects.toThrow('NOREPLICAS'), { withinMs: 30_000 });
  expect(primaryIn(await cluster.view())).toBe(primary.metadata.name);
  await healPods();
  await until('writes taken', write);
  await cluster.whole(size, { withinMs: 120_000 });
});

function here(name: string): { readonly namespace: string; readonly name: string } {
  return { namespace: stage.namespace, name };
}

async function servedByAnother(name: string): Promise<void> {
  await until('the Service leads to another primary', async () => {
    const { endpoints } = await cluster.view();
    expect(endpoints).toHaveLength(1);
    expect(endpoints).not.toContain(name);
  });
}

/** Removes all files of a data pod's volume, under the running process. */
async function wipeVolume(pod: string): Promise<void> {
  const claim = await stage.client.get({
    resource: persistentVolumeClaims,
    namespace: stage.namespace,
    name: `data-${pod}`,
  });
  const { volumeName } = claim.spec as { readonly volumeName: string };
  const { spec } = await stage.client.get({ resource: persistentVolumes, name: volumeName });
  const { local, hostPath } = spec as {
    readonly local?: { readonly path: string };
    readonly hostPath?: { readonly path: string };
  };
  const directory = local?.path ?? hostPath?.path;
  if (directory === undefined) throw new Error(`${volumeName} is no directory of this machine`);
  const files = await readdir(directory);
  expect(files).toContain('initialised');
  await Promise.all(files.map((file) => rm(join(directory, file), { recursive: true })));
}
