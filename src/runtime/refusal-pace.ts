/**
 * When a step that the API server refused, and that others need not wait for, is tried again: the expansion of a volume, or a Service for
 * clients outside. Neither StorageClasses nor quotas nor ports of nodes are watched, and a reconcile may come every second, so each object
 * has growing pauses. They end when the object or the spec of its cluster changes: somebody may have made it possible.
 *
 * What is remembered is time and the last answer, which still stands. A process that starts anew asks at once.
 */
import type { Cluster } from '../api/cluster.ts';
import { findingOf, type ObjectStep, type Step } from '../plan/plan.ts';
import type { Children } from '../resources/children.ts';
import type { Clock } from '../system/clock.ts';
import { describeStep, StepFailed } from './executor.ts';
import { soonest } from './reconcile-result.ts';
import { isExpansion, isRefusal } from './refused-expansion.ts';

const shortestMs = 1_000;
/** Of an expansion, as often as the plan asks where nothing else is waited for. */
const longestMs = 60_000;
/** After which an answer that nobody has asked for again is forgotten. */
const memoryMs = 10 * longestMs;

/** What a plan was made from. */
export interface PlannedFor {
  readonly cluster: Cluster;
  readonly children: Pick<Children, 'claims'>;
}

export interface DueSteps {
  /** All steps but those that have to wait. Others need not wait for those. */
  readonly steps: readonly Step[];
  /** What was answered to those that wait. */
  readonly standing: readonly StepFailed[];
  /** Milliseconds until the first of them may be tried; undefined where none waits. */
  readonly afterMs?: number;
  /** The same of those that no plan waits for. */
  readonly unplannedMs?: number;
}

export interface RefusalPace {
  due(steps: readonly Step[], plannedFor: PlannedFor): DueSteps;
  /** These steps have failed. Returns when the first of those may be tried that no plan waits for. */
  failed(failures: readonly StepFailed[], plannedFor: PlannedFor): number | undefined;
}

/** What an expansion is for is in the plan. What no answer came to, it asks for again. */
function isPaced(step: Step): step is ObjectStep {
  return isExpansion(step) || isUnplanned(step);
}

function isUnplanned(step: Step): step is ObjectStep {
  return step.type !== 'act' && findingOf(step) !== undefined;
}

interface Refusal {
  /** What was asked for, and of what. */
  readonly request: string;
  readonly cause: unknown;
  readonly at: number;
  readonly pauseMs: number;
}

export function createRefusalPace(clock: Pick<Clock, 'monotonic'>): RefusalPace {
  /** By what the step changes. What was refused last stands last. */
  const known = new Map<string, Refusal>();

  function forgetOld(now: number): void {
    for (const [id, { at }] of known) {
      if (now - at < memoryMs) return;
      known.delete(id);
    }
  }

  function refusalOf(step: ObjectStep, plannedFor: PlannedFor): Refusal | undefined {
    const refusal = known.get(idOf(step, plannedFor));
    return refusal?.request === requestOf(step, plannedFor) ? refusal : undefined;
  }

  return {
    due(steps, plannedFor) {
      const now = clock.monotonic();
      forgetOld(now);
      const waiting = steps.filter(isPaced).flatMap((step) => {
        const { at, pauseMs, cause } = refusalOf(step, plannedFor) ?? { at: now, pauseMs: 0, cause: undefined };
        const leftMs = at + pauseMs - now;
        return leftMs > 0 ? [{ step, cause, leftMs }] : [];
      });
      if (waiting.length === 0) return { steps, standing: [] };
      const held = new Set<Step>(waiting.map(({ step }) => step));
      return {
        steps: steps.filter((step) => !held.has(step)),
        standing: waiting.map(({ step, cause }) => new StepFailed(step, cause)),
        ...named('afterMs', waiting),
        ...named(
          'unplannedMs',
          waiting.filter(({ step }) => isUnplanned(step)),
        ),
      };
    },
    failed(failures, plannedFor) {
      const at = clock.monotonic();
      const unplanned: number[] = [];
      for (const { step, cause } of failures) {
        if (!isUnplanned(step) && !(isExpansion(step) && isRefusal(cause))) continue;
        const before = refusalOf(step, plannedFor);
        const pauseMs = before === undefined ? shortestMs : Math.min(longestMs, 2 * before.pauseMs);
        const id = idOf(step, plannedFor);
        known.delete(id);
        known.set(id, { request: requestOf(step, plannedFor), cause, at, pauseMs });
        if (isUnplanned(step)) unplanned.push(pauseMs);
      }
      return soonest(...unplanned);
    },
  };
}

function named<Name extends string>(name: Name, waiting: readonly { readonly leftMs: number }[]) {
  const first = soonest(...waiting.map(({ leftMs }) => Math.ceil(leftMs)));
  return (first === undefined ? {} : { [name]: first }) as { readonly [name in Name]?: number };
}

/** A cluster may want an object that is not there yet, and has no UID. */
function idOf(step: ObjectStep, { cluster }: PlannedFor): string {
  const { uid } = 'ref' in step ? step.ref : step.object.metadata;
  return uid ?? JSON.stringify([cluster.metadata.uid, describeStep(step)]);
}

/** What is asked for, and what may have made it possible since. */
function requestOf(step: ObjectStep, { cluster, children }: PlannedFor): string {
  const claim =
    step.type === 'patch' ? children.claims.find(({ metadata }) => metadata.uid === step.ref.uid) : undefined;
  const values = step.type === 'issue' ? step.issue : 'changes' in step ? step.changes.map(({ to }) => to) : [];
  return JSON.stringify([step.type, cluster.metadata.generation, claim?.metadata.resourceVersion, values]);
}
