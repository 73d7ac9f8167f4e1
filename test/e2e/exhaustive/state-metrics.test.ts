/**
 * What the kit gives to kube-state-metrics, with the real one: it accepts the file, its ClusterRole is enough, and each condition of each
 * kind is a series. No operator runs: the statuses are those of this test.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { apiVersionOf, type KubeObject } from '../../../src/api/object.ts';
import { Monitoring } from '../../../src/constructs/monitoring.ts';
import { engines } from '../../../src/engines/index.ts';
import { handlersOf } from '../../../src/jobs/handlers.ts';
import { findObject, manifestsOf } from '../../constructs/manifests.ts';
import { compileStateMetrics } from '../../monitoring/programs.ts';
import { connectKubernetes, type Kubernetes, removeByName } from '../../support/kubernetes.ts';
import { removeNamespace, restricted } from '../../support/namespace.ts';
import { clusterRoleBindings, clusterRoles } from '../../support/resources.ts';
import { type StateMetrics, startStateMetrics } from '../../support/state-metrics.ts';
import { until } from '../../support/until.ts';

const namespace = 'e2e-state-metrics';
const account = { name: 'kube-state-metrics', namespace };
const only = { podMonitors: false, rules: false, dashboards: false };
const kit = manifestsOf((chart) => void new Monitoring(chart, 'kit', { ...only, stateMetricsAccount: account }));
const cluster = { name: 'db' };
const target = { claim: { name: 'backups' } };

/** What the API server takes, of each kind. */
const specs: Readonly<Record<string, object>> = {
  RedisCluster: {},
  EtcdCluster: {},
  PostgresCluster: {},
  PostgresDatabase: { cluster, name: 'app', owner: 'app' },
  PostgresUser: { cluster, name: 'app' },
  Backup: { cluster: { kind: 'RedisCluster', ...cluster }, target },
  BackupSchedule: { cluster: { kind: 'RedisCluster', ...cluster }, target, schedule: '0 3 * * *' },
};
const kinds = handlersOf(engines).map(({ kind }) => kind.resource);
const metricOf = (kind: string): string => `clusterwright_${kind.toLowerCase()}_condition`;

const condition = (type: string, status: string, reason: string): object => ({
  type,
  status,
  reason,
  message: 'x',
  lastTransitionTime: '2030-01-01T00:00:00Z',
});

let kubernetes: Kubernetes;
let directory: string;
let stateMetrics: StateMetrics;

/** Series of conditions, as `RedisCluster db Ready Whole 1`, sorted. Other tests have resources in their own namespaces. */
async function seriesOf(kind: string): Promise<readonly string[]> {
  const text = await stateMetrics.metrics();
  return [...text.matchAll(/^(\w+)\{([^}]*)\} (\S+)$/gm)]
    .filter(([, name]) => name === metricOf(kind))
    .flatMap(([, , list = '', value]) => {
      const labels = new Map([...list.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, text]) => [label, text]));
      const of = (label: string): string => labels.get(label) ?? '-';
      if (of('namespace') !== namespace) return [];
      return [[of('customresource_kind'), of('name'), of('type'), of('reason'), value].join(' ')];
    })
    .sort();
}

async function tell(kind: string, conditions: readonly object[]): Promise<void> {
  const resource = kinds.find((each) => each.kind === kind);
  if (resource === undefined) throw new Error(kind);
  const { uid = '' } = (await kubernetes.client.get({ resource, namespace, name: 'db' })).metadata;
  await kubernetes.client.replaceStatus(
    { resource, namespace, name: 'db', uid },
    { observedGeneration: 1, conditions },
  );
}

beforeAll(async () => {
  await compileStateMetrics();
  kubernetes = await connectKubernetes(inject('kubeconfig'));
  const { client } = kubernetes;
  await removeNamespace(client, namespace);
  await until(`the namespace ${namespace} made`, () => client.create(restricted(namespace)));
  await client.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: account });
  for (const kind of ['ClusterRole', 'ClusterRoleBinding']) {
    await client.apply(findObject(kit, kind, 'clusterwright-state-metrics'), { force: true });
  }
  for (const resource of kinds) {
    const spec = specs[resource.kind];
    const object = { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata: { name: 'db', namespace } };
    await client.create({ ...object, spec } as KubeObject);
  }
  directory = await mkdtemp(join(tmpdir(), 'clusterwright-e2e-'));
  const kubeconfig = join(directory, 'kubeconfig');
  const config = parse(await readFile(inject('kubeconfig'), 'utf8')) as { users: { user: object }[] };
  const as = `system:serviceaccount:${account.namespace}:${account.name}`;
  const users = config.users.map((entry) => ({ ...entry, user: { ...entry.user, as } }));
  await writeFile(kubeconfig, stringify({ ...config, users }), { mode: 0o600 });
  const { data } = findObject(kit, 'ConfigMap', 'clusterwright-state-metrics');
  const { 'config.yaml': text = '' } = data as Record<string, string>;
  stateMetrics = await startStateMetrics({ config: text, kubeconfig });
  await until('it serves', () => stateMetrics.metrics());
}, 600_000);
afterAll(async () => {
  await stateMetrics?.stop();
  const { client } = kubernetes;
  for (const resource of [clusterRoles, clusterRoleBindings]) {
    await removeByName(client, await client.get({ resource, name: 'clusterwright-state-metrics' }));
  }
  await removeNamespace(client, namespace);
  await kubernetes.close();
  await rm(directory, { recursive: true });
}, 300_000);

test('a resource without conditions has no series', async () => {
  await until('every kind is known', async () => {
    const text = await stateMetrics.metrics();
    expect(kinds.filter(({ kind }) => !text.includes(`# HELP ${metricOf(kind)} `))).toEqual([]);
  });
  for (const { kind } of kinds) expect(await seriesOf(kind)).toEqual([]);
});

test.each(kinds.map(({ kind }) => kind))('each condition of a %s is a series', async (kind) => {
  await tell(kind, [condition('Ready', 'True', 'Whole'), condition('Degraded', 'False', 'Whole')]);
  await until('its conditions', async () =>
    expect(await seriesOf(kind)).toEqual([`${kind} db Degraded Whole 0`, `${kind} db Ready Whole 1`]),
  );
});

test('a condition with another reason is another series, and one that is gone has none', async () => {
  await tell('EtcdCluster', [condition('Ready', 'False', 'QuorumLost')]);
  await until('the other', async () =>
    expect(await seriesOf('EtcdCluster')).toEqual(['EtcdCluster db Ready QuorumLost 0']),
  );
});

test('a condition of which nobody knows is not 1', async () => {
  await tell('RedisCluster', [
    condition('Degraded', 'Unknown', 'NotObserved'),
    condition('Ready', 'False', 'NotObserved'),
  ]);
  await until('both', async () =>
    expect(await seriesOf('RedisCluster')).toEqual([
      'RedisCluster db Degraded NotObserved 0',
      'RedisCluster db Ready NotObserved 0',
    ]),
  );
});

test('it has asked for nothing that its ClusterRole does not allow', () => {
  expect(stateMetrics.isRunning()).toBe(true);
  expect(
    stateMetrics
      .log()
      .split('\n')
      .filter((line) => /forbidden|^[EF]\d{4}/.test(line)),
  ).toEqual([]);
});
