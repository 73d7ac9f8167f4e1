/** What people watch of the operator itself. */
import type { Alert, MonitoringPart } from '../engine/monitoring.ts';
import { operatorPanels } from './operator-panels.ts';

const log = 'Look at its log: `kubectl -n clusterwright-system logs deploy/clusterwright`.';

const alerts: readonly Alert[] = [
  {
    name: 'OperatorAway',
    expr: 'absent(clusterwright_leader == 1)',
    for: '5m',
    severity: 'critical',
    summary: 'No pod of the operator holds the lease, or Prometheus reads none.',
    meaning: 'The databases run, but no operator repairs them. Sentinel, etcd and Patroni still elect leaders.',
    actions: [
      'Look at the pods: `kubectl -n clusterwright-system get pods`.',
      log,
      'If the pods are well, check that Prometheus reaches them on port 8080: `up{clusterwright_engine="operator"}`.',
    ],
  },
  {
    name: 'OperatorPassesFail',
    expr: 'sum by (kind) (rate(clusterwright_reconcile_total{outcome="failed"}[15m])) > 0.02',
    for: '15m',
    severity: 'warning',
    summary: 'Reconciles of {{ $labels.kind }} fail.',
    meaning: 'A reconcile fails if a step fails, for example because the API server or a database does not answer.',
    actions: [
      log,
      'Look which resources have the reason `StepFailed` or `NotObserved`: the message quotes the answer.',
    ],
  },
  {
    name: 'OperatorLate',
    expr: 'histogram_quantile(0.99, sum by (le) (rate(clusterwright_queue_latency_seconds_bucket{priority="high"}[10m]))) > 5',
    for: '15m',
    severity: 'warning',
    summary: 'Changes wait {{ $value | humanizeDuration }} for the operator.',
    meaning: 'The operator has more to do than it can: repairs and changes begin late.',
    actions: [
      'Look at the panels "Duration of a reconcile" and "Requests to the API server": a slow API server slows everything.',
      'Compare the CPU of the pod with its request. It has no limit by default.',
    ],
  },
  {
    name: 'OperatorRefused',
    // An increase, since the operator repeats what is refused only once a minute.
    expr: 'sum by (resource, code) (increase(clusterwright_api_requests_total{code=~"401|403|429|5..", refused_by!="admission"}[15m])) > 3',
    for: '20m',
    severity: 'warning',
    summary: 'The API server refuses requests for {{ $labels.resource }} with the code {{ $labels.code }}.',
    meaning:
      'The operator lacks a permission, or the API server fails. Refusals by admission do not count, for example of a pod template or of a larger volume: the conditions `TemplateRefused` and `VolumesTooSmall` report them to the owner of the cluster.',
    actions: [
      log,
      'With 401 or 403, apply the manifests of the operator again: its ClusterRole or Roles are not those of this version.',
      'With 429 or 5xx, look at the API server.',
    ],
  },
  {
    name: 'RolloutsHeldUp',
    expr: 'sum by (namespace, job) (min_over_time(clusterwright_rollouts{state="waiting"}[1h])) > 0 and sum by (namespace, job) (increase(clusterwright_rollouts_ended_total[1h])) == 0',
    for: '15m',
    severity: 'warning',
    summary: '{{ $value }} clusters have waited for an hour to restart pods for changes, and no rollout has ended.',
    meaning:
      'At most `maxConcurrentRollouts` clusters restart pods for changes at the same time. One that does not get on keeps its place, so that a bad image stops at the first cluster.',
    actions: [
      'Find the cluster with outdated pods: the message of its status says that other clusters wait for it, and why it does not get on.',
      'Correct its spec, or let the others go on: `kubectl annotate KIND NAME clusterwright.dev/ignore-rollout-limit=true`.',
    ],
  },
  {
    name: 'OperatorShortOfMemory',
    expr: 'clusterwright_memory_bytes{part="resident"} > ignoring (part) 0.85 * clusterwright_memory_bytes{part="limit"}',
    for: '15m',
    severity: 'warning',
    summary:
      'The pod {{ $labels.pod }} of the operator uses {{ $value | humanize1024 }}B, more than 85% of its memory limit.',
    meaning: 'At the limit, the kernel ends the process, and another pod takes over.',
    actions: ['Raise `resources.memoryLimit` of the operator. [Performance](../performance.md) has figures.'],
  },
];

export const operatorMonitoring: MonitoringPart = {
  name: 'operator',
  title: 'Operator',
  requires: 'The pods of the operator serve metrics on port 8080.',
  alerts,
  panels: operatorPanels,
};
