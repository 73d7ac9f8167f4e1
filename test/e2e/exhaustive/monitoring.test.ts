/**
 * The monitoring kit on real pods: a Prometheus asks what the PodMonitors select and kube-state-metrics, every panel has data, no alert fires on healthy
 * clusters, and alerts fire in a fault and end with it. Alerts fire here after four seconds.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { pods as podResource, statefulSets } from '../../../src/api/resource.ts';
import { Monitoring } from '../../../src/constructs/monitoring.ts';
import type { Panel } from '../../../src/engine/monitoring.ts';
import { images as recipes } from '../../../src/engines/images.ts';
import { engineMonitoring } from '../../../src/engines/monitoring.ts';
import { conditionPanels } from '../../../src/monitoring/conditions.ts';
import { operatorMonitoring } from '../../../src/monitoring/operator.ts';
import type { RuleGroup } from '../../../src/monitoring/rules.ts';
import type { Pod } from '../../../src/resources/children.ts';
import { installMissing } from '../../../src/sandbox/packages.ts';
import { createProgress } from '../../../src/sandbox/progress.ts';
import { loadImages } from '../../../src/sandbox/sandbox.ts';
import { findObject, manifestsOf } from '../../constructs/manifests.ts';
import { compileStateMetrics } from '../../monitoring/programs.ts';
import type { EtcdTestCluster } from '../../support/etcd-test-cluster.ts';
import type { OperatorProcess } from '../../support/operator-process.ts';
import type { PostgresTestCluster } from '../../support/postgres-test-cluster.ts';
import { hasPrometheus, type Prometheus, startPrometheus, targetsOf } from '../../support/prometheus.ts';
import type { TestCluster } from '../../support/redis-cluster.ts';
import { etcdClusters, postgresClusters, redisClusters } from '../../support/resources.ts';
import { recordResult } from '../../support/results.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { type StateMetrics, startStateMetrics } from '../../support/state-metrics.ts';
import { until } from '../../support/until.ts';

const kit = manifestsOf((chart) => void new Monitoring(chart, 'monitoring'));
/** kube-state-metrics comes with a monitor of its own, which keeps the labels of its series. */
const ofStateMetrics: KubeObject = {
  apiVersion: 'monitoring.coreos.com/v1',
  kind: 'PodMonitor',
  metadata: { name: 'kube-state-metrics' },
  spec: { selector: { matchLabels: {} }, podMetricsEndpoints: [{ path: '/metrics', relabelings: [] }] },
};
const podMonitors = kit.filter(({ kind }) => kind === 'PodMonitor');
const monitors = [...podMonitors, ofStateMetrics];

let stage: Stage;
let operator: OperatorProcess;
let postgres: PostgresTestCluster;
let etcd: EtcdTestCluster;
let redis: TestCluster;
let stateMetrics: StateMetrics;
let prometheus: Prometheus;

async function everybodyWhole(): Promise<void> {
  await Promise.all([
    postgres.whole(2, { withinMs: 240_000 }),
    etcd.whole(3, { withinMs: 240_000 }),
    redis.whole({ data: 2, sentinels: 3 }, { withinMs: 240_000 }),
  ]);
}

/** The rules of the kit, with less patience. */
function hasty(): object {
  const { spec } = findObject(kit, 'PrometheusRule', 'clusterwright');
  const { groups } = spec as { readonly groups: readonly RuleGroup[] };
  return { groups: groups.map((group) => ({ ...group, rules: group.rules.map((each) => ({ ...each, for: '4s' })) })) };
}

/** As service discovery does it. The operator is a process of this machine. */
async function discover(): Promise<void> {
  const pods = (await stage.client.list(podResource, { namespace: stage.namespace })).items as readonly Pod[];
  const port = operator.log.find(({ message }) => message === 'started')?.port;
  const own = [{ address: `127.0.0.1:${String(port)}`, labels: { namespace: stage.namespace, pod: 'operator' } }];
  const targets = podMonitors.map((monitor): [string, ReturnType<typeof targetsOf>] => [
    monitor.metadata.name,
    monitor.metadata.name === 'clusterwright-operator' ? own : targetsOf(monitor, pods),
  ]);
  const conditions = [{ address: stateMetrics.address, labels: {} }];
  await prometheus.target({ ...Object.fromEntries(targets), [ofStateMetrics.metadata.name]: conditions });
}

/** Names of the alerts that fire for these clusters, with the member where there is one. */
async function firing(): Promise<readonly string[]> {
  await discover();
  const found = await prometheus.query('ALERTS{alertstate="firing"}');
  return found
    .map(({ metric }) =>
      [metric.alertname, metric.clusterwright_member ?? metric.clusterwright_cluster ?? metric.name].join(' ').trim(),
    )
    .sort();
}

beforeAll(async () => {
  await compileStateMetrics();
  if (!hasPrometheus) await installMissing(['prometheus'], createProgress());
  await loadImages(['postgres-exporter:0.17', 'redis-exporter:1.86'], { recipes }, createProgress());
  stage = await openStage('monitoring');
  operator = await stage.startOperator();
  postgres = await stage.createPostgres('p', {
    instances: 2,
    resources: { limits: { memory: '384Mi' } },
    monitoring: {},
  });
  etcd = await stage.createEtcd('e', {});
  redis = await stage.create('r', { replicas: 2, monitoring: {} });
  await everybodyWhole();
  const { data } = findObject(kit, 'ConfigMap', 'clusterwright-state-metrics');
  const { 'config.yaml': config = '' } = data as Record<string, string>;
  const { kubeconfig, namespace } = stage;
  stateMetrics = await startStateMetrics({ config, kubeconfig, namespace });
  prometheus = await startPrometheus(monitors, hasty());
}, 600_000);
afterAll(async () => {
  await prometheus?.stop();
  await stateMetrics?.stop();
  await stage.close();
});

