/** What its archive changes about the status of a cluster, and about when it is looked at again. Pure. */
import type { DesiredCondition } from '../../api/condition.ts';
import type { Judgement, StatusReport } from '../../engine/engine.ts';
import { type Outcome, type Plan, wait } from '../../plan/plan.ts';
import type { Judged } from './judge.ts';

/** While the archive is not as it should be, nothing else tells when it is. */
const recheckMs = 5_000;

export function judged({ plan, status }: Judgement, { status: archive, verdict, interruption }: Judged): Judgement {
  if (verdict === undefined) {
    const message = `the archive is interrupted: ${interruption}`;
    const outcome =
      interruption === undefined || plan.outcome.state !== 'settled'
        ? plan.outcome
        : wait('ArchiveInterrupted', message, recheckMs);
    return { plan: { ...besideMembers(plan), outcome }, status: { ...status, archive } };
  }
  const { reason, message } = verdict;
  const isGood = plan.outcome.state === 'settled';
  const outcome: Outcome = isGood ? wait(reason, message, recheckMs) : sooner(plan.outcome);
  const isTrouble = reason !== 'ArchiveStarting';
  // Where the engine is at work or blocked, it says so.
  const isOnlyStarting = !isTrouble && status.phase === 'Ready';
  const conditions = status.conditions.map((condition): DesiredCondition => {
    if (condition.type === 'Ready' && condition.status === 'True')
      return { ...condition, status: 'False', reason, message };
    // A cluster that is being created is no less than it was.
    if (condition.type === 'Degraded' && condition.status === 'False' && isTrouble && status.phase !== 'Creating') {
      return { ...condition, status: 'True', reason, message };
    }
    if (condition.type === 'Progressing' && isOnlyStarting) {
      return { ...condition, status: 'True', reason, message };
    }
    return condition;
  });
  const more: readonly DesiredCondition['type'][] = isTrouble ? [reason] : isOnlyStarting ? ['Reconciling'] : [];
  const found = more.map((type): DesiredCondition => ({ type, status: 'True', reason, message }));
  const changed: Plan = { ...besideMembers(plan), outcome };
  return {
    plan: changed,
    status: { ...status, ...phaseWith(status, isTrouble), archive, conditions: [...conditions, ...found] },
  };
}

/** No member is interrupted for the archive. */
function besideMembers(plan: Plan): Plan {
  return plan.outcome.state === 'settled' ? { ...plan, isIdle: true } : plan;
}

/** It agrees with the conditions: what is being updated may be degraded. */
function phaseWith({ phase }: StatusReport, isTrouble: boolean): Pick<StatusReport, 'phase'> {
  if (!isTrouble) return phase === 'Ready' ? { phase: 'Creating' } : {};
  return phase === 'Ready' || phase === 'Updating' ? { phase: 'Degraded' } : {};
}

/** Whatever else is waited for. */
function sooner(outcome: Outcome): Outcome {
  if (outcome.state === 'settled') return outcome;
  return { ...outcome, recheckMs: Math.min(outcome.recheckMs ?? recheckMs, recheckMs) };
}
