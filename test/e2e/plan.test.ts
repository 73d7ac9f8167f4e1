/**
 * What is printed is what is done: `clusterwright plan`, as a person runs it, before each change of a living cluster, and
 * then the change. That every single write and action was in the plan of its moment is held in all stories (`stage.ts`).
 */
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { childResources, optionalResources } from '../../src/api/child-resources.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { secrets } from '../../src/api/resource.ts';
import { etcdVersions } from '../../src/engines/etcd/images.ts';
import { fingerprintAnnotation } from '../../src/plan/difference.ts';
import { instanceLabel, managedBy, managedByLabel } from '../../src/resources/metadata.ts';
import { isNotFound } from '../../src/runtime/api-error.ts';
import type { EtcdTestCluster } from '../support/etcd-test-cluster.ts';
import { readForesight } from '../support/foresight-report.ts';
import { listAll } from '../support/kubernetes.ts';
import type { OperatorProcess } from '../support/operator-process.ts';
import { doneAtFirst, heardPlan, type PrintedPlan, planned, printed, printedPlans } from '../support/printed-plan.ts';
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

type Change = Readonly<Record<string, unknown>>;
type AnyCluster = Pick<TestCluster | EtcdTestCluster, 'name' | 'object' | 'remove'> & {
  change(spec: Change): Promise<void>;
};

/** Once nothing of an earlier change is under way any more. */
async function atRest(subject: string): Promise<void> {
  const rest = async (): Promise<void> => {
    expect(await printed(stage.kubeconfig, subject)).toContain(': nothing to do');
  };
  await until(`${subject} at rest`, rest, { withinMs: 180_000, everyMs: 1000 });
}

/** Prints the plan of the change, makes it, and resolves with the plan once its first pass has done what it was to do. */
async function changed(cluster: AnyCluster, change: Change): Promise<PrintedPlan> {
  const { kind, metadata, spec, apiVersion } = await cluster.object();
  await atRest(`${kind}/${cluster.name}`);
  const file = join(dirname(stage.kubeconfig), 'change.yaml');
  const own = { name: cluster.name, namespace: metadata.namespace };
  await writeFile(file, stringify({ apiVersion, kind, metadata: own, spec: merged(spec as Change, change) }));
  const plan = await heardPlan(stage.kubeconfig, file);
  await cluster.change(change);
  return carriedOut(plan, await cluster.object());
}

function merged(spec: Change, change: Change): Change {
  const entries = Object.entries(change).map(([field, value]): [string, unknown] => {
    const isObject = typeof value === 'object' && value !== null;
    return [field, isObject ? merged((spec[field] ?? {}) as Change, value as Change) : value];
  });
  return { ...spec, ...Object.fromEntries(entries) };
}

async function carriedOut(plan: PrintedPlan, { kind, metadata }: KubeObject): Promise<PrintedPlan> {
  expect(planned(plan)).not.toEqual([]);
  await until('what was printed is what was done', async () => {
    const lines = await readForesight(stage.foresight.file);
    expect(doneAtFirst(lines, `${kind}/${metadata.name}`, metadata.generation)).toEqual(planned(plan));
  });
  return plan;
}

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
  /** What Kubernetes makes of the rest. */
  const ofOthers = ['Pod', 'PersistentVolumeClaim'];

  async function childrenOf(name: string): Promise<readonly KubeObject[]> {
    const lists = [...childResources, secrets].map((resource) =>
      listAll(stage.client, resource, stage.namespace).catch((error: unknown) => {
        if (optionalResources.includes(resource) && isNotFound(error)) return [];
        throw error;
      }),
    );
    return (await Promise.all(lists)).flat().filter(({ kind, metadata: { labels = {} } }) => {
      return labels[managedByLabel] === managedBy && labels[instanceLabel] === name && !ofOthers.includes(kind);
    });
  }

  test('an offline plan holds the objects that a new cluster gets', async () => {
    const text = await readFile(join(import.meta.dirname, '../../dist/0002-samples.k8s.yaml'), 'utf8');
    const here = text.replaceAll('clusterwright-samples', stage.namespace);
    const file = join(dirname(stage.kubeconfig), 'samples.yaml');
    const documents = parseAllDocuments(here)
      .map((document) => document.toJS() as KubeObject)
      // Its objects are compared in its own stories: its pods change their labels from the beginning.
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
      const live = JSON.parse(JSON.stringify(await childrenOf(name)).replaceAll(uid, name)) as KubeObject[];
      const shown = plan.steps.flatMap((step) =>
        step.type === 'create' || step.type === 'issue' ? [step.object] : [],
      );
      expect(live.map(titleOf).sort()).toEqual(shown.map(titleOf).sort());
      for (const object of shown) {
        expect(live.find((one) => titleOf(one) === titleOf(object))).toMatchObject(withoutOwner(object));
      }
    }
  });

  const titleOf = ({ kind, metadata }: KubeObject): string => `${kind}/${metadata.name}`;

  /** The roster of an etcd is written anew once its members run. */
  function withoutOwner(object: KubeObject): object {
    const { ownerReferences: _, annotations = {}, ...metadata } = object.metadata;
    const { [fingerprintAnnotation]: __, ...kept } = annotations;
    const { data, ...rest } = object;
    const content = data === undefined || metadata.name.endsWith('-members') ? rest : object;
    return { ...content, metadata: { ...metadata, ...(Object.keys(kept).length === 0 ? {} : { annotations: kept }) } };
  }
});
