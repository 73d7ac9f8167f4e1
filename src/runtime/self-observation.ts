/** What the process tells about itself beside its work: how late its event loop runs, and what memory it takes. */
import type { Clock } from '../system/clock.ts';
import type { Metrics } from './metrics.ts';

/** Often enough to see a block of tens of milliseconds, seldom enough to cost nothing. */
const sampleMs = 20;
/** Prometheus scrapes less often than that. */
const memoryMs = 1000;

export interface Memory {
  readonly rss: number;
  readonly heapUsed: number;
  readonly heapTotal: number;
  readonly external: number;
  /** What the process may take. Undefined, 0 or more than a number holds exactly: no limit is known. */
  readonly limit: number | undefined;
}

/** Observes until the returned function is called. */
export function observeProcess(options: {
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, 'eventLoopDelay' | 'memory'>;
  readonly memory: () => Memory;
}): () => void {
  const { clock, metrics, memory } = options;
  let cancelSample: () => void = () => undefined;
  let cancelMemory: () => void = () => undefined;

  const sample = (): void => {
    const due = clock.monotonic() + sampleMs;
    cancelSample = clock.after(sampleMs, () => {
      metrics.eventLoopDelay.observe(Math.max(0, clock.monotonic() - due) / 1000);
      sample();
    });
  };
  const weigh = (): void => {
    const { rss, heapUsed, heapTotal, external, limit = 0 } = memory();
    metrics.memory.set({ part: 'resident' }, rss);
    metrics.memory.set({ part: 'heap_used' }, heapUsed);
    metrics.memory.set({ part: 'heap_total' }, heapTotal);
    metrics.memory.set({ part: 'external' }, external);
    if (limit > 0 && Number.isSafeInteger(limit)) metrics.memory.set({ part: 'limit' }, limit);
    cancelMemory = clock.after(memoryMs, weigh);
  };

  sample();
  weigh();
  return () => {
    cancelSample();
    cancelMemory();
  };
}
