import { afterEach, expect, it } from 'vitest';
import type { Cluster } from '../../src/api/cluster.ts';
import type { KubeObject, ObjectMeta } from '../../src/api/object.ts';
import { deletionFinalizer } from '../../src/plan/deletion.ts';
import { settled } from '../../src/plan/plan.ts';
import { clusterKey } from '../../src/runtime/cache.ts';
import { type ReconcilerRig, reconcilerRig } from '../support/reconciler-rig.ts';
import { ready, testChild, testCluster, testEngine } from '../support/test-engine.ts';

let rig: ReconcilerRig;
afterEach(() => rig.stop());

/** More than is kept of one object, in a form that the API server takes: quotes count twice in JSON. */
const long = '"'.repeat(200_000);
const many = Array.from({ length: 2_000 }, (_, i) => `example.com/${'f'.repeat(150)}-${i}`);

async function begin(metadata: Partial<ObjectMeta>, more: Partial<KubeObject> = {}): Promise<Cluster[]> {
  const seen: Cluster[] = [];
  const engine = testEngine({
    assess: async (cluster) => {
      seen.push(cluster);
      return {
        plan: { steps: [], outcome: settled },
        status: { phase: 'Ready', conditions: ready },
        act: async () => undefined,
      };
    },
  });
  rig = await reconcilerRig([{ ...testCluster('db', { mode: 'Standalone', replicas: 1 }, metadata), ...more }], engine);
  return seen;
}

/** As the controller takes it from the cache. */
function held(): KubeObject {
  const found = rig.cache.cluster(rig.engine, 'apps', 'db');
  if (found === undefined) throw new Error('the cluster is not in the cache');
  return found;
}

it('a cluster with a large annotation of somebody else is what its spec, its status and our annotations say', async () => {
  const annotations = { 'example.com/notes': long, 'clusterwright.dev/recover-from': 'db-1' };
  const seen = await begin({ annotations }, { status: { initialized: true } });
  await rig.pass(held());
  expect(seen).toMatchObject([
    {
      metadata: { annotations: { 'clusterwright.dev/recover-from': 'db-1' } },
      spec: { mode: 'Standalone', replicas: 1 },
      status: { initialized: true },
    },
  ]);
});

it.each<[string, Partial<ObjectMeta>]>([
  ['is there', {}],
  ['is being deleted', { deletionTimestamp: '2030-01-01T00:00:00Z' }],
])('a cluster that is too large to be kept and %s is not taken for one without a spec', async (_, metadata) => {
  const finalizers = [deletionFinalizer, ...many];
  const seen = await begin({ ...metadata, finalizers }, { status: { initialized: true } });
  const result = await rig.pass(held());
  expect(seen).toEqual([]);
  expect(rig.api.writes).toEqual([]);
  const message = expect.stringMatching(/^RedisCluster db is larger than 256 KiB/);
  expect(result).toEqual({ outcome: { state: 'blocked', reason: 'TooLarge', message }, again: 30_000 });
  expect(rig.outcomes).toEqual([result.outcome]);
});

it('a child that is too large to be kept is not taken for an empty one: the status says so', async () => {
  const seen = await begin({}, { status: { initialized: true, members: [] } });
  const child = testChild(rig.cluster(), 'ConfigMap');
  const withNotes = (notes: string): KubeObject => {
    const annotations = { 'example.com/notes': notes };
    return rig.api.put({ ...child, metadata: { ...child.metadata, annotations } });
  };
  rig.cache.observeWrite(withNotes(long));
  expect(rig.cache.children(clusterKey('test', 'apps', 'db')).objects).toHaveLength(1);
  expect(await rig.pass(held())).toMatchObject({ outcome: { state: 'blocked', reason: 'TooLarge' }, again: 30_000 });
  expect(seen).toEqual([]);
  expect(rig.status()).toMatchObject({ phase: 'Blocked', initialized: true });
  expect(rig.condition('Ready')).toMatch(/^False TooLarge: ConfigMap db is larger than 256 KiB/);
  rig.cache.observeWrite(withNotes('short'));
  await rig.pass(held());
  expect(seen).toHaveLength(1);
});
