/** A plan's steps are carried out, as far as they are due, and what came of them is told. */
import type { Assessment } from '../engine/engine.ts';
import { ineffectiveSteps } from '../plan/kept-fields.ts';
import { findingOf, type Plan, type Step } from '../plan/plan.ts';
import type { Log } from '../system/log.ts';
import { ApiUnreachable } from './api-error.ts';
import type { Cache, ClusterKey } from './cache.ts';
import type { Contested, Due } from './contested.ts';
import { type Executor, StepFailed } from './executor.ts';
import { soonest } from './reconcile-result.ts';
import type { PlannedFor, RefusalPace } from './refusal-pace.ts';

/** What came of a plan's steps. */
export interface Execution {
  readonly due: Due;
  /** Why it was cut off; undefined where it was not. */
  readonly failure: unknown;
  /** Steps that others need not wait for, and that failed or were refused lately and are not asked for again yet. */
  readonly failures: readonly StepFailed[];
  /** Changes that the API server has taken without an effect. */
  readonly ineffective: ReturnType<typeof ineffectiveSteps>;
}

/** Steps that have changed something, as far as can be told. Where the run was cut off: those that went on. */
export function takenIn({ due, failure, failures, ineffective }: Execution): readonly Step[] {
  const idle: ReadonlySet<Step> = new Set([...ineffective, ...failures.map(({ step }) => step)]);
  return due.steps.filter((step) => !idle.has(step) && (failure === undefined || goesOn(step, failure)));
}

/** See the executor: nothing does after a name conflict, nor without the API server. */
function goesOn(step: Step, failure: unknown): boolean {
  const isCut = !(failure instanceof StepFailed) || failure.cause instanceof ApiUnreachable;
  return !isCut && findingOf(step) !== undefined;
}

/**
 * Steps whose effect no watch tells: an engine's actions, and Secrets. What was refused shows no effect: it is asked for
 * again in a later pass.
 */
export function unwatchedIn(taken: readonly Step[]): readonly Step[] {
  return taken.filter((step) => step.type === 'issue' || (step.type === 'act' && step.unhurried !== true));
}

export interface ExecutionOptions {
  readonly executor: Executor;
  readonly contested: Contested;
  readonly refusals: RefusalPace;
  readonly cache: Pick<Cache, 'entry'>;
  readonly log: Log;
}

/** Rejects only where the signal aborts. */
export async function execute(
  key: ClusterKey,
  plan: Plan,
  act: Assessment['act'],
  plannedFor: PlannedFor,
  { executor, contested, refusals, cache, log }: ExecutionOptions,
  signal: AbortSignal,
): Promise<Execution> {
  const { steps, standing, afterMs, unplannedMs } = refusals.due(plan.steps, plannedFor);
  const due = dueWith(contested.due(key, steps), plan.outcome.state === 'settled' ? unplannedMs : afterMs);
  const failed: StepFailed[] = [];
  const result = (failure: unknown): Execution => {
    const againMs = refusals.failed(failed, plannedFor);
    for (const err of failed) log.warn({ cluster: key, err }, 'a step failed that others need not wait for');
    const failures = [...standing, ...failed];
    const isDone = failure === undefined && failures.length === 0;
    const ineffective = isDone ? ineffectiveSteps(due.steps, (object) => cache.entry(object)?.object) : [];
    return { due: dueWith(due, againMs), failure, failures, ineffective };
  };
  try {
    await executor.run(due.steps, act, signal, (failure) => void failed.push(failure));
  } catch (failure) {
    signal.throwIfAborted();
    return result(failure);
  }
  return result(undefined);
}

function dueWith(due: Due, afterMs: number | undefined): Due {
  const first = soonest(due.afterMs, afterMs);
  return first === undefined ? due : { ...due, afterMs: first };
}
