/**
 * The chart in the hands of Helm itself, on a real Kubernetes: installed, checked, upgraded, rolled back and uninstalled. The database that
 * its operator serves keeps its pods and its data through all of it.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { apiVersionOf } from '../../../src/api/object.ts';
import { helmChart } from '../../../src/charts/helm/chart.ts';
import { operatorImage } from '../../../src/sandbox/images/recipes.ts';
import { writeFiles } from '../../../src/system/write-files.ts';
import { hasHelm, helmBinary, helmHome } from '../../support/helm.ts';
import { connectKubernetes } from '../../support/kubernetes.ts';
import { removeNamespace, restricted } from '../../support/namespace.ts';
import { type TestCluster, testCluster } from '../../support/redis-cluster.ts';
import { redisClusters } from '../../support/resources.ts';
import { recordResult } from '../../support/results.ts';
import { until } from '../../support/until.ts';

const run = promisify(execFile);
const namespace = 'e2e-helm';
const size = { data: 3, sentinels: 3 };

describe.skipIf(!hasHelm)('a release', () => {
  const directory = mkdtempSync(join(tmpdir(), 'clusterwright-helm-'));
  const chart = join(directory, 'chart');
  // Under which the sandbox has it.
  const [repository = '', tag = ''] = `localhost/${operatorImage}`.split(':');
  let kubernetes: Awaited<ReturnType<typeof connectKubernetes>>;
  let cluster: TestCluster;

  beforeAll(async () => {
    kubernetes = await connectKubernetes(inject('kubeconfig'));
    await removeNamespace(kubernetes.client, namespace);
    await until('the namespace made', () => kubernetes.client.create(restricted(namespace)));
    writeFiles(chart, helmChart());
  });
  afterAll(async () => {
    await helm('uninstall', 'databases', '--wait').catch(() => undefined);
    await removeNamespace(kubernetes.client, namespace);
    await kubernetes.close();
    rmSync(directory, { recursive: true });
  });

  async function helm(...args: readonly string[]): Promise<string> {
    const place = ['--namespace', namespace, '--kubeconfig', inject('kubeconfig')];
    const { stdout } = await run(helmBinary, [...args, ...place], { env: helmHome(directory) });
    return stdout;
  }

  /** The CRDs are those of the sandbox, which other tests use at the same time. */
  function values(more: object): readonly string[] {
    const file = join(directory, 'values.json');
    writeFileSync(file, JSON.stringify({ crds: { install: false }, image: { repository, tag }, ...more }));
    return ['--values', file, '--wait', '--timeout', '3m'];
  }

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
    await helm('install', 'databases', chart, ...values({}));
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
    expect(await helm('test', 'databases')).toContain('Succeeded');
  });

  test('is upgraded and rolled back, and the database notices neither', async () => {
    const before = await lives();
    await helm('upgrade', 'databases', chart, ...values({ replicas: 1, logLevel: 'debug', labels: { team: 'data' } }));
    await cluster.whole(size);
    expect(await lives()).toEqual(before);
    await helm('rollback', 'databases', '1', '--wait', '--timeout', '3m');
    await cluster.whole(size);
    expect(await lives()).toEqual(before);
  });

  test('is uninstalled, and the database goes on; another release takes it over as it is', async () => {
    const before = await lives();
    await helm('uninstall', 'databases', '--wait');
    expect(await kept()).toBe('yes');
    await helm('install', 'databases', chart, ...values({}));
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
