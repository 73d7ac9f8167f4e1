/** The status of a cluster whose rollout has yet to begin, or that others wait for. Pure. */
import type { Cluster } from '../api/cluster.ts';
import { desiredConditions } from '../engine/desired-conditions.ts';
import type { Assessment, StatusReport } from '../engine/engine.ts';
import type { Plan } from '../plan/plan.ts';
import { type Gated, waitingForRollout } from '../plan/rollout-gate.ts';

const judgedTypes: readonly string[] = ['Ready', 'Progressing', 'Degraded', 'Reconciling', 'Stalled'];

/**
 * The database is as it was, so it is ready. Where somebody has asked for the change and it is about to be their turn, they wait for it:
 * then it is not, as during the rollout itself.
 */
export function heldBackStatus(
  cluster: Cluster,
  assessment: Pick<Assessment, 'status' | 'plan' | 'otherwise'>,
  { hold, isOutcome, isOtherwise, heldTemplates }: Pick<Gated, 'hold' | 'isOutcome' | 'isOtherwise' | 'heldTemplates'>,
): StatusReport {
  const { status, plan } = (isOtherwise ? assessment.otherwise : undefined) ?? assessment;
  const claim = heldTemplates.length === 0 ? status : { ...status, heldTemplates };
  if (hold === undefined) return claim;
  if (!isOutcome || claim.phase !== 'Ready') return alsoHeld(claim, plan, hold);
  const { phase: before, observedGeneration } = cluster.status ?? {};
  const isAsked = before === 'Updating' || observedGeneration !== cluster.metadata.generation;
  const { reason, message } = hold;
  const isNext = reason === waitingForRollout && isAsked;
  const found = claim.conditions.filter(({ type }) => !judgedTypes.includes(type));
  return isNext
    ? {
        ...claim,
        phase: 'Updating',
        conditions: [...desiredConditions('False', reason, message, { progressing: true }), ...found],
      }
    : { ...claim, phase: 'Ready', conditions: [...desiredConditions('True', reason, message, {}), ...found] };
}

/** Something else is the matter: that comes first. */
function alsoHeld(claim: StatusReport, { outcome }: Plan, { message }: NonNullable<Gated['hold']>): StatusReport {
  if (outcome.state === 'settled') return claim;
  const conditions = claim.conditions.map((c) =>
    c.message === outcome.message ? { ...c, message: `${c.message}; ${message}` } : c,
  );
  return { ...claim, conditions };
}

/** While a rollout makes no progress, other clusters wait for it. The status of its cluster says so. */
export function awaited(plan: Plan, claim: StatusReport): readonly [Plan, StatusReport] {
  const { outcome } = plan;
  if (outcome.state !== 'wait') return [plan, claim];
  const message = `${outcome.message}; other clusters wait for this one to end its rollout`;
  const conditions = claim.conditions.map((c) => (c.message === outcome.message ? { ...c, message } : c));
  return [
    { ...plan, outcome: { ...outcome, message } },
    { ...claim, conditions },
  ];
}
