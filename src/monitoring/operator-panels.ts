/** Panels on the operator's own metrics. Each is a sum over its pods: only the leader reconciles. */
import type { Panel } from '../engine/monitoring.ts';

const rate = (metric: string): string => `rate(clusterwright_${metric}[$__rate_interval])`;
const p99 = (metric: string, label: string): string =>
  `histogram_quantile(0.99, sum by (${label}, le) (${rate(`${metric}_bucket`)}))`;

export const operatorPanels: readonly Panel[] = [
  {
    title: 'Leader',
    unit: 'short',
    description: '1: this pod holds the lease, and reconciles.',
    queries: [{ expr: 'max by (namespace, pod) (clusterwright_leader)', legend: '{{pod}}' }],
  },
  {
    title: 'Reconciles by outcome',
    unit: 'ops',
    description: 'Failed ones are repeated after a while.',
    queries: [{ expr: `sum by (kind, outcome) (${rate('reconcile_total')})`, legend: '{{kind}} {{outcome}}' }],
  },
  {
    title: 'Duration of a reconcile',
    unit: 's',
    description: 'p99.',
    queries: [{ expr: p99('reconcile_duration_seconds', 'kind'), legend: '{{kind}}' }],
  },
  {
    title: 'Queue',
    unit: 'short',
    description: 'Resources that wait for a worker.',
    queries: [{ expr: 'sum by (queue, priority) (clusterwright_queue_depth)', legend: '{{queue}} {{priority}}' }],
  },
  {
    title: 'Time in the queue',
    unit: 's',
    description: 'p99. Changes (`high`) wait less than a second.',
    queries: [{ expr: p99('queue_latency_seconds', 'priority'), legend: '{{priority}}' }],
  },
  {
    title: 'Requests to the API server',
    unit: 'ops',
    description: 'By verb and code. Code 0: no answer.',
    queries: [{ expr: `sum by (verb, code) (${rate('api_requests_total')})`, legend: '{{verb}} {{code}}' }],
  },
  {
    title: 'Duration of requests to the API server',
    unit: 's',
    description: 'p99. For a watch, the time until it starts.',
    queries: [{ expr: p99('api_request_duration_seconds', 'verb'), legend: '{{verb}}' }],
  },
  {
    title: 'Watches that ended',
    unit: 'short',
    description: 'In 15 minutes, by cause. `ended` is normal.',
    queries: [{ expr: 'sum by (cause) (increase(clusterwright_watch_restarts_total[15m]))', legend: '{{cause}}' }],
  },
  {
    title: 'Objects in the cache',
    unit: 'short',
    description: 'By resource.',
    queries: [{ expr: 'max by (resource) (clusterwright_store_objects)', legend: '{{resource}}' }],
  },
  {
    title: 'Memory',
    unit: 'bytes',
    description: 'By part, and the limit.',
    queries: [{ expr: 'max by (pod, part) (clusterwright_memory_bytes)', legend: '{{pod}} {{part}}' }],
  },
  {
    title: 'Delay of the event loop',
    unit: 's',
    description: 'p99 of how late a timer is. A second means that the process is overloaded.',
    queries: [{ expr: p99('event_loop_delay_seconds', 'pod'), legend: '{{pod}}' }],
  },
];
