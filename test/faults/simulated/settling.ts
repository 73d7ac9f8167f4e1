/** Waiting, in virtual time, for a world to become what it should be and to stay so. */
import { targetOf } from '../wire/request.ts';
import type { Wire, WireEntry } from '../wire/wire.ts';
import type { VirtualTime } from '../world/time.ts';

/** How often the world is looked at. */
export const lookMs = 500;
/**
 * Longer than the queue's longest backoff, 30 s and a tenth of that, and than it takes a new process to get the lease of
 * a dead one: whatever is still to be written is written by then.
 */
const quietMs = 35_000;

export async function reaches(time: VirtualTime, holds: () => boolean, ms: number): Promise<boolean> {
  const end = time.monotonic() + ms;
  while (!holds()) {
    if (time.monotonic() >= end) return false;
    await time.advance(lookMs);
  }
  return true;
}

/** Settled: nothing to complain of, no write, and nothing of the faults left to notice, for a while. */
export function settles(
  time: VirtualTime,
  {
    complaints,
    wire,
  }: {
    readonly complaints: () => readonly string[];
    readonly wire: Pick<Wire, 'entries' | 'faultyUntil' | 'unnoticed'>;
  },
  ms: number,
): Promise<boolean> {
  let quietSince = time.monotonic();
  let seen = wire.entries.length;
  const isQuiet = (): boolean => {
    const isBusy =
      wire.entries.slice(seen).some(isWrite) ||
      complaints().length > 0 ||
      wire.unnoticed.length > 0 ||
      time.monotonic() < wire.faultyUntil;
    seen = wire.entries.length;
    if (isBusy) quietSince = time.monotonic();
    return time.monotonic() - quietSince >= quietMs;
  };
  return reaches(time, isQuiet, ms);
}

/** Whatever the operator sends that changes something, leases and events apart. */
export function isWrite({ verb, request }: WireEntry): boolean {
  if (request === undefined) return verb === 'command';
  return request.method !== 'GET' && !['leases', 'events'].includes(targetOf(request.path).resource);
}

/** Whether a promise has settled, as a question that can be asked between two steps of time. */
export function over(work: Promise<unknown>): () => boolean {
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  work.then(end, end);
  return () => isOver;
}
