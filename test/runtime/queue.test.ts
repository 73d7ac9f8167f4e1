import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { createWorkQueue, type Priority, type WorkQueue } from '../../src/runtime/queue.ts';
import { turn, VirtualClock } from '../support/virtual-clock.ts';

function newQueue(clock = new VirtualClock()): { readonly clock: VirtualClock; readonly queue: WorkQueue } {
  return { clock, queue: createWorkQueue({ name: 'test', clock, random: () => 0.5 }) };
}

/** Takes everything that is due, in order, and is done with each at once. */
async function takeAll(queue: WorkQueue): Promise<string[]> {
  const taken: string[] = [];
  while (queue.depth > 0) {
    const key = (await queue.take()) ?? '';
    taken.push(key);
    queue.done(key);
  }
  return taken;
}

describe('a work queue', () => {
  it('hands out high before low, each in the order of arrival, and lifts a key that becomes urgent', async () => {
    const { queue } = newQueue();
    for (const key of ['l1', 'l2', 'l3']) queue.add(key, 'low');
    for (const key of ['h1', 'h2', 'l3']) queue.add(key, 'high');
    queue.add('h1', 'low');
    expect(await takeAll(queue)).toEqual(['h1', 'h2', 'l3', 'l1', 'l2']);
  });

  it('lets one of four be a recheck, and one of sixteen be low, where every lane is full', async () => {
    const { queue } = newQueue();
    for (let i = 0; i < 64; i++)
      for (const lane of ['high', 'recheck', 'low'] as const) queue.add(`${lane}-${i}`, lane);
    const taken = (await takeAll(queue)).slice(0, 64).map((key) => key.split('-')[0]);
    const count = (lane: string): number => taken.filter((each) => each === lane).length;
    expect([count('high'), count('recheck'), count('low')]).toEqual([45, 15, 4]);
  });

  it('holds no more rechecks and low keys at once than it may, and any number of high ones', async () => {
    const clock = new VirtualClock();
    const queue = createWorkQueue({ name: 'test', clock, random: () => 0.5, backgroundLimit: 2 });
    for (const key of ['r1', 'r2', 'r3']) queue.add(key, 'recheck');
    queue.add('l1', 'low');
    expect([await queue.take(), await queue.take()]).toEqual(['r1', 'r2']);
    const taken: string[] = [];
    for (let i = 0; i < 3; i++) void queue.take().then((key) => taken.push(key ?? ''));
    await turn();
    expect([taken, queue.laneOf('r1'), queue.laneOf('l1')]).toEqual([[], 'recheck', undefined]);
    queue.add('h1');
    queue.add('r3', 'high');
    await turn();
    expect([taken, queue.laneOf('r3')]).toEqual([['h1', 'r3'], 'high']);
    queue.done('h1');
    await turn();
    expect(taken).toEqual(['h1', 'r3']);
    queue.done('r1');
    await turn();
    expect(taken).toEqual(['h1', 'r3', 'l1']);
  });

  it('lets one low key through after fifteen high ones', async () => {
    const { queue } = newQueue();
    queue.add('low', 'low');
    for (let i = 0; i < 40; i++) queue.add(`high-${i}`);
    expect((await takeAll(queue)).indexOf('low')).toBe(15);
  });

  it('keeps the earliest of several delayed adds, with the highest priority', async () => {
    const { queue, clock } = newQueue();
    queue.addAfter('a', 500, 'low');
    queue.addAfter('a', 100, 'low');
    queue.addAfter('a', 900, 'high');
    queue.addAfter('b', 50, 'low');
    await clock.advance(99);
    expect(queue.depth).toBe(1);
    await clock.advance(1);
    expect(await takeAll(queue)).toEqual(['a', 'b']);
    await clock.advance(10_000);
    expect(queue.depth).toBe(0);
  });

  it('backs off per key from 5 ms to 30 s and starts anew after success', async () => {
    const { queue, clock } = newQueue();
    const delays: number[] = [];
    for (let i = 0; i < 20; i++) {
      queue.retry('a');
      delays.push(clock.pending[0] ?? 0);
      await clock.advance(30_000);
      await takeAll(queue);
    }
    expect(delays.slice(0, 4)).toEqual([5, 10, 20, 40]);
    expect(delays.slice(-2)).toEqual([30_000, 30_000]);
    expect(queue.retries('a')).toBe(20);
    queue.forget('a');
    queue.retry('a');
    expect([clock.pending[0], queue.retries('a')]).toEqual([5, 1]);
  });

  it('a retry keeps the priority that the key was taken with', async () => {
    const { queue, clock } = newQueue();
    queue.add('a', 'low');
    const key = (await queue.take()) ?? '';
    queue.retry(key);
    queue.done(key);
    await clock.advance(10);
    queue.add('b', 'high');
    expect(await takeAll(queue)).toEqual(['b', 'a']);
  });

  it('wakes a worker that waits', async () => {
    const { queue } = newQueue();
    const [first, second] = [queue.take(), queue.take()];
    queue.add('a');
    queue.add('b');
    expect(await Promise.all([first, second])).toEqual(['a', 'b']);
  });

  it('shuts down: waiting workers leave, nothing more is handed out, and it waits for those at work', async () => {
    const { queue, clock } = newQueue();
    queue.add('busy');
    const busy = (await queue.take()) ?? '';
    const idle = queue.take();
    queue.addAfter('later', 10);
    let drained = false;
    const down = queue.shutDown().then(() => {
      drained = true;
    });
    queue.add('new');
    expect(await idle).toBeUndefined();
    expect(await queue.take()).toBeUndefined();
    await clock.advance(100);
    expect([queue.depth, drained, clock.pending]).toEqual([0, false, []]);
    queue.add('busy');
    queue.done(busy);
    await down;
    expect(queue.depth).toBe(0);
  });

  it('done without take is an error', () => {
    expect(() => newQueue().queue.done('a')).toThrow('no worker holds a');
  });

  it('measures depth, latency and work', async () => {
    const clock = new VirtualClock();
    const metrics = createMetrics();
    const queue = createWorkQueue({ name: 'test', clock, random: () => 0.5, metrics });
    queue.add('a');
    queue.add('b', 'low');
    await clock.advance(2000);
    queue.done((await queue.take()) ?? '');
    const text = await metrics.text();
    expect(text).toContain('clusterwright_queue_depth{queue="test",priority="high"} 0');
    expect(text).toContain('clusterwright_queue_depth{queue="test",priority="low"} 1');
    expect(text).toContain('clusterwright_queue_latency_seconds_sum{queue="test",priority="high"} 2');
    expect(text).toContain('clusterwright_queue_work_duration_seconds_count{queue="test"} 1');
  });
});

