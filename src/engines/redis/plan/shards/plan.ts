/** What a Redis Cluster needs next: pure, from the spec, the children and what the nodes said. The order of the rules. */
import { secretMissing } from '../../../../engine/secret-missing.ts';
import { sparingVolumes } from '../../../../plan/going-volumes.ts';
import { atSize, objectSteps } from '../../../../plan/objects.ts';
import { type Outcome, type Plan, type Step, wait } from '../../../../plan/plan.ts';
import { surplusSteps } from '../../../../plan/surplus.ts';
import { awaitingExpansion, growthSteps } from '../../../../plan/volume-expansion.ts';
import type { RedisAction } from '../../action.ts';
import { identityUnusable } from '../../client/identity.ts';
import { shardsOf } from '../../kind/shards.ts';
import type { ShardsSituation } from '../../observe/shards/situation.ts';
import { redisResources } from '../../resources/resources.ts';
import { heldBack } from '../held-template.ts';
import { planIntroductions, secretSteps } from '../introduce.ts';
import { heldMemory, withHeldMemory } from '../memory.ts';
import { otherModeOutcome } from '../mode.ts';
import { awaitsPasswords, planPasswords, planRetirement, retiring, untilOverlapEnds } from '../password-overlap.ts';
import { isAnyUntold, passwordProblem } from '../password-problem.ts';
import { configureSteps } from '../repair.ts';
import { restartWanted, withRestart } from '../requests.ts';
import { planUsers, usersUnknown } from '../users.ts';
import { planFormation } from './formation.ts';
import { disruptionBlockers, electionProblems } from './health.ts';
import { lossOutcome } from './losses.ts';
import { planMeetings } from './meetings.ts';
import { planForgetting, planRecord, planReplicas } from './membership.ts';
import { planSwitchover } from './requests.ts';
import { planResharding, type Resharding } from './resharding.ts';
import { leftBehindPod, planRenewal, planRestart, planStuck, restarting } from './restarts.ts';
import { planScaleIn, presentSizes, type Sizes } from './scaling.ts';
import { strangersOutcome } from './strangers.ts';
import { planSurplusShards } from './surplus.ts';
import { goingVolumesOutcome } from './volumes.ts';

type ShardsPlan = Plan<RedisAction>;

/** How often to look again while the database moves by itself and no watch would tell. */
const recheckMs = 1_000;

export function planShards(situation: ShardsSituation): ShardsPlan {
  const held = heldMemory(
    situation,
    situation.shards.map(({ set }) => set),
  );
  if (held === undefined) return planAsWanted(situation);
  return withHeldMemory(planAsWanted({ ...situation, cluster: held.cluster, spec: held.cluster.spec }), held);
}

function planAsWanted(situation: ShardsSituation): ShardsPlan {
  const { spec, children } = situation;
  const plan = awaitingExpansion(planSituation(situation), spec.storage.size, children);
  return sparingVolumes(plan, children, (pods) => goingVolumesOutcome(situation, pods));
}

