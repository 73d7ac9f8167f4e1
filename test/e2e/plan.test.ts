/**
 * What is printed is what is done: `clusterwright plan`, as a person runs it, before each change of a living cluster, and
 * then the change. That every single write and action was in the plan of its moment is held in all stories (`stage.ts`).
 */
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../src/api/object.ts';
import { etcdVersions } from '../../src/engines/etcd/images.ts';
import { isNotFound } from '../../src/runtime/api-error.ts';
import {
  atRestIn,
  type Change,
  carriedOutIn,
  changedAsPrinted,
  managedObjects,
  type PlannedCluster,
  shownOf,
  titleOf,
} from '../support/carried-out.ts';
import type { EtcdTestCluster } from '../support/etcd-test-cluster.ts';
import type { OperatorProcess } from '../support/operator-process.ts';
import { heardPlan, type PrintedPlan, planned, printedPlans } from '../support/printed-plan.ts';
import { imageOf, type TestCluster } from '../support/redis-cluster.ts';
import { etcdClusters, redisClusters } from '../support/resources.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

let stage: Stage;
let operator: OperatorProcess;

beforeAll(async () => {
  stage = await openStage('plan');
  operator = await stage.startOperator();
});

afterAll(() => stage.close());

type AnyCluster = PlannedCluster & Pick<TestCluster | EtcdTestCluster, 'remove'>;

const atRest = (subject: string): Promise<void> => atRestIn(stage, subject);
const changed = (cluster: AnyCluster, change: Change): Promise<PrintedPlan> => changedAsPrinted(stage, cluster, change);
const carriedOut = (plan: PrintedPlan, object: KubeObject): Promise<PrintedPlan> => carriedOutIn(stage, plan, object);

/** The plan of a deletion can be printed once it has been asked for: nobody carries it out while no operator runs. */
async function deleted(cluster: AnyCluster): Promise<void> {
  const { kind } = await cluster.object();
  await atRest(`${kind}/${cluster.name}`);
  await operator.stop();
  await cluster.remove();
  const object = await cluster.object();
  const plan = await heardPlan(stage.kubeconfig, `${kind}/${cluster.name}`);
  expect(plan.follows.join()).toMatch(/once no process is left, the data is deleted: PersistentVolumeClaim/);
  operator = await stage.startOperator();
  await carriedOut(plan, object);
  const gone = async (): Promise<void> => {
    const isGone = await cluster.object().then(() => false, isNotFound);
    expect(isGone).toBe(true);
  };
  await until(`${kind}/${cluster.name} gone`, gone, { withinMs: 120_000 });
}

async function uids(cluster: TestCluster | EtcdTestCluster): Promise<readonly (string | undefined)[]> {
  const found = await cluster.pods();
  const pods = 'data' in found ? found.data : found;
  return pods.map(({ metadata }) => metadata.uid);
}

describe('of a RedisCluster', () => {
  let cluster: TestCluster;

  beforeAll(async () => {
    cluster = await stage.create('r', { version: '7.0', deletionPolicy: 'Delete' });
    await cluster.whole({ data: 3, sentinels: 3 });
  });

  test('a setting that changes at run time is told to every node, and nobody restarts', async () => {
    const before = await uids(cluster);
    const { follows } = await changed(cluster as AnyCluster, { config: { 'maxmemory-policy': 'allkeys-lfu' } });
    expect(follows.join()).not.toContain('restart');
    await cluster.whole({ data: 3, sentinels: 3 });
    expect(await uids(cluster)).toEqual(before);
  });

  test('another version restarts the pods that the plan has named', async () => {
    const before = await uids(cluster);
    const { follows } = await changed(cluster as AnyCluster, { version: '8.0', image: imageOf('8.0') });
    expect(follows).toContain('the 3 pod(s) of StatefulSet r restart, one at a time, a primary or leader last');
    await until('new pods', async () => expect((await uids(cluster)).some((uid) => before.includes(uid))).toBe(false), {
      withinMs: 240_000,
    });
    await cluster.whole({ data: 3, sentinels: 3 });
  });

  test('more nodes, and fewer', async () => {
    await changed(cluster as AnyCluster, { replicas: 4 });
    await cluster.whole({ data: 4, sentinels: 3 });
    const { follows } = await changed(cluster as AnyCluster, { replicas: 3 });
    expect(follows).toContain('r-3 leave, one at a time, a primary after it has handed over; their volumes stay');
    await cluster.whole({ data: 3, sentinels: 3 });
  });

  test('its deletion, with its data', () => deleted(cluster as AnyCluster));
});

