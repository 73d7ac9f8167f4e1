import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { KubeObject } from '../../src/api/object.ts';
import { Monitoring, type MonitoringProps } from '../../src/constructs/monitoring.ts';
import { engineMonitoring } from '../../src/engines/monitoring.ts';
import type { Relabeling } from '../../src/monitoring/scraping.ts';
import { handlers as engines } from '../support/handlers.ts';
import { findObject, manifestsOf } from './manifests.ts';

const made = (props: MonitoringProps = {}): KubeObject[] =>
  manifestsOf((chart) => void new Monitoring(chart, 'monitoring', props));
const idsOf = (objects: readonly KubeObject[]): string[] =>
  objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);

const kit = made();
const none = { podMonitors: false, rules: false, dashboards: false, stateMetrics: false };
const kinds = engines.map(({ kind }) => kind.resource);

interface Rule {
  readonly alert: string;
  readonly annotations: Readonly<Record<string, string>>;
}
const rulesOf = (objects: readonly KubeObject[]): Rule[] => {
  const { groups } = findObject(objects, 'PrometheusRule', 'clusterwright').spec as { groups: { rules: Rule[] }[] };
  return groups.flatMap(({ rules }) => rules);
};

describe('the monitoring kit', () => {
  it('has a part for every engine that serves metrics, and a dashboard for each', () => {
    expect(idsOf(kit)).toEqual([
      'PodMonitor clusterwright-operator',
      'PodMonitor clusterwright-redis-data',
      'PodMonitor clusterwright-redis-sentinel',
      'PodMonitor clusterwright-etcd-member',
      'PodMonitor clusterwright-postgres-exporter',
      'PrometheusRule clusterwright',
      'ConfigMap clusterwright-dashboard-operator',
      'ConfigMap clusterwright-dashboard-redis',
      'ConfigMap clusterwright-dashboard-etcd',
      'ConfigMap clusterwright-dashboard-postgres',
      'ConfigMap clusterwright-state-metrics',
      'ClusterRole clusterwright-state-metrics',
    ]);
    expect(kit.filter(({ metadata }) => metadata.namespace !== undefined)).toEqual([]);
  });

  it.each(['podMonitors', 'rules', 'dashboards', 'stateMetrics'] as const)('is made in parts: %s', (part) => {
    const objects = made({ ...none, [part]: true });
    expect(objects.length).toBeGreaterThan(0);
    expect(idsOf(kit)).toEqual(expect.arrayContaining(idsOf(objects)));
    expect(objects.length).toBeLessThan(kit.length);
  });

  it('is in one namespace, with the labels that Prometheus selects', () => {
    const objects = made({ namespace: 'monitoring', labels: { release: 'stack' } });
    const namespaced = objects.filter(({ kind }) => kind !== 'ClusterRole');
    expect([...new Set(namespaced.map(({ metadata }) => metadata.namespace))]).toEqual(['monitoring']);
    const labelled = objects.filter(({ metadata }) => metadata.labels?.release === 'stack');
    expect([...new Set(labelled.map(({ kind }) => kind))]).toEqual(['PodMonitor', 'PrometheusRule']);
  });

  it('selects the namespaces that the operator watches', () => {
    const objects = made({ watch: { namespaces: ['b', 'a', 'b'] }, operatorNamespace: 'ops' });
    const selectors = objects.flatMap(({ kind, spec }) =>
      kind === 'PodMonitor' ? [(spec as { namespaceSelector: object }).namespaceSelector] : [],
    );
    const own = { matchNames: ['a', 'b'] };
    expect(selectors).toEqual([{ matchNames: ['ops'] }, own, own, own, own]);
  });

  it('takes the member from its label, or from the name of the pod where a pod has none', () => {
    const sourceOf = (name: string): unknown => {
      const { podMetricsEndpoints: [endpoint] = [] } = findObject(kit, 'PodMonitor', name).spec as {
        readonly podMetricsEndpoints?: readonly { readonly relabelings: readonly Relabeling[] }[];
      };
      return endpoint?.relabelings.find(({ targetLabel }) => targetLabel === 'clusterwright_member')?.sourceLabels;
    };
    expect(sourceOf('clusterwright-etcd-member')).toEqual(['__meta_kubernetes_pod_label_clusterwright_dev_member']);
    expect(sourceOf('clusterwright-redis-data')).toEqual(['__meta_kubernetes_pod_name']);
  });

  it.each([
    [[], 'watch.namespaces: must name a namespace'],
    [['Team_A'], 'watch.namespaces: Team_A is no name of a namespace'],
  ])('is refused at synth for the namespaces %j', (namespaces, fault) => {
    expect(() => made({ watch: { namespaces } })).toThrow(fault);
  });

  it('leads from each alert to its heading, if it knows the page', () => {
    const rules = rulesOf(made({ runbookUrl: 'https://example.com/alerts' }));
    const links = Object.fromEntries(rules.map(({ alert, annotations }) => [alert, annotations.runbook_url]));
    expect(links.PostgresDown).toBe('https://example.com/alerts#postgresdown');
    expect(Object.values(links)).not.toContain(undefined);
    expect(rulesOf(kit).filter(({ annotations }) => 'runbook_url' in annotations)).toEqual([]);
  });

  it('lets kube-state-metrics see every kind, and its conditions', () => {
    const [own] = findObject(kit, 'ClusterRole', 'clusterwright-state-metrics').rules as object[];
    expect(own).toEqual({
      apiGroups: [...new Set(kinds.map(({ group }) => group))],
      resources: kinds.map(({ plural }) => plural).sort(),
      verbs: ['list', 'watch'],
    });
    const { data } = findObject(kit, 'ConfigMap', 'clusterwright-state-metrics');
    const config = parse((data as Record<string, string>)['config.yaml'] ?? '') as {
      spec: { resources: { groupVersionKind: object }[] };
    };
    expect(config.spec.resources.map(({ groupVersionKind }) => groupVersionKind)).toEqual(
      kinds.map(({ group, version, kind }) => ({ group, version, kind })),
    );
    const account = { name: 'ksm', namespace: 'monitoring' };
    const binding = findObject(
      made({ stateMetricsAccount: account }),
      'ClusterRoleBinding',
      'clusterwright-state-metrics',
    );
    expect(binding.subjects).toEqual([{ kind: 'ServiceAccount', ...account }]);
  });
});

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly gridPos: { readonly x: number; readonly y: number };
    readonly targets: readonly { readonly expr: string; readonly refId: string }[];
  }[];
  readonly templating: { readonly list: readonly { readonly name: string }[] };
}

