/** F7: nobody answers for half a minute, and afterwards the server has forgotten what was. */
import { type FaultGenerator, moments, type Variant } from './fault-class.ts';

export const apiDown: FaultGenerator = {
  id: 'F7',
  title: 'API server down for 30 s',
  exhaustive: false,
  variants: (cell) => moments(cell, 8).map((at): Variant => ({ faults: [{ do: 'apiDown', at, forMs: 30_000 }] })),
};
