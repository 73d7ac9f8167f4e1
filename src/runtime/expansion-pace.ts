/**
 * When a volume expansion that the API server refused is asked for again. Neither StorageClasses nor quotas are watched, and a
 * reconcile may come every second, so each claim has growing pauses. They end when the claim or the spec of its cluster
 * changes: somebody may have made it possible.
 *
 * What is remembered is time and the last answer, which still stands. A process that starts anew asks at once.
 */
import type { Cluster } from '../api/cluster.ts';
import type { Step } from '../plan/plan.ts';
import type { Children } from '../resources/children.ts';
import type { Clock } from '../system/clock.ts';
import { StepFailed } from './executor.ts';
import { type Expansion, isExpansion, isRefusal } from './refused-expansion.ts';

const shortestMs = 1_000;
/** As often as the plan asks where nothing else is waited for. */
const longestMs = 60_000;
/** After which an answer that nobody has asked for again is forgotten. */
const memoryMs = 10 * longestMs;

/** What a plan was made from. */
export interface PlannedFor {
  readonly cluster: Cluster;
  readonly children: Pick<Children, 'claims'>;
}

export interface DueExpansions {
  /** All steps but the expansions that have to wait. Others need not wait for those. */
  readonly steps: readonly Step[];
  /** What the API server has said of those that wait. */
  readonly standing: readonly StepFailed[];
  /** Milliseconds until the first of them may be asked for; undefined where none waits. */
  readonly afterMs?: number;
}

export interface ExpansionPace {
  due(steps: readonly Step[], plannedFor: PlannedFor): DueExpansions;
  /** These steps have failed. */
  failed(failures: readonly StepFailed[], plannedFor: PlannedFor): void;
}

interface Refusal {
  /** What was asked for, and of what. */
  readonly request: string;
  readonly cause: unknown;
  readonly at: number;
  readonly pauseMs: number;
}

export function createExpansionPace(clock: Pick<Clock, 'monotonic'>): ExpansionPace {
  /** By the UID of the claim. What was refused last stands last. */
  const known = new Map<string, Refusal>();

  function forgetOld(now: number): void {
    for (const [uid, { at }] of known) {
      if (now - at < memoryMs) return;
      known.delete(uid);
    }
  }

  function refusalOf(step: Expansion, plannedFor: PlannedFor): Refusal | undefined {
    const refusal = known.get(step.ref.uid);
    return refusal?.request === requestOf(step, plannedFor) ? refusal : undefined;
  }

  return {
    due(steps, plannedFor) {
      const now = clock.monotonic();
      forgetOld(now);
      const waiting = steps.filter(isExpansion).flatMap((step) => {
        const { at, pauseMs, cause } = refusalOf(step, plannedFor) ?? { at: now, pauseMs: 0, cause: undefined };
        const leftMs = at + pauseMs - now;
        return leftMs > 0 ? [{ step, cause, leftMs }] : [];
      });
      if (waiting.length === 0) return { steps, standing: [] };
      const held = new Set<Step>(waiting.map(({ step }) => step));
      return {
        steps: steps.filter((step) => !held.has(step)),
        standing: waiting.map(({ step, cause }) => new StepFailed(step, cause)),
        afterMs: Math.ceil(Math.min(...waiting.map(({ leftMs }) => leftMs))),
      };
    },
    failed(failures, plannedFor) {
      const at = clock.monotonic();
      for (const { step, cause } of failures) {
        if (!isExpansion(step) || !isRefusal(cause)) continue;
        const before = refusalOf(step, plannedFor);
        const pauseMs = before === undefined ? shortestMs : Math.min(longestMs, 2 * before.pauseMs);
        known.delete(step.ref.uid);
        known.set(step.ref.uid, { request: requestOf(step, plannedFor), cause, at, pauseMs });
      }
    },
  };
}

function requestOf({ ref, changes }: Expansion, { cluster, children }: PlannedFor): string {
  const claim = children.claims.find(({ metadata }) => metadata.uid === ref.uid);
  const sizes = changes.map(({ to }) => to);
  return JSON.stringify([cluster.metadata.generation, claim?.metadata.resourceVersion, sizes]);
}