describe.each(['operator', ...engineMonitoring.map(({ name }) => name)])('the dashboard of %s', (name) => {
  const { data, metadata } = findObject(kit, 'ConfigMap', `clusterwright-dashboard-${name}`);
  const dashboard = JSON.parse((data as Record<string, string>)[`clusterwright-${name}.json`] ?? '') as Dashboard;

  it('is found by Grafana, and has its panels side by side', () => {
    expect(metadata.labels?.grafana_dashboard).toBe('1');
    const places = dashboard.panels.map(({ gridPos }) => `${gridPos.x} ${gridPos.y}`);
    expect(places.length).toBeGreaterThan(2);
    expect(new Set(places).size).toBe(places.length);
  });

  it('has the variables that its queries use', () => {
    const names = ['__rate_interval', ...dashboard.templating.list.map((each) => each.name)];
    const used = dashboard.panels.flatMap(({ targets }) =>
      targets.flatMap(({ expr }) => [...expr.matchAll(/\$(\w+)/g)].map(([, variable]) => variable)),
    );
    expect(used.filter((variable) => !names.includes(variable ?? ''))).toEqual([]);
  });
});

it('an engine of another package brings its own', () => {
  const mine = { ...engineMonitoring[0], name: 'memcached', kind: 'MemcachedCluster' } as (typeof engineMonitoring)[0];
  expect(idsOf(made({ ...none, dashboards: true, engineMonitoring: [mine] }))).toEqual([
    'ConfigMap clusterwright-dashboard-operator',
    'ConfigMap clusterwright-dashboard-memcached',
  ]);
});
