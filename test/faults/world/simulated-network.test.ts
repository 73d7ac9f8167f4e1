import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Network } from './network.ts';
import { seeded } from './random.ts';
import { simulatedNetwork } from './simulated-network.ts';
import { type VirtualTime, virtualTime } from './time.ts';

interface World {
  readonly time: VirtualTime;
  readonly network: Network;
  /** What the server at 10.0.0.2:1 has heard, and what has become of its connections. */
  readonly heard: string[];
  dial(host?: string, from?: string): ReturnType<Network['dial']>;
}

/** A server at 10.0.0.2:1 that says everything back. */
function world(): World {
  const time = virtualTime();
  const network = simulatedNetwork(time, seeded(1));
  const heard: string[] = [];
  network.listen('10.0.0.2', 1, (stream, from) => {
    heard.push(`from ${from}`);
    stream.on('data', (chunk: Buffer) => {
      heard.push(chunk.toString());
      stream.write(chunk);
    });
    for (const event of ['end', 'close'] as const) stream.on(event, () => heard.push(event));
    stream.on('error', (error: NodeJS.ErrnoException) => heard.push(error.code ?? error.message));
  });
  const dial: World['dial'] = (host = '10.0.0.2', from = '10.0.0.1') =>
    network.dial(from, host, 1, new AbortController().signal);
  return { time, network, heard, dial };
}

async function connected(w: World): Promise<{ stream: Awaited<ReturnType<Network['dial']>>; events: string[] }> {
  const opening = w.dial();
  await w.time.advance(2);
  const stream = await opening;
  const events: string[] = [];
  stream.on('data', (chunk: Buffer) => events.push(chunk.toString()));
  for (const event of ['end', 'close'] as const) stream.on(event, () => events.push(event));
  stream.on('error', (error: NodeJS.ErrnoException) => events.push(error.code ?? error.message));
  return { stream, events };
}

/** Settles with the error's code, or `pending`. */
async function codeOf(w: World, dialled: Promise<unknown>, ms: number): Promise<string> {
  let outcome = 'pending';
  dialled.then(
    () => {
      outcome = 'connected';
    },
    (error: NodeJS.ErrnoException) => {
      outcome = error.code ?? error.message;
    },
  );
  await w.time.advance(ms);
  return outcome;
}

describe('the simulated network', () => {
  it('takes a moment each way, and keeps the order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.string({ minLength: 1 }), fc.integer({ min: 0, max: 3 }))),
        async (parts) => {
          const w = world();
          const { stream, events } = await connected(w);
          for (const [text, tenths] of parts) {
            stream.write(text);
            await w.time.advance(tenths / 10);
          }
          await w.time.advance(10);
          expect(events.join('')).toBe(parts.map(([text]) => text).join(''));
        },
      ),
      { numRuns: 50 },
    );
  });

  it('needs between 0.2 and 0.5 ms for each way', async () => {
    const w = world();
    const { stream, events } = await connected(w);
    stream.write('a');
    await w.time.advance(0.39);
    expect(events).toEqual([]);
    await w.time.advance(0.61);
    expect(events).toEqual(['a']);
  });

  it('costs one timer for what one side wrote at one moment', async () => {
    const w = world();
    const { stream } = await connected(w);
    const before = w.time.steps;
    for (let i = 0; i < 100; i++) stream.write('x');
    await w.time.advance(10);
    expect(w.time.steps - before).toBeLessThanOrEqual(2);
  });

  it('refuses where nobody listens, and knows no strange names', async () => {
    const w = world();
    expect(await codeOf(w, w.dial('10.0.0.3'), 5)).toBe('ECONNREFUSED');
    expect(await codeOf(w, w.dial('db-0.db'), 5)).toBe('ENOTFOUND');
    w.network.resolve = (host) => (host === 'db-0.db' ? '10.0.0.2' : undefined);
    expect(await codeOf(w, w.dial('db-0.db'), 5)).toBe('connected');
  });

  it('lets nobody listen twice, and refuses when nobody listens any more', async () => {
    const w = world();
    expect(() => w.network.listen('10.0.0.2', 1, () => undefined)).toThrow(/EADDRINUSE/);
    const stop = w.network.listen('10.0.0.2', 2, () => undefined);
    stop();
    const dialled = w.network.dial('10.0.0.1', '10.0.0.2', 2, new AbortController().signal);
    expect(await codeOf(w, dialled, 5)).toBe('ECONNREFUSED');
  });

  it.each([
    ['end', ['a', 'end', 'close']],
    ['destroy', ['end', 'close']],
  ] as const)('%s closes both sides', async (how, seen) => {
    const w = world();
    const { stream, events } = await connected(w);
    stream.write('a');
    stream[how]();
    await w.time.advance(5);
    expect(w.heard).toEqual(['from 10.0.0.1', 'a', 'end', 'close']);
    // Who destroys its own end hears nothing more of it.
    expect(events).toEqual(how === 'end' ? seen : ['close']);
  });

  it('a cut drops silently; what was sent arrives in order once it is healed', async () => {
    const w = world();
    const { stream, events } = await connected(w);
    const heal = w.network.cut(['10.0.0.2'], 'all');
    expect(w.network.reaches('10.0.0.1', '10.0.0.2')).toBe(false);
    expect(w.network.reaches('10.0.0.2', '10.0.0.2')).toBe(true);
    stream.write('a');
    await w.time.advance(1000);
    stream.write('b');
    const dialled = w.dial();
    expect(await codeOf(w, dialled, 60_000)).toBe('pending');
    expect([w.heard, events]).toEqual([['from 10.0.0.1'], []]);
    heal();
    heal();
    await w.time.advance(500);
    expect(w.heard.filter((text) => text !== 'from 10.0.0.1').join('')).toBe('ab');
    expect(events.join('')).toBe('ab');
    expect(await codeOf(w, dialled, 1)).toBe('connected');
  });

  it('a cut is between two sets only', () => {
    const { network } = world();
    network.cut(['a'], ['b', 'c']);
    const pairs = [
      ['a', 'b'],
      ['c', 'a'],
      ['b', 'c'],
      ['a', 'd'],
    ] as const;
    expect(pairs.map(([from, to]) => network.reaches(from, to))).toEqual([false, false, true, true]);
  });

  it('who is given up behind a cut learns of it after the cut', async () => {
    const w = world();
    const { stream } = await connected(w);
    const heal = w.network.cut(['10.0.0.1'], ['10.0.0.2']);
    stream.destroy();
    await w.time.advance(60_000);
    expect(w.heard).toEqual(['from 10.0.0.1']);
    heal();
    await w.time.advance(1000);
    expect(w.heard).toEqual(['from 10.0.0.1', 'end', 'close']);
  });

  it('a connection attempt ends with its signal, also behind a cut', async () => {
    const w = world();
    w.network.cut(['10.0.0.2'], 'all');
    const giveUp = new AbortController();
    const dialled = w.network.dial('10.0.0.1', '10.0.0.2', 1, giveUp.signal);
    await w.time.advance(100);
    giveUp.abort(new Error('too late'));
    expect(await codeOf(w, dialled, 1)).toBe('too late');
  });

  it('a reset is an error on both sides', async () => {
    const w = world();
    const { events } = await connected(w);
    w.network.reset('10.0.0.2');
    await w.time.advance(5);
    expect(events).toEqual(['ECONNRESET', 'close']);
    expect(w.heard).toEqual(['from 10.0.0.1', 'ECONNRESET', 'close']);
  });
});
