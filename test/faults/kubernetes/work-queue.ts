/** Keys that a controller has to look at: each once, a few milliseconds after the change that made it necessary. */
import type { Random } from '../../../src/system/clock.ts';
import type { VirtualTime } from '../world/time.ts';

export interface WorkQueue {
  add(key: string): void;
}

/** `lag`: shortest and longest time in milliseconds between a change and its work. */
export function workQueue(
  { time, random }: { readonly time: VirtualTime; readonly random: Random },
  lag: readonly [number, number],
  work: (key: string) => void,
): WorkQueue {
  const due = new Set<string>();
  return {
    add(key) {
      if (due.has(key)) return;
      due.add(key);
      time.after(lag[0] + random() * (lag[1] - lag[0]), () => {
        due.delete(key);
        work(key);
      });
    },
  };
}
