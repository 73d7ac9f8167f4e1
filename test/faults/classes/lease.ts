/** F14: the right to write is lost in the middle of the work. */
import { type FaultGenerator, moments, type Variant } from './fault-class.ts';

export const leaseLost: FaultGenerator = {
  id: 'F14',
  title: 'lease lost, or process paused',
  exhaustive: false,
  variants: (cell) =>
    moments(cell, 6).flatMap((at): Variant[] => [
      { faults: [{ do: 'loseLease', at, how: 'stolen' }] },
      { faults: [{ do: 'loseLease', at, how: 'paused' }] },
      { faults: [{ do: 'loseLease', at, how: 'unrenewed' }] },
    ]),
};