describe('under any use', () => {
  const key = fc.constantFrom('a', 'b', 'c');
  const priority = fc.constantFrom<Priority>('high', 'recheck', 'low');

  /** What must be handed out still, and what is out. */
  class Model {
    readonly clock = new VirtualClock();
    readonly queue = newQueue(this.clock).queue;
    readonly owed = new Set<string>();
    readonly held = new Set<string>();
    readonly due = new Map<string, number>();

    async advance(ms: number): Promise<void> {
      await this.clock.advance(ms);
      for (const [name, at] of this.due) {
        if (at > this.clock.monotonic()) continue;
        this.due.delete(name);
        this.owed.add(name);
      }
    }

    delay(name: string, ms: number): void {
      const at = this.clock.monotonic() + ms;
      if (ms === 0) this.owed.add(name);
      else this.due.set(name, Math.min(at, this.due.get(name) ?? at));
    }

    async take(): Promise<void> {
      if (this.queue.depth === 0) return;
      const taken = (await this.queue.take()) ?? '';
      expect(this.held).not.toContain(taken);
      expect(this.owed).toContain(taken);
      this.owed.delete(taken);
      this.held.add(taken);
    }

    done(name: string): void {
      if (this.held.delete(name)) this.queue.done(name);
    }

    check(): void {
      expect(this.queue.depth).toBe([...this.owed].filter((name) => !this.held.has(name)).length);
    }
  }

  const step: fc.Arbitrary<(model: Model) => Promise<void> | void> = fc.oneof(
    fc.tuple(key, priority).map(([k, p]) => (m: Model) => {
      m.queue.add(k, p);
      m.owed.add(k);
    }),
    fc.tuple(key, fc.nat(50), priority).map(([k, ms, p]) => (m: Model) => {
      m.queue.addAfter(k, ms, p);
      m.delay(k, ms);
    }),
    fc.constant((m: Model) => m.take()),
    key.map((k) => (m: Model) => m.done(k)),
    fc.nat(60).map((ms) => (m: Model) => m.advance(ms)),
  );

  it('nothing is lost, nothing is handed out twice at once, nothing is made up', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const model = new Model();
        for (const act of steps) {
          await act(model);
          model.check();
        }
      }),
      { numRuns: 150 },
    );
  });

  it('every add is followed by a pass that begins after it, with any number of workers', async () => {
    const adds = fc.array(fc.tuple(key, fc.nat(20), fc.nat(30), priority), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(adds, fc.integer({ min: 1, max: 4 }), async (plan, workers) => {
        const { queue, clock } = newQueue();
        const added = new Map<string, number>();
        const seen = new Map<string, number>();
        const busy = new Set<string>();
        const work = async (): Promise<void> => {
          for (let name = await queue.take(); name !== undefined; name = await queue.take()) {
            expect(busy).not.toContain(name);
            busy.add(name);
            seen.set(name, added.get(name) ?? 0);
            await new Promise<void>((resolve) => clock.after(plan.length % 17, resolve));
            busy.delete(name);
            queue.done(name);
          }
        };
        const crew = Array.from({ length: workers }, work);
        for (const [name, wait, delay, urgency] of plan) {
          await clock.advance(wait);
          added.set(name, (added.get(name) ?? 0) + 1);
          queue.addAfter(name, delay, urgency);
        }
        for (let i = 0; i < 10; i++) await clock.advance(50);
        await turn();
        expect(seen).toEqual(added);
        await queue.shutDown();
        await Promise.all(crew);
      }),
      { numRuns: 30 },
    );
  });
});
