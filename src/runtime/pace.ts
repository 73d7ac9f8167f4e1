/**
 * How soon to look again after actions. Their effect shows after a moment; where the same ones are asked for again and
 * again, it does not, and asking ever faster would only wear out the database and the API server.
 *
 * What is remembered is time and nothing else: it decides when the next pass begins, never what it does. A process that
 * starts anew begins with the shortest pause again.
 */
import type { Step } from '../plan/plan.ts';
import type { Clock } from '../system/clock.ts';
import type { ClusterKey } from './cache.ts';
import { describeStep } from './executor.ts';

/** An action shows in what the processes say after a moment; asking at once would find the old answer and repeat it. */
export const afterActionMs = 50;
const longestMs = 5_000;
/** Of the time for which an action has been repeated already. Whatever takes long is seen late by so much at most. */
const share = 1 / 4;
/** What has been repeated for so long has no effect. */
export const noEffectMs = 10_000;
/** A pass that comes later repeats nothing. */
const memoryMs = 60_000;
/** Of one cluster. */
const mostActions = 100;

export interface Paced {
  /** Milliseconds. */
  readonly after: number;
  /** Which of the actions have no effect, as far as can be seen. */
  readonly idle: readonly Step[];
  /** Some of them since this very pass. */
  readonly hasNewIdle: boolean;
}

export interface Pace {
  /** What a pass has just done. A pass without actions ends what was repeated. */
  after(key: ClusterKey, actions: readonly Step[]): Paced;
}

interface Repeated {
  /** Since when, and when last, by an action's kind and by its words. */
  readonly seen: Map<string, { readonly since: number; readonly last: number }>;
  told: number;
  at: number;
}

export function createPace(clock: Pick<Clock, 'monotonic'>): Pace {
  /** The one that was touched last stands last. */
  const known = new Map<ClusterKey, Repeated>();

  function forgetOld(now: number): void {
    for (const [key, { at }] of known) {
      if (now - at < memoryMs) return;
      known.delete(key);
    }
  }

  return {
    after(key, actions) {
      const now = clock.monotonic();
      forgetOld(now);
      const before = known.get(key);
      known.delete(key);
      if (actions.length === 0) return { after: afterActionMs, idle: [], hasNewIdle: false };
      const repeated: Repeated = before ?? { seen: new Map(), told: 0, at: now };
      const { seen } = repeated;
      for (const [text, { last }] of seen) if (now - last >= memoryMs) seen.delete(text);
      const ageOf = (text: string): number => {
        const since = seen.get(text)?.since ?? now;
        if (seen.has(text) || seen.size < mostActions) seen.set(text, { since, last: now });
        return now - since;
      };
      // By its kind: one that asks for a little more each time has no more effect than one that asks for the same.
      const ages = actions.map((action) => ageOf(kindOf(action)));
      const idle = actions.filter((action) => ageOf(describeStep(action)) >= noEffectMs);
      known.set(key, { ...repeated, told: idle.length, at: now });
      return {
        after: pauseAfter(Math.min(...ages)),
        idle,
        hasNewIdle: idle.length > repeated.told,
      };
    },
  };
}

/** Of what has been repeated for so long; both in milliseconds. */
export function pauseAfter(age: number): number {
  return Math.min(longestMs, Math.max(afterActionMs, Math.ceil(age * share)));
}

function kindOf(step: Step): string {
  return step.type === 'act' ? step.action.type : step.type;
}
