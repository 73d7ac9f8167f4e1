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

beforeEach(async () => {
  [atOnce, begun] = [[], []];
  let running = 0;
  parts = await controllerParts([], [engine]);
  const { cache, clock, log, metrics } = parts;
  queue = createWorkQueue({ name: 'clusters', clock, random: () => 0.5 });
  const controller = createController({
    engines: [engine],
    cache,
    queue,
    reconciler: {
      /** Each answer costs 20 ms of the event loop's time, and a pass waits for five, one in each turn. */
      async reconcile(_, { metadata }) {
        atOnce.push(++running);
        begun.push(metadata.name);
        for (let i = 0; i < 5; i++) {
          await turn();
          clock.jump(20);
        }
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

it('once turns are short again, all workers work', async () => {
  for (const name of names) parts.api.put(testCluster(name));
  await wait(40, 1000);
  atOnce.length = 0;
  for (const name of names) queue.add(`test/apps/${name}`, 'recheck');
  await wait(1, 50);
  expect(Math.max(...atOnce)).toBe(64);
});
