/** An engine that is written with the published package alone: its operator runs, and its cluster is created, scaled, upgraded and deleted. */
import { mkdtempSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../../src/api/object.ts';
import { pods, services, statefulSets } from '../../../src/api/resource.ts';
import type { ClusterStatus } from '../../../src/api/status.ts';
import type { ImageRecipe } from '../../../src/engine/image-recipe.ts';
import type { Pod } from '../../../src/resources/children.ts';
import { imageReference } from '../../../src/sandbox/images/recipe.ts';
import { createProgress } from '../../../src/sandbox/progress.ts';
import { loadImages } from '../../../src/sandbox/sandbox.ts';
import { listAll } from '../../support/kubernetes.ts';
import { bundleOperator, createApp, runIn, tsc } from '../../support/packed-package.ts';
import { memcachedClusters } from '../../support/resources.ts';
import { recordResult } from '../../support/results.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

const [before, after] = ['memcached:1.6', 'memcached:1.6.38'];
const name = 'sessions';

const app = mkdtempSync(join(tmpdir(), 'clusterwright-foreign-'));
let stage: Stage;

beforeAll(async () => {
  createApp(app);
  runIn(app, tsc, ['-p', '.']);
  runIn(app, process.execPath, ['memcached/main.js']);
  const { images: recipes } = (await import(join(app, 'memcached', 'images.js'))) as { images: readonly ImageRecipe[] };
  await loadImages([before, after], { recipes }, createProgress());
  stage = await openStage('foreign');
  for (const file of await readdir(join(app, 'dist'))) {
    const documents = parseAllDocuments(await readFile(join(app, 'dist', file), 'utf8'));
    const objects = documents.map((document) => document.toJS() as KubeObject);
    for (const crd of objects.filter(({ metadata }) => metadata.name === 'memcachedclusters.caches.example.com')) {
      await stage.client.apply(crd, { force: true });
    }
  }
  await until('the CRD served', () => listAll(stage.client, memcachedClusters, 'default'), { withinMs: 30_000 });
  await stage.startOperator(bundleOperator(join(app, 'memcached')));
}, 300_000);

afterAll(async () => {
  await stage.close();
  await rm(app, { recursive: true });
});

test('a cache is created, scaled, upgraded one pod at a time, and deleted', async () => {
  const ref = { resource: memcachedClusters, namespace: stage.namespace, name };
  const seconds = stopwatch();
  await stage.client.create({
    apiVersion: 'caches.example.com/v1',
    kind: 'MemcachedCluster',
    metadata: { name, namespace: stage.namespace },
    spec: { replicas: 3, image: imageReference(before) },
  });
  const created = await whole(3);
  await recordResult({ scenario: 'foreign engine: created', measured: `Ready after ${seconds()} s` });
  await Promise.all(created.map(answers));

  await stage.client.mergePatch(ref, { spec: { replicas: 5 } });
  const five = await whole(5);
  expect(uidsOf(five)).toEqual(expect.arrayContaining([...uidsOf(created)]));

  await stage.client.mergePatch(ref, { spec: { image: imageReference(after) } });
  let fewest = 5;
  const upgraded = await until(
    'every pod runs the other image',
    async () => {
      const found = await podsOf();
      fewest = Math.min(fewest, found.filter(isReady).length);
      expect(found.map((pod) => pod.spec?.containers?.[0]?.image)).toEqual(Array(5).fill(imageReference(after)));
      return found;
    },
    { withinMs: 180_000 },
  );
  expect(fewest).toBeGreaterThanOrEqual(4);
  await whole(5);
  expect(upgraded.every(({ metadata }) => !uidsOf(five).includes(metadata.uid ?? ''))).toBe(true);

  const { metadata } = await stage.client.get(ref);
  await stage.client.remove({ ...ref, uid: metadata.uid ?? '' });
  await until('nothing left', async () => {
    for (const resource of [memcachedClusters, statefulSets, services, pods]) {
      const left = await listAll(stage.client, resource, stage.namespace);
      expect(left.map(({ metadata }) => metadata.name)).toEqual([]);
    }
  });
}, 600_000);

async function whole(replicas: number): Promise<readonly Pod[]> {
  return until(
    `${replicas} pods ready`,
    async () => {
      const { metadata, status } = await stage.client.get({
        resource: memcachedClusters,
        namespace: stage.namespace,
        name,
      });
      const { phase, readyReplicas, observedGeneration } = status as ClusterStatus;
      expect({ phase, readyReplicas, observedGeneration }).toEqual({
        phase: 'Ready',
        readyReplicas: replicas,
        observedGeneration: metadata.generation,
      });
      return podsOf();
    },
    { withinMs: 120_000 },
  );
}

async function podsOf(): Promise<readonly Pod[]> {
  return (await listAll(stage.client, pods, stage.namespace)) as readonly Pod[];
}

const uidsOf = (found: readonly Pod[]): readonly string[] => found.map(({ metadata }) => metadata.uid ?? '');
const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: state }) => type === 'Ready' && state === 'True') ?? false;

/** It keeps what a client gives it. */
async function answers({ status }: Pod): Promise<void> {
  const socket = connect({ host: status?.podIP, port: 11211 });
  try {
    let text = '';
    socket.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    socket.write('set key 0 0 5\r\nvalue\r\nget key\r\n');
    await until('memcached answers', async () => expect(text).toContain('VALUE key 0 5\r\nvalue\r\nEND'));
  } finally {
    socket.destroy();
  }
}

function stopwatch(): () => string {
  const begun = performance.now();
  return () => ((performance.now() - begun) / 1000).toFixed(1);
}
