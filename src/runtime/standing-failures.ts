/**
 * What failed in steps that a later pass did not reach. While a change has to wait, the steps behind it are not tried: their failures still
 * stand, or the status would say that all is well in between.
 *
 * What is remembered is the last answer and its time. A process that starts anew learns it when it tries the step.
 */
import type { Step } from '../plan/plan.ts';
import type { Clock } from '../system/clock.ts';
import type { ClusterKey } from './cache.ts';
import { describeStep, StepFailed } from './executor.ts';

/** No change waits as long. */
const memoryMs = 20_000;

export interface Failures {
  /** Why the run was cut off; undefined where it was not. */
  readonly failure: unknown;
  /** Of steps that others need not wait for. */
  readonly failures: readonly StepFailed[];
}

export interface StandingFailures {
  /** What a pass came to, with the earlier failures of the steps that it did not reach. `unreached`: these steps, of its plan. */
  after(key: ClusterKey, pass: Failures, unreached: readonly Step[]): Failures;
}

export function createStandingFailures(clock: Pick<Clock, 'monotonic'>): StandingFailures {
  /** The one that was touched last stands last. */
  const known = new Map<ClusterKey, Failures & { readonly at: number }>();

  function forgetOld(now: number): void {
    for (const [key, { at }] of known) {
      if (now - at < memoryMs) return;
      known.delete(key);
    }
  }

  return {
    after(key, { failure, failures }, unreached) {
      const now = clock.monotonic();
      forgetOld(now);
      const before = known.get(key);
      known.delete(key);
      const names = new Set(unreached.map(describeStep));
      const stands = (earlier: unknown): boolean =>
        earlier instanceof StepFailed ? names.has(describeStep(earlier.step)) : names.size > 0;
      const all = {
        failure: failure ?? (stands(before?.failure) ? before?.failure : undefined),
        failures: [...failures, ...(before?.failures ?? []).filter(stands)],
      };
      if (all.failure !== undefined || all.failures.length > 0) known.set(key, { ...all, at: now });
      return all;
    },
  };
}
