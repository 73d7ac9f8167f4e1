/**
 * Virtual time for what is done a second time. A thread of the machine may be at work on it, such as at the key of a login: no timer tells of
 * that. So time does not go on by itself beyond what the first time took, before such a thread has had its time.
 */
import { setTimeout as realSleep } from 'node:timers/promises';
import type { VirtualTime } from '../world/time.ts';

/** Real milliseconds. Deriving a key takes five, and far more on a busy machine. */
const threadMs = 500;

/**
 * Runs timers until the condition holds. False when it did not within `patienceMs`.
 *
 * @param tookMs the first time
 */
export async function againUntil(
  time: VirtualTime,
  holds: () => boolean,
  { tookMs, patienceMs }: { readonly tookMs: number; readonly patienceMs: number },
): Promise<boolean> {
  const end = time.monotonic() + patienceMs;
  await time.advance(0);
  for (let waits = 0; !holds(); ) {
    const { next } = time;
    if ((next === undefined || next > Math.max(tookMs, time.monotonic())) && waits < threadMs) {
      waits++;
      await realSleep(1);
    } else if (next === undefined || next > end) {
      return false;
    } else {
      await time.advance(Math.max(0, next - time.monotonic()));
    }
  }
  return true;
}
