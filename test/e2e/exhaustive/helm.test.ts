/**
 * The chart in the hands of Helm itself, on a real Kubernetes: installed, checked, upgraded, rolled back and uninstalled. The database that
 * its operator serves keeps its pods and its data through all of it.
 */
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { apiVersionOf } from '../../../src/api/object.ts';
import { hasHelm } from '../../support/helm.ts';
import { type HelmRelease, helmRelease } from '../../support/helm-release.ts';
import { connectKubernetes } from '../../support/kubernetes.ts';
import { removeNamespace, restricted } from '../../support/namespace.ts';
import { type TestCluster, testCluster } from '../../support/redis-cluster.ts';
import { redisClusters } from '../../support/resources.ts';
import { recordResult } from '../../support/results.ts';
import { until } from '../../support/until.ts';

const namespace = 'e2e-helm';
const size = { data: 3, sentinels: 3 };

describe.skipIf(!hasHelm)('a release', () => {
  let release: HelmRelease;
  let kubernetes: Awaited<ReturnType<typeof connectKubernetes>>;
  let cluster: TestCluster;

  beforeAll(async () => {
    kubernetes = await connectKubernetes(inject('kubeconfig'));
    await removeNamespace(kubernetes.client, namespace);
    await until('the namespace made', () => kubernetes.client.create(restricted(namespace)));
    release = helmRelease('databases', namespace, inject('kubeconfig'));
  });
  afterAll(async () => {
    await release.close();
    await removeNamespace(kubernetes.client, namespace);
    await kubernetes.close();
  });

  async function lives(): Promise<unknown> {
    const { data, sentinels } = await cluster.pods();
    return [...data, ...sentinels].map(({ metadata, status }) => [
      metadata.uid,
      status?.containerStatuses?.map(({ restartCount }) => restartCount),
    ]);
  }

  const kept = async (): Promise<unknown> => cluster.ask(await cluster.primary(), 'GET', 'kept');

  test('is installed, and a cluster of three lines is Ready', async () => {
    const startedAt = performance.now();
    const seconds = () => ((performance.now() - startedAt) / 1000).toFixed(1);
    await release.apply('install');
    const operator = seconds();
    await kubernetes.client.create({
      apiVersion: apiVersionOf(redisClusters),
      kind: redisClusters.kind,
      metadata: { name: 'cache', namespace },
      spec: {},
    });
    cluster = testCluster(kubernetes.client, namespace, 'cache');
    await cluster.whole(size, { withinMs: 180_000 });
    await recordResult({
      scenario: 'helm install',
      measured: `the operator is ready after ${operator} s, a RedisCluster with an empty spec after ${seconds()} s`,
    });
    await cluster.ask(await cluster.primary(), 'SET', 'kept', 'yes');
  });

  test('passes its own test', async () => {
    expect(await release.helm('test', 'databases')).toContain('Succeeded');
  });

  test('is upgraded and rolled back, and the database notices neither', async () => {
    const before = await lives();
    await release.apply('upgrade', { replicas: 1, logLevel: 'debug', labels: { team: 'data' } });
    await cluster.whole(size);
    expect(await lives()).toEqual(before);
    await release.helm('rollback', 'databases', '1', '--wait', '--timeout', '3m');
    await cluster.whole(size);
    expect(await lives()).toEqual(before);
  });

  test('is uninstalled, and the database goes on; another release takes it over as it is', async () => {
    const before = await lives();
    await release.helm('uninstall', 'databases', '--wait');
    expect(await kept()).toBe('yes');
    await release.apply('install');
    // A change that only an operator makes, without a restart.
    await cluster.change({ config: { 'slowlog-max-len': 7 } });
    await until('the change on every node', async () => {
      for (const pod of (await cluster.pods()).data) {
        expect(await cluster.ask(pod, 'CONFIG', 'GET', 'slowlog-max-len')).toEqual(['slowlog-max-len', '7']);
      }
    });
    await cluster.whole(size);
    expect(await lives()).toEqual(before);
    expect(await kept()).toBe('yes');
  });
});
