import { expect, it } from 'vitest';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { observeProcess } from '../../src/runtime/self-observation.ts';
import { samplesOf } from '../support/metrics-text.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const delays = 'clusterwright_event_loop_delay_seconds';

it('a loop that was blocked shows as late timers, and memory as it is at the time', async () => {
  const clock = new VirtualClock();
  const metrics = createMetrics();
  let heapUsed = 1;
  const memory = () => ({ rss: 4, heapUsed, heapTotal: 3, external: 2, limit: 9 });
  const stop = observeProcess({ clock, metrics, memory });
  const value = async (name: string, label: string): Promise<number | undefined> =>
    samplesOf(await metrics.text()).find((each) => each.name === name && Object.values(each.labels).includes(label))
      ?.value;

  await clock.advance(40);
  expect(await value(`${delays}_bucket`, '0.001')).toBe(2);
  clock.jump(300);
  await clock.advance(0);
  expect(await value(`${delays}_bucket`, '0.25')).toBe(2);
  expect(await value(`${delays}_bucket`, '0.5')).toBe(3);

  heapUsed = 7;
  await clock.advance(1000);
  expect(await value('clusterwright_memory_bytes', 'heap_used')).toBe(7);
  expect(await value('clusterwright_memory_bytes', 'limit')).toBe(9);
  stop();
  expect(clock.pending).toEqual([]);
});

it.each([undefined, 0, 2 ** 63, Number.POSITIVE_INFINITY])('a memory limit of %s is none', async (limit) => {
  const metrics = createMetrics();
  const memory = () => ({ rss: 4, heapUsed: 1, heapTotal: 3, external: 2, limit });
  observeProcess({ clock: new VirtualClock(), metrics, memory })();
  const parts = samplesOf(await metrics.text()).filter(({ name }) => name === 'clusterwright_memory_bytes');
  expect(parts.map(({ labels }) => labels.part)).toEqual(['resident', 'heap_used', 'heap_total', 'external']);
});
