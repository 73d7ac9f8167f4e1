/**
 * Without a majority an etcd says so, and nothing is done to it: not to its members, not to its volumes. It goes on by
 * itself when the majority is back, and with one survivor's data only when a person has named it.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { recoverAnnotation } from '../../src/engines/etcd/names.ts';
import { killProcess } from '../../src/sandbox/faults/process.ts';
import { keepEtcdEvidence } from '../support/etcd-evidence.ts';
import { type EtcdTestCluster, readKeys, writeKeys } from '../support/etcd-test-cluster.ts';
import { removeByName } from '../support/kubernetes.ts';
import { etcdClusters } from '../support/resources.ts';
import { recordResult } from '../support/results.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

let stage: Stage;
let cluster: EtcdTestCluster;

beforeAll(async () => {
  stage = await openStage('etcd-quorum');
  await stage.startOperator();
  cluster = await stage.createEtcd('e');
  await cluster.whole(3, { withinMs: 120_000 });
});
afterEach((context) => keepEtcdEvidence(context, stage, cluster));
afterAll(() => stage.close());

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;

test('E8: without a majority it says so and changes nothing; when the majority is back it goes on', async () => {
  const pods = await cluster.pods();
  const members = (await cluster.status()).members?.map(({ id }) => id);
  const startedAt = performance.now();
  const [one, two] = pods;
  if (one === undefined || two === undefined) throw new Error('there are too few members');
  let isOver = false;
  const killing = (async () => {
    while (!isOver) {
      for (const { metadata } of [one, two]) {
        await killProcess({ namespace: stage.namespace, name: metadata.name }).catch(() => undefined);
      }
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  })();
  try {
    await until('the status says so', async () => expect(await cluster.ready()).toBe('False QuorumLost'), {
      withinMs: 60_000,
    });
  } finally {
    isOver = true;
    await killing;
  }
  const said = seconds(startedAt);
  const backAt = performance.now();
  // The kubelet waits longer with every start.
  await cluster.whole(3, { withinMs: 240_000 });
  await recordResult({
    scenario: 'etcd: quorum lost',
    measured: `said after ${said}, whole ${seconds(backAt)} after the processes stay`,
  });
  expect((await cluster.status()).members?.map(({ id }) => id)).toEqual(members);
});

test('E8: when two of three volumes are gone nothing is formed in their place, until a person names the survivor', async () => {
  const written = await writeKeys(cluster, 'kept', 100);
  const [survivor, ...others] = await cluster.pods();
  if (survivor === undefined) throw new Error('there is no member');
  const claims = await cluster.claims();
  const startedAt = performance.now();
  for (const pod of others) {
    const claim = claims.find(({ metadata }) => metadata.name === `data-${pod.metadata.name}`);
    if (claim !== undefined) await removeByName(stage.client, claim);
  }
  for (const pod of others) await removeByName(stage.client, pod, { gracePeriodSeconds: 0 });
  await until('it says what is lost', async () => expect(await cluster.ready()).toBe('False QuorumLost'), {
    withinMs: 60_000,
  });
  await until('and that nothing but a person can help', async () => {
    expect((await cluster.status()).phase).toBe('Blocked');
  });
  const said = seconds(startedAt);
  await until('Kubernetes has made the claims anew', async () => expect(await cluster.claims()).toHaveLength(3));
  const before = await cluster.view();
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  expect(await cluster.view()).toEqual(before);

  // A person repeats it with what is said by then: the survivor may have applied more since.
  const offeredIn = (message = ''): string | undefined =>
    new RegExp(`${survivor.metadata.name}@[^\\s,;]+/\\d+/\\d+`).exec(message)?.[0];
  let value = await until(
    'it says what may be written',
    async () => {
      const ready = (await cluster.status()).conditions?.find(({ type }) => type === 'Ready');
      const offered = offeredIn(ready?.message);
      if (offered === undefined) throw new Error(ready?.message);
      return offered;
    },
    { withinMs: 120_000 },
  );
  const askedAt = performance.now();
  const ref = { resource: etcdClusters, namespace: stage.namespace, name: cluster.name };
  const ask = () => stage.client.mergePatch(ref, { metadata: { annotations: { [recoverAnnotation]: value } } });
  await ask();
  await until(
    'it goes on with what the survivor has',
    async () => {
      const { conditions } = await cluster.status();
      const { reason, message } = conditions?.find(({ type }) => type === 'Ready') ?? {};
      const offered = reason === 'RecoveryRefused' ? offeredIn(message) : undefined;
      if (offered !== undefined && offered !== value) {
        value = offered;
        await ask();
      }
      const found = await readKeys(cluster, 'kept').catch((cause: unknown) => {
        throw new Error(`asked for ${value}, and it says ${reason}: ${message}`, { cause });
      });
      expect(found).toBe(100);
    },
    { withinMs: 180_000 },
  );
  const back = seconds(askedAt);
  await cluster.whole(3, { withinMs: 120_000 });
  await recordResult({
    scenario: 'etcd: two of three volumes lost, survivor named',
    measured: `said after ${said}; serves ${back} after the request, whole after ${seconds(askedAt)}`,
  });
  expect(written).toBe(100);
  expect((await cluster.object()).metadata.annotations?.[recoverAnnotation]).toBeUndefined();
});
