/**
 * Every metric of the controller, by name, in one place.
 *
 * Labels are closed sets (kinds, verbs, outcomes), never names of objects: a thousand clusters must not mean a thousand
 * time series. Names follow Prometheus: base units, `_total` on counters.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export interface Metrics {
  readonly reconciles: Counter<'kind' | 'outcome'>;
  readonly reconcileDuration: Histogram<'kind' | 'outcome'>;
  readonly queueDepth: Gauge<'queue' | 'priority'>;
  readonly queueAdds: Counter<'queue'>;
  readonly queueRetries: Counter<'queue'>;
  readonly queueLatency: Histogram<'queue' | 'priority'>;
  readonly queueWork: Histogram<'queue'>;
  readonly apiRequests: Counter<'verb' | 'resource' | 'code' | 'refused_by'>;
  readonly apiDuration: Histogram<'verb' | 'resource'>;
  readonly watchEvents: Counter<'resource' | 'type'>;
  readonly watchRestarts: Counter<'resource' | 'cause'>;
  readonly storeObjects: Gauge<'resource'>;
  readonly handlerErrors: Counter<'resource'>;
  readonly rollouts: Gauge<'state'>;
  readonly rolloutsEnded: Counter<never>;
  readonly leader: Gauge<'lease'>;
  readonly recordedEvents: Counter<'outcome'>;
  readonly eventLoopDelay: Histogram<never>;
  readonly memory: Gauge<'part'>;
  /** The text that Prometheus scrapes. */
  text(): Promise<string>;
  readonly contentType: string;
}

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * A registry of its own, so that two controllers in one test process do not meet. `process: true` adds CPU, memory,
 * garbage collection and event loop delay (`nodejs_eventloop_lag_*`) of this process.
 */
export function createMetrics(options: { readonly process?: boolean } = {}): Metrics {
  const registry = new Registry();
  const registers = [registry];
  if (options.process === true) collectDefaultMetrics({ register: registry });

  const counter = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Counter({ name: `clusterwright_${name}`, help, labelNames, registers });
  const gauge = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Gauge({ name: `clusterwright_${name}`, help, labelNames, registers });
  const histogram = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Histogram({ name: `clusterwright_${name}`, help, labelNames, buckets: seconds, registers });

  return {
    reconciles: counter('reconcile_total', 'Reconciles of one cluster, by outcome.', ['kind', 'outcome']),
    reconcileDuration: histogram('reconcile_duration_seconds', 'Duration of one reconcile.', ['kind', 'outcome']),
    queueDepth: gauge('queue_depth', 'Keys waiting for a worker.', ['queue', 'priority']),
    queueAdds: counter('queue_adds_total', 'Keys added to the queue, including duplicates.', ['queue']),
    queueRetries: counter('queue_retries_total', 'Keys added again after a failure.', ['queue']),
    queueLatency: histogram('queue_latency_seconds', 'Time that a key waited for a worker after it was due.', [
      'queue',
      'priority',
    ]),
    queueWork: histogram('queue_work_duration_seconds', 'Time that a worker spent on a key.', ['queue']),
    apiRequests: counter('api_requests_total', 'Requests to the API server. Code 0: no answer.', [
      'verb',
      'resource',
      'code',
      'refused_by',
    ]),
    apiDuration: histogram(
      'api_request_duration_seconds',
      'Duration of requests to the API server. For a watch, the time until it starts.',
      ['verb', 'resource'],
    ),
    watchEvents: counter('watch_events_total', 'Watch events received, including bookmarks.', ['resource', 'type']),
    watchRestarts: counter('watch_restarts_total', 'Watches that ended, by cause.', ['resource', 'cause']),
    storeObjects: gauge('store_objects', 'Objects in the cache.', ['resource']),
    handlerErrors: counter('store_handler_errors_total', 'Errors in the handlers of watch events.', ['resource']),
    rollouts: gauge('rollouts', 'Clusters whose pods restart for changes, and clusters that wait for their turn.', [
      'state',
    ]),
    rolloutsEnded: counter('rollouts_ended_total', 'Clusters whose rollout has ended.', []),
    leader: gauge('leader', '1 while this process holds the lease.', ['lease']),
    recordedEvents: counter('events_total', 'Kubernetes events, by outcome.', ['outcome']),
    eventLoopDelay: histogram('event_loop_delay_seconds', 'Delay of a 20 ms timer after its due time.', []),
    memory: gauge('memory_bytes', 'Memory of this process, by part.', ['part']),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