test('PodMonitors find every member, and say whose series they are', async () => {
  await until('all are asked', async () => {
    await discover();
    const up = await prometheus.query('up{clusterwright_engine!=""} == 1');
    expect(up.map(({ metric }) => `${metric.clusterwright_engine} ${metric.clusterwright_member}`).sort()).toEqual([
      'etcd e-0',
      'etcd e-1',
      'etcd e-2',
      'operator undefined',
      'postgres p-0',
      'postgres p-1',
      'redis r-0',
      'redis r-1',
      'redis r-sentinel-0',
      'redis r-sentinel-1',
      'redis r-sentinel-2',
    ]);
  });
});

/** Who waits for nobody has no condition `Stalled`. */
const ofConditions = (kind: string): readonly Panel[] =>
  conditionPanels(kind).filter(({ title }) => title !== 'Stalled');
const shown = engineMonitoring.map(({ name, kind, panels }) => ({ name, panels: [...ofConditions(kind), ...panels] }));
const panels = [operatorMonitoring, ...shown].flatMap(({ name, panels }) =>
  panels.flatMap((panel) => panel.queries.map(({ expr }) => ({ name, title: panel.title, expr }))),
);

test('every query of every panel has data', async () => {
  expect(panels.length).toBeGreaterThan(40);
  await until(
    'data',
    async () => {
      const empty: string[] = [];
      for (const { name, title, expr } of panels) {
        const text = expr
          .replaceAll('$namespace', stage.namespace)
          .replaceAll('$cluster', '.*')
          .replaceAll('$__rate_interval', '1m');
        if ((await prometheus.query(text)).length === 0) empty.push(`${name}: ${title}: ${text}`);
      }
      expect(empty).toEqual([]);
    },
    { everyMs: 2000 },
  );
});

test('no alert fires while all is well', async () => {
  await until('quiet', async () => expect(await firing()).toEqual([]), { everyMs: 1000 });
});

/** Whose pods are gone does not come back while the operator is told to do nothing. */
async function pause(isPaused: boolean): Promise<void> {
  const all = [[postgresClusters, 'p'] as const, [etcdClusters, 'e'] as const, [redisClusters, 'r'] as const];
  for (const [resource, name] of all) {
    await stage.client.mergePatch({ resource, namespace: stage.namespace, name }, { spec: { paused: isPaused } });
  }
}
const stop = (name: string, replicas = 0): Promise<KubeObject> =>
  stage.client.mergePatch({ resource: statefulSets, namespace: stage.namespace, name }, { spec: { replicas } });

test('alerts fire in a fault, and end with it', async () => {
  await pause(true);
  const startedAt = performance.now();
  const took = (): string => `${((performance.now() - startedAt) / 1000).toFixed(0)} s`;
  const told: string[] = [];
  await stop('e-2');
  await stop('p-1');
  await until('a member of each is missed', async () => {
    expect(await firing()).toEqual(expect.arrayContaining(['EtcdMemberDown e', 'PostgresDown p-1']));
  });
  told.push(`EtcdMemberDown and PostgresDown after ${took()}`);
  await stop('e-1');
  await stop('p-0');
  await until('nobody leads', async () => {
    const names = await firing();
    expect(names).toEqual(expect.arrayContaining(['EtcdNoLeader e-0', 'PostgresNoPrimary p', 'PostgresDown p-0']));
    expect(names.filter((name) => name.startsWith('PostgresScrapeFails'))).toEqual([]);
  });
  told.push(`EtcdNoLeader and PostgresNoPrimary after ${took()}`);
  await stop('r', 1);
  await until('a node of Redis is missed', async () =>
    expect(await firing()).toEqual(expect.arrayContaining(['RedisMemberMissing r'])),
  );
  await stop('r');
  await until('Redis has no primary', async () =>
    expect(await firing()).toEqual(expect.arrayContaining(['RedisNoPrimary r'])),
  );
  told.push(`RedisMemberMissing and RedisNoPrimary after ${took()}`);
  await until('the operator has said so', async () =>
    expect(await firing()).toEqual(
      expect.arrayContaining(['DatabaseUnavailable e', ...['e', 'p', 'r'].map((name) => `DatabaseNotReady ${name}`)]),
    ),
  );
  told.push(`DatabaseUnavailable and DatabaseNotReady after ${took()}`);
  await pause(false);
  await everybodyWhole();
  // Those that look back for 15 minutes remember the fault.
  const lasting = ['EtcdManyLeaderChanges', 'EtcdProposalsFail', 'OperatorPassesFail', 'OperatorRefused'];
  const ended = async (): Promise<void> =>
    expect((await firing()).filter((name) => !lasting.some((each) => name.startsWith(each)))).toEqual([]);
  await until('all is quiet again', ended, { withinMs: 180_000, everyMs: 1000 });
  told.push(`quiet again after ${took()}`);
  await recordResult({ scenario: 'alerts of a fault', measured: told.join(', ') });
});
