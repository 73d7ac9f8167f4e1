/** Chance from a seed: the same numbers in the same order, on every machine. */
import type { Random } from '../../../src/system/clock.ts';

/** Mulberry32: 32 bits of state, good enough to choose among faults. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}
