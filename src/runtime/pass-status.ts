/**
 * The status that a pass writes where the engine's own does not stand as it is: the cluster is paused, invalid or on its
 * way out, or a step has failed. Pure. Phase and conditions are told from one judgement and never contradict each other.
 */
import type { Cluster } from '../api/cluster.ts';
import type { ConditionClaim, ConditionType } from '../api/condition.ts';
import type { ClusterStatus, Phase } from '../api/status.ts';
import { conditionClaims, type Judged } from '../engines/condition-claims.ts';
import type { StatusClaim } from '../engines/engine.ts';
import { type Outcome, type Plan, wait } from '../plan/plan.ts';
import { ApiError, ApiUnreachable } from './api-error.ts';
import { describeStep, StepFailed } from './executor.ts';
import { NameConflict } from './name-conflict.ts';

/** Of a change, the next look tells whether it has taken effect; what has just been created is nobody's next step. */
export function planStatus(plan: Plan): ClusterStatus['plan'] {
  const next = plan.steps[0];
  return {
    ...(next === undefined ? {} : { next: describeStep(next) }),
    ...(plan.outcome.state === 'wait' ? { waitingFor: plan.outcome.message } : {}),
    ...(plan.outcome.state === 'blocked' ? { blockedBy: plan.outcome.message } : {}),
  };
}

function stalled(reason: string, message: string): ConditionClaim[] {
  return [
    { type: 'Ready', status: 'False', reason, message },
    { type: 'Progressing', status: 'False', reason, message },
    { type: 'Degraded', status: 'Unknown', reason, message },
    { type: 'Stalled', status: 'True', reason, message },
  ];
}

/** For a cluster that nothing could be found out about. */
export function plainStatus(
  cluster: Cluster,
  phase: Phase,
  outcome: Extract<Outcome, { state: 'blocked' }>,
): StatusClaim {
  const { conditions: _c, observedGeneration: _g, plan: _p, ...kept } = cluster.status ?? {};
  return { ...kept, phase, conditions: stalled(outcome.reason, outcome.message) };
}

/** For a cluster that no pass has been able to look at for long: what was said of it before may not be true any more. */
export function unobservedStatus(cluster: Cluster<{ readonly paused?: unknown }>, error: unknown): StatusClaim {
  const isToldApart = error instanceof ApiError || error instanceof ApiUnreachable;
  const why = isToldApart ? error.message : 'an internal error, which the log of the operator names';
  const reason = 'NotObserved';
  const message = `the operator cannot look at it, and does nothing for it: ${why}`;
  if (cluster.metadata.deletionTimestamp !== undefined) return endingStatus(cluster, wait(reason, message));
  const { conditions: _c, observedGeneration: _g, plan: _p, ...kept } = cluster.status ?? {};
  const isFormed = kept.initialized === true;
  const phase = cluster.spec?.paused === true ? 'Paused' : isFormed ? 'Degraded' : 'Creating';
  const judged = { degraded: isFormed, progressing: phase === 'Creating' };
  return { ...kept, phase, conditions: conditionClaims('False', reason, message, judged) };
}

/** Of a cluster that is being deleted and waits for its last backup. */
export function endingStatus(cluster: Cluster, outcome: Outcome): StatusClaim {
  const { conditions: _c, observedGeneration: _g, plan: _p, ...kept } = cluster.status ?? {};
  const { reason, message } =
    outcome.state === 'settled' ? { reason: 'Deleting', message: 'the cluster is deleted' } : outcome;
  const degraded = /^LastBackup(Failed|HeldUp|SuddenLoss)$/.test(reason) || outcome.state === 'blocked';
  return {
    ...kept,
    phase: 'Deleting',
    conditions: conditionClaims('False', reason, message, { progressing: true, degraded }),
  };
}

export function pausedStatus(claim: StatusClaim, outcome: Outcome): StatusClaim {
  const note =
    outcome.state === 'wait' ? outcome : { reason: 'Paused', message: 'spec.paused is true: nothing is changed' };
  return {
    ...claim,
    phase: 'Paused',
    conditions: claim.conditions
      .filter((c) => c.type !== 'Reconciling')
      .map((c) =>
        c.type === 'Progressing' ? { ...c, status: 'False', reason: note.reason, message: note.message } : c,
      ),
  };
}

/**
 * What was found out stands, but readiness cannot be claimed while a step fails: it is tried again, so the cluster is
 * reconciled, and where nobody has asked for a change it is less than it should be.
 */
export function failedStatus(cluster: Cluster, claim: StatusClaim, error: unknown): StatusClaim {
  if (error instanceof NameConflict) return blockedStatus(claim, { reason: 'NameConflict', message: error.message });
  const reason = 'StepFailed';
  const message = error instanceof StepFailed ? error.message : 'an internal error';
  const unready = (phase: Phase, judged: Judged): StatusClaim => ({
    ...claim,
    phase,
    conditions: [...conditionClaims('False', reason, message, judged), ...without(judgedTypes, claim)],
  });
  switch (claim.phase) {
    case 'Ready': {
      const { phase: before, observedGeneration } = cluster.status ?? {};
      const isAsked = before === 'Updating' || observedGeneration !== cluster.metadata.generation;
      return isAsked
        ? unready('Updating', { progressing: true })
        : unready('Degraded', { progressing: true, degraded: true });
    }
    // Runs that are not begun as they should be are missed, whoever is told.
    case 'Active':
    case 'Suspended':
      return unready('Degraded', { degraded: true });
    default:
      return {
        ...claim,
        conditions: claim.conditions.map((c) =>
          isUnderWay(c) ? { ...c, reason, message, status: c.type === 'Ready' ? 'False' : c.status } : c,
        ),
      };
  }
}

/** What a failure is the reason of, now: whatever else is true has its own. */
function isUnderWay({ type, status }: ConditionClaim): boolean {
  return type === 'Ready' || ((type === 'Progressing' || type === 'Reconciling') && status === 'True');
}

const judgedTypes: readonly ConditionType[] = ['Ready', 'Progressing', 'Degraded', 'Reconciling', 'Stalled'];

function without(types: readonly ConditionType[], { conditions }: StatusClaim): readonly ConditionClaim[] {
  return conditions.filter(({ type }) => !types.includes(type));
}

/** What was found out stands, and nothing goes on before somebody has changed something. */
export function blockedStatus(
  claim: StatusClaim,
  { reason, message }: Pick<Extract<Outcome, { state: 'blocked' }>, 'reason' | 'message'>,
): StatusClaim {
  const told: readonly ConditionType[] = ['Ready', 'Progressing', 'Reconciling', 'Stalled'];
  return {
    ...claim,
    phase: 'Blocked',
    conditions: [...stalled(reason, message).filter(({ type }) => told.includes(type)), ...without(told, claim)],
  };
}
