/** A plan's steps are carried out, as far as they are due, and what came of them is told. */
import type { Assessment } from '../engine/engine.ts';
import { ineffectiveSteps } from '../plan/kept-fields.ts';
import type { Plan, Step } from '../plan/plan.ts';
import type { Log } from '../system/log.ts';
import type { Cache, ClusterKey } from './cache.ts';
import type { Contested, Due } from './contested.ts';
import type { Executor, StepFailed } from './executor.ts';
import { soonest } from './reconcile-result.ts';
import type { PlannedFor, RefusalPace } from './refusal-pace.ts';

/** What came of a plan's steps. */
export interface Execution {
  readonly due: Due;
  /** Steps that succeeded, also where a later one failed. */
  readonly done: readonly Step[];
  /** Why it was cut off; undefined where it was not. */
  readonly failure: unknown;
  /** Steps that others need not wait for, and that failed or were refused lately and are not asked for again yet. */
  readonly failures: readonly StepFailed[];
  /** Changes that the API server has taken without an effect. */
  readonly ineffective: ReturnType<typeof ineffectiveSteps>;
}

/** Steps that have changed something, as far as can be told. */
export function takenIn({ done, ineffective }: Pick<Execution, 'done' | 'ineffective'>): readonly Step[] {
  const idle: ReadonlySet<Step> = new Set(ineffective);
  return done.filter((step) => !idle.has(step));
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
  const done: Step[] = [];
  const failed: StepFailed[] = [];
  const result = (failure: unknown): Execution => {
    const againMs = refusals.failed(failed, plannedFor);
    for (const err of failed) log.warn({ cluster: key, err }, 'a step failed that others need not wait for');
    const failures = [...standing, ...failed];
    const ineffective = ineffectiveSteps(done, (object) => cache.entry(object)?.object);
    return { due: dueWith(due, againMs), done, failure, failures, ineffective };
  };
  try {
    await executor.run(due.steps, act, signal, {
      done: (step) => void done.push(step),
      failed: (failure) => void failed.push(failure),
    });
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