describe('of an EtcdCluster', () => {
  let cluster: EtcdTestCluster;

  beforeAll(async () => {
    cluster = await stage.createEtcd('e', {
      version: etcdVersions.before.slice(1),
      replicas: 1,
      deletionPolicy: 'Delete',
    });
    await cluster.whole(1);
  });

  test('more members', async () => {
    const { follows } = await changed(cluster as AnyCluster, { replicas: 3 });
    expect(follows).toContain('2 member(s) join, one after the other, with a vote once each has the data');
    await cluster.whole(3);
  });

  test('another version restarts the members', async () => {
    const before = await uids(cluster);
    await changed(cluster as AnyCluster, { version: etcdVersions.current.slice(1) });
    await until('new pods', async () => expect((await uids(cluster)).some((uid) => before.includes(uid))).toBe(false), {
      withinMs: 240_000,
    });
    await cluster.whole(3);
  });

  test('fewer members', async () => {
    await changed(cluster as AnyCluster, { replicas: 1 });
    await cluster.whole(1);
  });

  test('its deletion, with its data', () => deleted(cluster as AnyCluster));
});

describe('of the samples', () => {
  test('an offline plan holds the objects that a new cluster gets', async () => {
    const text = await readFile(join(import.meta.dirname, '../../dist/0002-samples.k8s.yaml'), 'utf8');
    const here = text.replaceAll('clusterwright-samples', stage.namespace);
    const file = join(dirname(stage.kubeconfig), 'samples.yaml');
    const documents = parseAllDocuments(here)
      .map((document) => document.toJS() as KubeObject)
      // That of PostgreSQL is in `exhaustive/postgres-plan.test.ts`.
      .filter(({ kind }) => kind !== 'PostgresCluster');
    await writeFile(file, documents.map((document) => JSON.stringify(document)).join('\n---\n'));
    const plans = await printedPlans(stage.kubeconfig, '--offline', file);
    expect(plans.map(({ kind }) => kind)).toEqual(['RedisCluster', 'EtcdCluster']);
    // Against the cluster, as there is nothing yet, it is the same.
    expect((await printedPlans(stage.kubeconfig, file)).map(planned)).toEqual(plans.map(planned));

    for (const object of documents) if (object.kind !== 'Namespace') await stage.client.create(object);
    for (const plan of plans) {
      const ref = { kind: plan.kind, metadata: { name: plan.name, generation: 1 } } as KubeObject;
      await carriedOut(plan, ref);
    }
    for (const { name, kind, plan } of plans) {
      await until(`${name} at rest`, () => atRest(`${kind}/${name}`));
      const resource = kind === 'RedisCluster' ? redisClusters : etcdClusters;
      const { uid = '' } = (await stage.client.get({ resource, namespace: stage.namespace, name })).metadata;
      // A plan without a cluster knows no UID.
      const live = JSON.parse(JSON.stringify(await managedObjects(stage, name)).replaceAll(uid, name)) as KubeObject[];
      const shown = plan.steps.flatMap((step) =>
        step.type === 'create' || step.type === 'issue' ? [step.object] : [],
      );
      expect(live.map(titleOf).sort()).toEqual(shown.map(titleOf).sort());
      for (const object of shown) {
        expect(live.find((one) => titleOf(one) === titleOf(object))).toMatchObject(shownOf(object));
      }
    }
  });
});
