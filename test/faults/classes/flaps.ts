/** F18: the spec goes there and back while the operator is at work. */
import type { Fault } from '../plan.ts';
import { type FaultGenerator, moments, type Variant } from './fault-class.ts';

const more = [
  { oracle: 'O3', why: 'what was asked for in between is made and taken away again' },
  { oracle: 'O9', why: 'there was more to do' },
] as const;

const specs: readonly Readonly<Record<string, unknown>>[] = [
  { replicas: 5 },
  { replicas: 1 },
  { sentinel: { replicas: 5, quorum: 3 } },
  { config: { 'io-threads': 4 } },
  { paused: true },
];

export const flapping: FaultGenerator = {
  id: 'F18',
  title: 'spec there and back',
  exhaustive: false,
  variants(cell) {
    if (cell.scenario.before === undefined || cell.scenario.end === 'gone') return [];
    return specs.flatMap((spec) =>
      [300, 4_000, 25_000].flatMap((forMs) =>
        moments(cell, 2).map(
          (at): Variant => ({ faults: [{ do: 'flap', at, spec, forMs } satisfies Fault], mayDiffer: more }),
        ),
      ),
    );
  },
};
