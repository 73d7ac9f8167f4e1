/** Any mixture of changes and faults: the store ends equal to the server, and its listeners were told no nonsense. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { keyOf } from '../../src/runtime/store.ts';
import { summarize } from '../support/api-model.ts';
import { errorLine, type Fault, MisbehavingServer } from '../support/misbehaving-server.ts';
import { turn } from '../support/virtual-clock.ts';
import { Reflection } from './reflection.ts';

const at = fc.constantFrom('watch', 'initial', 'list', 'page') as fc.Arbitrary<'watch' | 'initial' | 'list' | 'page'>;
const stream = fc.constantFrom('watch', 'initial') as fc.Arbitrary<'watch' | 'initial'>;
const after = fc.nat(8);

const fault: fc.Arbitrary<Fault> = fc.oneof(
  fc.record({ at, status: fc.constantFrom(410, 429, 500, 503, 504) }),
  fc.record({ at, drop: fc.constant(true as const) }),
  fc.record({ at: stream, end: fc.constantFrom('clean', 'reset', 'mid-line', 'hang'), after }) as fc.Arbitrary<Fault>,
  fc.record({ at: stream, line: fc.constantFrom(errorLine(410), errorLine(500), '{"type":', '}'), after }),
  fc.record({ at: stream, replay: fc.nat(6) }),
);

const name = fc.constantFrom('a', 'b', 'c');
type Step = (r: Reflection) => Promise<void> | void;
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.tuple(name, fc.string()).map(
      ([n, v]): Step =>
        (r) =>
          void r.server.model.put(n, v),
    ),
  },
  {
    weight: 2,
    arbitrary: name.map(
      (n): Step =>
        (r) =>
          r.server.model.delete(n),
    ),
  },
  {
    weight: 1,
    arbitrary: name.map(
      (n): Step =>
        (r) =>
          void r.server.model.recreate(n),
    ),
  },
  { weight: 1, arbitrary: fc.constant<Step>((r) => r.server.model.compact()) },
  { weight: 1, arbitrary: fc.constant<Step>((r) => r.server.bookmark()) },
  { weight: 2, arbitrary: fc.constant<Step>((r) => r.server.endWatches()) },
  {
    weight: 3,
    arbitrary: fault.map(
      (f): Step =>
        (r) =>
          r.server.fault(f),
    ),
  },
  {
    weight: 4,
    arbitrary: fc.nat(20_000).map(
      (ms): Step =>
        (r) =>
          r.clock.advance(ms),
    ),
  },
);

const same = (r: Reflection): boolean => JSON.stringify(r.summary) === JSON.stringify(r.server.model.summary);

/** Enough for a request over loopback and its answer, most of the time. */
async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await turn();
}

/** Faults are used up, pauses pass, dead connections are noticed. */
async function settle(r: Reflection): Promise<void> {
  const healthy = (): boolean => r.server.openWatches > 0 && r.reflector.connected && same(r);
  for (let round = 0; round < 400 && !healthy(); round++) {
    for (let i = 0; i < 40 && !healthy(); i++) await turn();
    if (!healthy()) await r.clock.advance(10_000);
  }
}

it('converges', async () => {
  const shape = fc.tuple(fc.boolean(), fc.constantFrom('status', 'event'), fc.option(fc.integer({ min: 1, max: 40 })));
  await fc.assert(
    fc.asyncProperty(
      shape,
      fc.array(step, { minLength: 20, maxLength: 60, size: 'max' }),
      async ([initial, goneAs, chunk], steps) => {
        const server = await new MisbehavingServer().start();
        server.behaviour.initialEvents = initial;
        server.behaviour.goneAs = goneAs as 'status' | 'event';
        server.behaviour.chunkBytes = chunk ?? undefined;
        const r = new Reflection(server);
        for (const act of steps) {
          await act(r);
          await turns(6);
        }
        await settle(r);
        expect(r.summary).toEqual(server.model.summary);
        const told = new Map<string, KubeObject>();
        for (const { type, object, previous } of r.changes) {
          expect(told.get(keyOf(object.metadata))).toEqual(previous);
          if (type === 'deleted') told.delete(keyOf(object.metadata));
          else told.set(keyOf(object.metadata), object);
        }
        expect(summarize([...told.values()])).toEqual(r.summary);
        expect(r.ends).not.toContain('failed');
        await r.stop();
      },
    ),
    { numRuns: 60 },
  );
}, 30_000);
