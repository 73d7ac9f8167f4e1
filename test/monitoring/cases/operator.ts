import { type AlertCase, always, rising, type Series } from '../case.ts';

const pod = 'namespace="clusterwright-system",pod="clusterwright-a"';
const requests = (code: string, values: string, more = ''): Series => ({
  [`clusterwright_api_requests_total{${pod},verb="patch",resource="pods",code="${code}"${more}}`]: values,
});
/** Changes that wait: sixty a minute, of which this many longer than five seconds. */
const waits = (slow: number): Series => ({
  [`clusterwright_queue_latency_seconds_bucket{${pod},priority="high",le="5"}`]: rising(60 - slow),
  [`clusterwright_queue_latency_seconds_bucket{${pod},priority="high",le="10"}`]: rising(60),
  [`clusterwright_queue_latency_seconds_bucket{${pod},priority="high",le="+Inf"}`]: rising(60),
});
const memory = (resident: number): Series => ({
  [`clusterwright_memory_bytes{${pod},part="resident"}`]: always(resident),
  [`clusterwright_memory_bytes{${pod},part="limit"}`]: always(1000),
});
/** So many clusters wait behind one, and so many rollouts have ended. */
const rollouts = (waiting: number, ended: string): Series => ({
  [`clusterwright_rollouts{${pod},state="waiting"}`]: always(waiting),
  [`clusterwright_rollouts{${pod},state="running"}`]: always(1),
  [`clusterwright_rollouts_ended_total{${pod}}`]: ended,
});

export const operatorCases: readonly AlertCase[] = [
  {
    alert: 'OperatorAway',
    fires: { [`clusterwright_leader{${pod}}`]: always(0) },
    labels: {},
    quiet: { [`clusterwright_leader{${pod}}`]: always(1) },
  },
  {
    alert: 'OperatorPassesFail',
    fires: { [`clusterwright_reconcile_total{${pod},kind="RedisCluster",outcome="failed"}`]: rising(2) },
    labels: { kind: 'RedisCluster' },
    quiet: { [`clusterwright_reconcile_total{${pod},kind="RedisCluster",outcome="failed"}`]: rising(1) },
  },
  { alert: 'OperatorLate', fires: waits(5), labels: {}, quiet: waits(0) },
  {
    alert: 'OperatorRefused',
    story: 'once a minute; a quota does not count',
    fires: requests('403', rising(1)),
    labels: { resource: 'pods', code: '403' },
    quiet: requests('403', rising(1), ',refused_by="admission"'),
  },
  {
    alert: 'OperatorRefused',
    story: 'longer than an API server restarts',
    fires: requests('503', rising(1)),
    labels: { resource: 'pods', code: '503' },
    quiet: { ...requests('503', '0x47 30x13'), ...requests('409', rising(5)) },
  },
  {
    alert: 'RolloutsHeldUp',
    fires: rollouts(2, always(3)),
    labels: { namespace: 'clusterwright-system' },
    quiet: rollouts(2, '3x40 4x20'),
  },
  {
    alert: 'RolloutsHeldUp',
    story: 'another operator that ends rollouts hides nothing',
    fires: {
      ...rollouts(2, always(3)),
      ['clusterwright_rollouts{namespace="other",state="waiting"}']: always(0),
      ['clusterwright_rollouts_ended_total{namespace="other"}']: rising(1),
    },
    labels: { namespace: 'clusterwright-system' },
    quiet: rollouts(2, '3x40 4x20'),
  },
  {
    alert: 'RolloutsHeldUp',
    story: 'nobody waits while one rolls out for long',
    fires: rollouts(1, always(0)),
    labels: { namespace: 'clusterwright-system' },
    quiet: rollouts(0, always(0)),
  },
  {
    alert: 'OperatorShortOfMemory',
    fires: memory(900),
    labels: { namespace: 'clusterwright-system', pod: 'clusterwright-a' },
    quiet: memory(800),
  },
  {
    alert: 'OperatorShortOfMemory',
    story: 'without a limit it is never short',
    fires: memory(900),
    labels: { namespace: 'clusterwright-system', pod: 'clusterwright-a' },
    quiet: { [`clusterwright_memory_bytes{${pod},part="resident"}`]: always(1e12) },
  },
];