function planSituation(situation: ShardsSituation): ShardsPlan {
  const { observed, cluster, isFormed } = situation;
  const sizes = presentSizes(situation);
  const mismatch = isFormed ? undefined : otherModeOutcome(situation);
  if (mismatch !== undefined) return { steps: [], outcome: mismatch };
  if (observed.credentialsProblem !== undefined) {
    return withObjects(situation, sizes, [], secretMissing(observed.credentialsProblem));
  }
  // Nothing waits for them: a server may refuse one for ever.
  const settings = [
    ...planIntroductions(situation),
    ...planPasswords(situation),
    ...planUsers(situation),
    ...configureSteps(situation),
  ];
  const unfinished = ({ steps, outcome }: ShardsPlan): ShardsPlan =>
    withObjects(situation, sizes, [...settings, ...steps], outcome);
  const waiting = (outcome: Outcome): ShardsPlan => unfinished({ steps: [], outcome });

  const stuck = planStuck(situation);
  const problem = passwordProblem(situation) ?? identityOutcome(situation);
  if (problem !== undefined && situation.nodes.length === 0) return waiting(problem);
  if (!isFormed) {
    const formation = planFormation(situation);
    return unfinished({ ...formation, steps: [...formation.steps, ...(stuck?.steps ?? [])] });
  }
  const stranger = strangersOutcome(situation);
  if (stranger !== undefined) return waiting(stranger);

  // Claims first: who is met is named there.
  const records = planRecord(situation);
  if (records.length > 0) {
    return unfinished({
      steps: records,
      outcome: wait('Repairing', 'the claims record which node each volume has', recheckMs / 2),
    });
  }
  const repairs = [...planMeetings(situation), ...planReplicas(situation), ...planForgetting(situation)];
  const loss = lossOutcome(situation);
  const held = problem ?? awaitsPasswords(situation);
  if (repairs.length > 0) {
    const outcome = loss ?? problem ?? wait('Repairing', 'nodes are brought in line', recheckMs / 2);
    // A node that cannot be met may take for ever: an open slot does not wait for it.
    const mayMove = loss === undefined && held === undefined && observed.passwordMissing === undefined;
    const begun = mayMove ? planResharding(situation) : undefined;
    return unfinished({ steps: [...repairs, ...(begun?.isBegun === true ? begun.plan.steps : [])], outcome });
  }
  if (loss !== undefined) return unfinished({ steps: stuck?.steps ?? [], outcome: loss });
  if (held !== undefined) return waiting(held);
  if (observed.passwordMissing !== undefined) return waiting(secretMissing(observed.passwordMissing));
  if (stuck !== undefined) return unfinished(stuck);
  const moves = planResharding(situation);
  if (moves?.isBegun === true) return unfinished(withRenewal(situation, moves));
  const older = leftBehindPod(situation);
  const renewed = older === undefined ? undefined : restarting(older);
  if (renewed !== undefined) return unfinished(renewed);
  const problems = disruptionBlockers(situation);
  if (problems.length > 0) return waiting(wait('MembersNotReady', problems.join('; '), recheckMs));

  const scaleIn = planScaleIn(situation);
  if (scaleIn !== undefined) {
    return withObjects(situation, scaleIn.sizes, [...settings, ...scaleIn.plan.steps], scaleIn.plan.outcome);
  }
  if (moves !== undefined) return unfinished(besides(situation, withRenewal(situation, moves)));
  const removal = planSurplusShards(situation);
  if (removal !== undefined) {
    const { plan } = removal;
    return withObjects(situation, sizes, [...settings, ...plan.steps], plan.outcome, removal.shards);
  }
  const change = planRestart(situation) ?? planSwitchover(situation);
  if (change !== undefined) return unfinished(change);
  const retirement = planRetirement(situation);
  if (retirement.length > 0) return unfinished({ steps: retirement, outcome: retiring(cluster) });
  const unelectable = electionProblems(situation);
  if (unelectable.length > 0) return waiting(wait('MembersNotReady', unelectable.join('; '), recheckMs));
  return unfinished({ steps: [], outcome: usersUnknown(situation) ?? untilOverlapEnds(situation) });
}

function withRenewal(situation: ShardsSituation, { plan, renews }: Resharding): ShardsPlan {
  return (renews === undefined ? undefined : planRenewal(situation, renews)) ?? plan;
}

/** A move that waits for a person has not begun. What the person changes, as the memory of a shard without room, comes with a restart. */
function besides(situation: ShardsSituation, moves: ShardsPlan): ShardsPlan {
  if (moves.outcome.state !== 'blocked') return moves;
  const change = planRestart(situation) ?? planSwitchover(situation);
  return change === undefined ? moves : { steps: change.steps, outcome: moves.outcome };
}

function identityOutcome({ observed, cluster }: ShardsSituation): Outcome | undefined {
  switch (observed.identity) {
    case 'missing':
      // Looks again, because Secrets are not watched.
      return wait('Repairing', 'the cluster gets an identity of its own', recheckMs);
    case 'unusable':
      return identityUnusable(cluster);
    case undefined:
      return undefined;
  }
}

function withObjects(
  situation: ShardsSituation,
  sizes: Sizes,
  steps: readonly Step<RedisAction>[],
  outcome: Outcome,
  count = situation.shards.length,
): ShardsPlan {
  const { cluster, children, nodes, dataPods } = situation;
  const isUnheard = nodes.length === 0 && dataPods.some(({ status }) => status?.phase === 'Running');
  const holding = {
    keepsPassword: isAnyUntold(situation) || isUnheard,
    mayMountIdentity: true,
    needsCertificate: false,
  };
  // Those that are to go stay until they have no slots.
  const isAsWanted = shardsOf(cluster.spec) === count;
  const present = isAsWanted ? cluster : { ...cluster, spec: { ...cluster.spec, shards: count } };
  const restart = restartWanted(
    situation,
    situation.shards.map(({ set }) => set),
  );
  const desired = redisResources(present).map((wanted) => {
    if (wanted.object.kind !== 'StatefulSet') return wanted;
    const object = withRestart(wanted.object, restart);
    const live = children.statefulSet(object.metadata.name);
    const template = live === undefined ? object : heldBack(object, live, holding);
    return { ...wanted, object: atSize(template, sizes.get(object.metadata.name) ?? 0) };
  });
  const objects = objectSteps(desired, children);
  const patches = steps.filter((step) => step.type === 'patch');
  const others = steps.filter((step) => step.type !== 'patch');
  return {
    steps: [
      ...patches,
      ...secretSteps(situation, objects),
      ...objects,
      ...surplusSteps(cluster, children, desired),
      ...growthSteps(cluster.spec.storage.size, children.claims),
      ...others,
    ],
    outcome,
  };
}
