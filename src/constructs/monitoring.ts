/**
 * The monitoring kit: what Prometheus asks, alerts, dashboards, and the conditions as metrics. It needs the CRDs of the Prometheus
 * operator for PodMonitors and rules, and changes nothing of a database.
 */
import { Construct } from 'constructs';
import type { ObjectMeta } from '../api/object.ts';
import type { EngineMonitoring } from '../engine/monitoring.ts';
import { engines as ownEngines } from '../engines/index.ts';
import { engineMonitoring } from '../engines/monitoring.ts';
import { type DefinedEngine, handlersOf } from '../jobs/handlers.ts';
import { conditionMonitoring } from '../monitoring/conditions.ts';
import { operatorMonitoring } from '../monitoring/operator.ts';
import { ruleGroup } from '../monitoring/rules.ts';
import { type PodSelection, podMonitor, podsOf } from '../monitoring/scraping.ts';
import { stateMetricsConfig, stateMetricsRules } from '../monitoring/state-metrics.ts';
import { kindDashboard, operatorDashboard } from './dashboards.ts';
import { operatorLabels, operatorNamespace } from './operator-identity.ts';
import { plainObject } from './plain-object.ts';
import { type Watch, watchedNamespaces, watchFaults } from './watch.ts';

export interface MonitoringProps {
  /** Where its objects go. Default: the namespace of the chart; without one, what kubectl is told. */
  readonly namespace?: string;
  /** Default true. Needs the CRDs of the Prometheus operator. */
  readonly podMonitors?: boolean;
  /** Default true. Needs the CRDs of the Prometheus operator. */
  readonly rules?: boolean;
  /** Default true: ConfigMaps with the label `grafana_dashboard: "1"`. */
  readonly dashboards?: boolean;
  /** Default true: a ConfigMap and a ClusterRole for kube-state-metrics. */
  readonly stateMetrics?: boolean;
  /** The ServiceAccount of kube-state-metrics, which gets the ClusterRole. Default: bind it yourself. */
  readonly stateMetricsAccount?: { readonly name: string; readonly namespace: string };
  /** Address of the page of alerts: each alert has a link to its heading. Default: no link. */
  readonly runbookUrl?: string;
  /** On PodMonitors and rules, for Prometheus' selectors: `{ release: 'kube-prometheus-stack' }`. */
  readonly labels?: Readonly<Record<string, string>>;
  /** As given to the operator. Default all namespaces: a PodMonitor for more namespaces than the operator watches finds no pods there. */
  readonly watch?: Watch;
  /** As given to the operator. Default `clusterwright-system`. */
  readonly operatorNamespace?: string;
  /** What the operator serves: conditions of their kinds are exported. Default: the engines of this package. */
  readonly engines?: readonly DefinedEngine[];
  /** Alerts and dashboards of engines. Default: those of this package. */
  readonly engineMonitoring?: readonly EngineMonitoring[];
}

const partOf = { 'app.kubernetes.io/part-of': 'clusterwright' } as const;

const operatorPods: PodSelection = {
  matchLabels: operatorLabels,
  port: 'http',
  path: '/metrics',
  relabelings: [{ targetLabel: 'clusterwright_engine', replacement: 'operator' }],
};

export class Monitoring extends Construct {
  constructor(scope: Construct, id: string, props: MonitoringProps = {}) {
    super(scope, id);
    this.node.addValidation({ validate: () => (props.watch === undefined ? [] : watchFaults(props.watch)) });
    if (props.podMonitors ?? true) this.addPodMonitors(props);
    if (props.rules ?? true) this.addRules(props);
    if (props.dashboards ?? true) this.addDashboards(props);
    if (props.stateMetrics ?? true) this.addStateMetrics(props);
  }

  private addPodMonitors(props: MonitoringProps): void {
    const { watch = { all: true }, operatorNamespace: home = operatorNamespace } = props;
    const namespaces = watchedNamespaces(watch);
    const add = (name: string, pods: PodSelection, within: readonly string[]): void => {
      plainObject(
        this,
        `pods-${name}`,
        podMonitor(metadataOf(`clusterwright-${name}`, props, props.labels), pods, within),
      );
    };
    add('operator', operatorPods, [home]);
    for (const engine of enginesOf(props)) {
      for (const scrape of engine.scrapes)
        add(`${engine.name}-${scrape.component}`, podsOf(engine, scrape), namespaces);
    }
  }

  private addRules(props: MonitoringProps): void {
    const parts = [conditionMonitoring, operatorMonitoring, ...enginesOf(props)];
    plainObject(this, 'rules', {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PrometheusRule',
      metadata: metadataOf('clusterwright', props, props.labels),
      spec: { groups: parts.map((part) => ruleGroup(part, props.runbookUrl)) },
    });
  }

  private addDashboards(props: MonitoringProps): void {
    const dashboards = {
      operator: operatorDashboard(operatorMonitoring),
      ...Object.fromEntries(enginesOf(props).map((engine) => [engine.name, kindDashboard(engine)])),
    };
    for (const [name, dashboard] of Object.entries(dashboards)) {
      plainObject(this, `dashboard-${name}`, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: metadataOf(`clusterwright-dashboard-${name}`, props, { grafana_dashboard: '1' }),
        data: { [`clusterwright-${name}.json`]: `${JSON.stringify(dashboard, undefined, 1)}\n` },
      });
    }
  }

  private addStateMetrics(props: MonitoringProps): void {
    const kinds = handlersOf(props.engines ?? ownEngines).map(({ kind }) => kind.resource);
    const name = 'clusterwright-state-metrics';
    const role = { name, labels: partOf };
    // JSON is YAML.
    const config = `${JSON.stringify(stateMetricsConfig(kinds), undefined, 1)}\n`;
    plainObject(this, 'state-metrics', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: metadataOf(name, props),
      data: { 'config.yaml': config },
    });
    plainObject(this, 'state-metrics-role', {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: role,
      rules: stateMetricsRules(kinds),
    });
    const account = props.stateMetricsAccount;
    if (account === undefined) return;
    plainObject(this, 'state-metrics-binding', {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: role,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', ...account }],
    });
  }
}

function enginesOf(props: MonitoringProps): readonly EngineMonitoring[] {
  return props.engineMonitoring ?? engineMonitoring;
}

function metadataOf(
  name: string,
  { namespace }: MonitoringProps,
  labels: Readonly<Record<string, string>> = {},
): ObjectMeta {
  return { name, ...(namespace === undefined ? {} : { namespace }), labels: { ...partOf, ...labels } };
}
