/** What people watch of an engine: data only, for Prometheus, Grafana and the page of alerts. No program of the operator contains it. */

export type Severity = 'critical' | 'warning';

export interface Alert {
  /** `PostgresDown`. Distinct among all engines, and never renamed: silences and runbooks use it. */
  readonly name: string;
  /** PromQL. Series have the labels that `Scrape` explains. */
  readonly expr: string;
  /** How long the expression holds before the alert fires: `5m`. */
  readonly for: string;
  /** `critical`: someone must act now, at any time of day. `warning`: on the next working day. */
  readonly severity: Severity;
  /** One sentence for the message. May name labels of the expression: `{{ $labels.namespace }}`. */
  readonly summary: string;
  /** What it means, for the page of alerts. Markdown. */
  readonly meaning: string;
  /** What to do, in order. Markdown. */
  readonly actions: readonly string[];
}

export interface Query {
  /** PromQL. `ofCluster` selects what the dashboard's variables select, and `$__rate_interval` is the window of a rate. */
  readonly expr: string;
  /** Name of a line: `{{clusterwright_member}}`. */
  readonly legend: string;
}

/** Units as Grafana calls them. */
export type Unit = 'short' | 'bytes' | 's' | 'ops' | 'percentunit' | 'Bps';

export interface Panel {
  readonly title: string;
  readonly unit: Unit;
  readonly description: string;
  readonly queries: readonly Query[];
}

/**
 * Pods that serve metrics: those with `app.kubernetes.io/name` of the engine and this component. Their series get the labels
 * `clusterwright_engine`, `clusterwright_cluster` and `clusterwright_member`, beside `namespace` and `pod`.
 */
export interface Scrape {
  readonly component: string;
  /** The name of the port of the container. */
  readonly port: string;
  /** Default `/metrics`. */
  readonly path?: string;
  /** Where the label `clusterwright_member` comes from. Default the label `clusterwright.dev/member`; `pod`: the name of the pod. */
  readonly member?: 'label' | 'pod';
}

export interface MonitoringPart {
  /** `postgres`: names of objects, and `clusterwright_engine`. */
  readonly name: string;
  /** Of the dashboard, and of the part of the page of alerts. */
  readonly title: string;
  /** What must be there for the alerts and panels to have data. Markdown. */
  readonly requires: string;
  readonly alerts: readonly Alert[];
  readonly panels: readonly Panel[];
}

export interface EngineMonitoring extends MonitoringPart {
  /** `PostgresCluster`. */
  readonly kind: string;
  /** Empty: pods of the engine serve no metrics, and there are conditions alone. */
  readonly scrapes: readonly Scrape[];
}

/** Labels of one member, to aggregate by. */
export const perMember = 'namespace, clusterwright_cluster, clusterwright_member';
/** Labels of one cluster. */
export const perCluster = 'namespace, clusterwright_cluster';

/** Series of the clusters that the dashboard's variables select. */
export const ofCluster = 'namespace=~"$namespace", clusterwright_cluster=~"$cluster"';

/**
 * Conditions of custom resources, as kube-state-metrics exports them: 1 is `True`. Each kind has a metric of its own, since several
 * versions of kube-state-metrics lose series of kinds that share one.
 */
export function conditions(matchers: string): string {
  return `{__name__=~"clusterwright_[a-z]+_condition", ${matchers}}`;
}

/** For summaries: `shop/orders-0`. */
export const theMember = '{{ $labels.namespace }}/{{ $labels.clusterwright_member }}';
export const theCluster = '{{ $labels.namespace }}/{{ $labels.clusterwright_cluster }}';
export const theResource = '{{ $labels.namespace }}/{{ $labels.name }}';
