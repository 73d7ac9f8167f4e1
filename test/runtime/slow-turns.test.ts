import { afterEach, beforeEach, expect, it } from 'vitest';
import { settled } from '../../src/plan/plan.ts';
import { createController } from '../../src/runtime/controller.ts';
import { createWorkQueue, type WorkQueue } from '../../src/runtime/queue.ts';
import { type ControllerParts, controllerParts } from '../support/controller-parts.ts';
import { testCluster, testEngine } from '../support/test-engine.ts';
import { turn } from '../support/virtual-clock.ts';

const engine = testEngine();
const names = Array.from({ length: 200 }, (_, i) => `c-${i}`);

let parts: ControllerParts;
let queue: WorkQueue;
let stopping: AbortController;
let ended: Promise<void>;
/** How many ran when a pass began, itself included; in order. */
let atOnce: number[];
let begun: string[];
/** What a pass does. Default: each answer costs 20 ms of the event loop's time, and it waits for five, one in each turn. */
let pass: (name: string) => Promise<void>;

async function costly(): Promise<void> {
  for (let i = 0; i < 5; i++) {
    await turn();
    parts.clock.jump(20);
  }
}

beforeEach(async () => {
  [atOnce, begun] = [[], []];
  pass = costly;
  let running = 0;
  parts = await controllerParts([], [engine]);
  const { cache, clock, log, metrics } = parts;
  queue = createWorkQueue({ name: 'clusters', clock, random: () => 0.5 });
  const controller = createController({
    engines: [engine],
    cache,
    queue,
    reconciler: {
      overdue: () => Promise.resolve(),
      async reconcile(_, { metadata }) {
        atOnce.push(++running);
        begun.push(metadata.name);
        await pass(metadata.name);
        running--;
        return { outcome: settled };
      },
    },
    listeners: { follow: () => undefined, forget: () => undefined, closeAll: () => undefined },
    status: { forget: () => undefined },
    clock,
    random: () => 0.5,
    log,
    metrics,
  });
  stopping = new AbortController();
  ended = controller.run(stopping.signal);
});
afterEach(async () => {
  stopping.abort();
  await parts.clock.advance(60_000);
  await ended;
  await parts.stop();
});

async function wait(times: number, ms: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    for (let k = 0; k < 4; k++) await turn();
    await parts.clock.advance(ms);
  }
}

it('where what processes say takes all the time there is, few passes run at once, so that the lease has its turn', async () => {
  for (const name of names) parts.api.put(testCluster(name));
  await wait(20, 50);
  expect(new Set(begun).size).toBe(names.length);
  // The first are begun before anybody knows what they cost.
  expect(Math.max(...atOnce.slice(0, 64))).toBe(64);
  expect(Math.max(...atOnce.slice(64))).toBeLessThanOrEqual(16);
});

/** Clusters that report all the time, of whose answers one in a hundred holds up the event loop. */
async function noise(clusters: number): Promise<void> {
  for (const name of names) parts.api.put(testCluster(name));
  await wait(40, 1000);
  const noisy = new Set(names.slice(0, clusters));
  let passes = 0;
  pass = async (name) => {
    if (noisy.has(name)) queue.add(`test/apps/${name}`, 'high');
    if (passes++ % 100 === 0) parts.clock.jump(300);
    for (let i = 0; i < 3; i++) await turn();
  };
  for (const name of noisy) queue.add(`test/apps/${name}`, 'high');
  await wait(20, 1);
  begun.length = 0;
}

it.each<['high' | 'recheck' | 'low', number]>([
  ['high', 30],
  ['recheck', 30],
  ['low', 30],
  ['recheck', 12],
])(
  'meanwhile a key of the lane %s has its turn, beside %i clusters that report all the time',
  async (lane, clusters) => {
    await noise(clusters);
    queue.add('test/apps/c-100', lane);
    await wait(50, 1);
    expect(begun.length).toBeGreaterThan(300);
    expect(begun).toContain('c-100');
    expect(begun.indexOf('c-100')).toBeLessThan(100);
  },
);

it('once turns are short again, all workers work', async () => {
  for (const name of names) parts.api.put(testCluster(name));
  await wait(40, 1000);
  atOnce.length = 0;
  for (const name of names) queue.add(`test/apps/${name}`, 'recheck');
  await wait(1, 50);
  expect(Math.max(...atOnce)).toBe(64);
});
