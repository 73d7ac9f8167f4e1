/** Passes over the cluster of a rig, when a controller would begin them: on news, when it was asked to, and after a failure. */
import type { ReconcilerRig } from './reconciler-rig.ts';
import { turns } from './virtual-clock.ts';

const tickMs = 25;
const longestPauseMs = 30_000;

/** `meanwhile`: what others do before each pass, and whether they have written. `each`: after each pass. */
export async function playPasses(
  { api, clock, pass }: ReconcilerRig,
  ms: number,
  meanwhile: (now: number) => boolean,
  each: () => void = () => undefined,
): Promise<void> {
  const end = clock.monotonic() + ms;
  let due = clock.monotonic();
  let failures = 0;
  let isNews = true;
  while (clock.monotonic() < end) {
    if (meanwhile(clock.monotonic())) isNews = true;
    await turns();
    if (isNews || clock.monotonic() >= due) {
      const before = api.writes.length;
      try {
        const { again = Number.POSITIVE_INFINITY } = await pass();
        failures = 0;
        due = clock.monotonic() + again;
      } catch {
        due = clock.monotonic() + Math.min(longestPauseMs, 5 * 2 ** failures++);
      }
      each();
      await turns();
      isNews = api.writes.slice(before).some((write) => /configmaps|services/.test(write));
    }
    await clock.advance(tickMs);
  }
}
