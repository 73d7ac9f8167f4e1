/** What a Redis cluster needs next: pure, from the spec, the children and what the processes said. */
import { secretMissing } from '../../../engine/secret-missing.ts';
import { sparingVolumes } from '../../../plan/going-volumes.ts';
import { atSize, objectSteps } from '../../../plan/objects.ts';
import { type Outcome, type Plan, type Step, wait } from '../../../plan/plan.ts';
import { resizeTurn, whyNotInPlace } from '../../../plan/resize-turn.ts';
import {
  cannotStart,
  isGenerationObserved,
  nextToRestart,
  outdatedPods,
  restartSteps,
  stuckPod,
} from '../../../plan/rollout.ts';
import { surplusSteps } from '../../../plan/surplus.ts';
import { awaitingExpansion, growthSteps } from '../../../plan/volume-expansion.ts';
import type { Pod } from '../../../resources/children.ts';
import type { RedisAction } from '../action.ts';
import { identityUnusable } from '../client/identity.ts';
import { proxyComponent, redisNames } from '../names.ts';
import { answering, type DataNode, type RedisObserved } from '../observe/observed.ts';
import { withServedTls } from '../observe/served-tls.ts';
import type { Situation } from '../observe/situation.ts';
import { serverCaChildren } from '../resources/certificates.ts';
import { planAlone, planElection } from './election.ts';
import { goingVolumesOutcome, heldForVolumes } from './going-volumes.ts';
import { disruptionBlockers } from './health.ts';
import { heldBack, mountsIdentity } from './held-template.ts';
import { importOccupied, importSizes, isImporting, planImport, settledCutOverSteps } from './import.ts';
import { planIntroductions, secretSteps } from './introduce.ts';
import { issuanceSteps } from './issuance.ts';
import { leftBehindPod } from './left-behind.ts';
import { heldMemory, withHeldMemory } from './memory.ts';
import { modeOutcome } from './mode.ts';
import { childrenWithOpenPort } from './open-port.ts';
import { awaitsPasswords, planPasswords, planRetirement, retiring, untilOverlapEnds } from './password-overlap.ts';
import { isAnyUntold, passwordProblem } from './password-problem.ts';
import { heldEntrance, proxyProblem, proxyRestart } from './proxy.ts';
import { planChoice, planRecord, planTerm } from './record.ts';
import { awaitsSentinels, configureSteps, planForgetting, planRepairs } from './repair.ts';
import { planSwitchover, preferenceSteps, restartWanted, withRestart } from './requests.ts';
import { untilItFits } from './resize-room.ts';
import { planRoles } from './roles.ts';
import { eligibilitySteps, planMovePrimary, type Sizes, sizesFor } from './scaling.ts';
import { switchoverStep } from './switchover-step.ts';
import { tlsRecheckMs, tlsSteps, untilRegained, untilSecured } from './tls.ts';
import { planUsers, usersUnknown } from './users.ts';

type RedisPlan = Plan<RedisAction>;

/** How often to look again while the database moves by itself and no watch would tell. */
const recheckMs = 1000;
/** While a primary goes: its successor is labelled as soon as it takes writes. */
const handingOverMs = 100;

export function planRedis(situation: Situation): RedisPlan {
  const mismatch = modeOutcome(situation);
  if (mismatch !== undefined) return { steps: [], outcome: mismatch };
  const held = heldMemory(situation);
  if (held === undefined) return planAsWanted(situation);
  const plan = planAsWanted({ ...situation, cluster: held.cluster, spec: held.cluster.spec });
  return withHeldMemory(plan, held);
}

function planAsWanted(situation: Situation): RedisPlan {
  const { spec, children } = situation;
  const plan = awaitingExpansion(awaitingProxy(planSituation(situation), situation), spec.storage.size, children);
  return sparingVolumes(plan, children, (pods) => goingVolumesOutcome(situation, pods));
}

/** The members are well. */
function awaitingProxy(plan: RedisPlan, situation: Situation): RedisPlan {
  const problem = plan.outcome.state === 'settled' ? proxyProblem(situation) : undefined;
  return problem === undefined ? plan : { ...plan, outcome: wait('ProxyNotReady', problem) };
}

function planSituation(situation: Situation): RedisPlan {
  const { cluster, observed } = situation;
  const { primary } = situation.topology;
  const problem = passwordProblem(situation);
  const occupied = importOccupied(situation);
  if (occupied !== undefined) return { steps: [], outcome: occupied };
  if (observed.credentialsProblem !== undefined) {
    const sizes = isImporting(situation) ? importSizes(situation) : sizesFor(situation, false);
    return withObjects(situation, sizes, [], secretMissing(observed.credentialsProblem));
  }
  const imported = planImport(situation);
  if (imported !== undefined) {
    const stuck = planStuck(situation)?.steps ?? [];
    const steps = [...planIntroductions(situation), ...planPasswords(situation), ...imported.steps, ...stuck];
    const isUnheard = problem !== undefined && situation.nodes.length === 0;
    return withObjects(situation, importSizes(situation), steps, isUnheard ? problem : imported.outcome);
  }
  if (primary === undefined) {
    const election = cluster.spec.mode === 'Sentinel' ? planElection(situation) : planAlone(situation);
    const stuck = problem === undefined ? (planStuck(situation)?.steps ?? []) : [];
    const steps = [...planIntroductions(situation), ...planPasswords(situation), ...election.steps, ...stuck];
    // Who might decide is not heard, for another reason than that it is silent.
    const isUnanswered = situation.nodes.length === 0;
    const outcome =
      problem !== undefined && isUnanswered
        ? problem
        : observed.passwordMissing !== undefined && isUnanswered
          ? secretMissing(observed.passwordMissing)
          : observed.identity === 'unusable' && awaitsIdentity(situation) !== undefined && isUnanswered
            ? identityUnusable(cluster)
            : withMore(election.outcome, heldForVolumes(situation));
    return withObjects(situation, sizesFor(situation, false), steps, outcome);
  }
  return planWithPrimary(situation, primary);
}

function withMore(outcome: Outcome, more: string): Outcome {
  return outcome.state === 'settled' ? outcome : { ...outcome, message: `${outcome.message}${more}` };
}

/** Why a pod that starts now would wait: the Secret with the identity is missing, or does not hold the key that the pod mounts. */
function awaitsIdentity({ observed, children, cluster }: Situation): Outcome | undefined {
  const live = children.statefulSet(redisNames(cluster.metadata.name).data);
  if (live === undefined || !mountsIdentity(live)) return undefined;
  return identityOutcome(observed.identity, cluster);
}

function identityOutcome(identity: RedisObserved['identity'], cluster: Situation['cluster']): Outcome | undefined {
  switch (identity) {
    case 'missing':
      // Looks again, because Secrets are not watched.
      return wait('Repairing', 'the cluster gets an identity of its own', recheckMs);
    case 'unusable':
      return identityUnusable(cluster);
    case undefined:
      return undefined;
  }
}

/** Processes run, and none of them can tell whether it knows the password. */
function isUnheard({ observed, dataPods, sentinelPods }: Situation): boolean {
  const isRunning = [...dataPods, ...sentinelPods].some(({ status }) => status?.phase === 'Running');
  return isRunning && answering(observed.data).length + answering(observed.sentinels).length === 0;
}

function withObjects(
  situation: Situation,
  sizes: Sizes,
  steps: readonly Step<RedisAction>[],
  outcome: Outcome,
): RedisPlan {
  const { cluster, children, observed } = situation;
  const names = redisNames(cluster.metadata.name);
  const isTroubled = isAnyUntold(situation);
  const holding = {
    keepsPassword: isTroubled || isUnheard(situation),
    mayMountIdentity: observed.identity === undefined,
  };
  const restart = restartWanted(situation, [names.data, names.sentinel]);
  const serverCa = children.get('ConfigMap', names.serverCa);
  const { trusted } = observed.certificates?.copy ?? {};
  const all = [
    ...childrenWithOpenPort(situation),
    ...serverCaChildren(withServedTls(cluster, children), trusted, serverCa, observed.at),
  ];
  const desired = all.map((wanted) => {
    if (wanted.object.kind === 'Service') return { ...wanted, object: heldEntrance(wanted.object, situation) };
    const isData = wanted.object.metadata.name === names.data;
    if (wanted.object.kind !== 'StatefulSet' || !(isData || wanted.object.metadata.name === names.sentinel))
      return wanted;
    const held = isTroubled ? { data: situation.dataSize, sentinels: situation.sentinelSize } : sizes;
    const live = children.statefulSet(wanted.object.metadata.name);
    const asked = withRestart(wanted.object, restart);
    // Sentinels mount the certificate, and show it to nobody yet.
    const needsCertificate = isData && cluster.spec.tls !== undefined;
    const template = live === undefined ? asked : heldBack(asked, live, { ...holding, needsCertificate });
    return { ...wanted, object: atSize(template, isData ? held.data : held.sentinels) };
  });
  const objects = objectSteps(desired, children);
  // Roles first: an object that the API server refuses must not keep clients from the new primary.
  const patches = steps.filter((step) => step.type === 'patch');
  const others = steps.filter((step) => step.type !== 'patch');
  return {
    steps: [
      ...patches,
      ...secretSteps(situation, objects),
      ...issuanceSteps(situation),
      ...objects,
      ...surplusSteps(cluster, children, desired, [proxyComponent]),
      ...proxyRestart(situation),
      ...growthSteps(cluster.spec.storage.size, children.claims),
      ...others,
    ],
    outcome,
  };
}

function planWithPrimary(situation: Situation, primary: DataNode): RedisPlan {
  const requests = [...planChoice(situation), ...settledCutOverSteps(situation)];
  const roles = [...planRoles(situation, primary), ...planRecord(situation, primary), ...requests];
  const problem = passwordProblem(situation);
  const repairs = [
    ...planIntroductions(situation),
    ...(situation.spec.mode === 'Sentinel' ? planRepairs(situation, primary) : []),
    ...eligibilitySteps(situation),
  ];
  // Nothing waits for them: a server may refuse one for ever.
  const settings = [
    ...planPasswords(situation),
    ...configureSteps(situation),
    ...preferenceSteps(situation),
    ...planTerm(situation, primary),
    ...planUsers(situation),
    ...tlsSteps(situation),
  ];
  const problems = disruptionBlockers(situation, primary);
  const leaving = situation.dataPods.some(
    (pod) => isPrimary(pod, primary) && pod.metadata.deletionTimestamp !== undefined,
  );
  const unfinished = (steps: readonly Step<RedisAction>[], outcome: Outcome): RedisPlan =>
    withObjects(situation, sizesFor(situation, false), [...roles, ...settings, ...steps], outcome);

  if (repairs.length > 0) {
    const repairing = wait('Repairing', 'members are brought in line', recheckMs / 2);
    const outcome = problem ?? repairing;
    return withObjects(situation, sizesFor(situation, false), [...roles, ...repairs, ...settings], outcome);
  }
  if (leaving) return unfinished([], wait('HandingOver', `${primary.pod} is being stopped`, handingOverMs));
  const held = problem ?? awaitsPasswords(situation) ?? conversion(situation, primary);
  if (held !== undefined) return unfinished([], held);
  if (situation.observed.passwordMissing !== undefined) {
    return unfinished([], secretMissing(situation.observed.passwordMissing));
  }
  const awaited = awaitsIdentity(situation);
  if (awaited !== undefined) return unfinished([], awaited);
  const stuck = planStuck(situation);
  if (stuck !== undefined) return unfinished(stuck.steps, stuck.outcome);
  const older = leftBehindPod(situation, primary);
  const renewed = older === undefined ? undefined : restarting(older);
  if (renewed !== undefined) return unfinished(renewed.steps, renewed.outcome);
  if (problems.length > 0) return unfinished([], wait('MembersNotReady', problems.join('; '), recheckMs));

  const forgetting = planForgetting(situation, primary);
  if (forgetting !== undefined)
    return unfinished([forgetting], wait('Forgetting', 'sentinels forget who is gone', recheckMs));

  const regained = untilRegained(situation);
  if (regained !== undefined) return unfinished([], regained);
  const move = planMovePrimary(situation, primary);
  if (move !== undefined) return unfinished(move.steps, move.outcome);
  // Who leaves goes before anybody restarts: an outdated primary might hand over to one that leaves, and that one back.
  const sizes = sizesFor(situation, true);
  const shrinking = sizes.data < situation.dataSize || sizes.sentinels < situation.sentinelSize;
  if (shrinking) return withObjects(situation, sizes, [...roles, ...settings], wait('ScalingIn', 'one member leaves'));
  const change = planRestart(situation, primary) ?? planSwitchover(situation, primary);
  if (change !== undefined) return unfinished(change.steps, change.outcome);
  const retirement = planRetirement(situation);
  if (retirement.length > 0) return unfinished(retirement, retiring(situation.cluster));
  const outcome =
    identityOutcome(situation.observed.identity, situation.cluster) ??
    usersUnknown(situation) ??
    untilSecured(situation) ??
    sooner(untilOverlapEnds(situation), tlsRecheckMs(situation));
  return withObjects(situation, sizes, [...roles, ...settings], outcome);
}

/** `recheckMs`: when it is to be looked again, for another reason. */
function sooner(outcome: Outcome, recheckMs: number | undefined): Outcome {
  if (outcome.state !== 'settled' || recheckMs === undefined) return outcome;
  return { ...outcome, recheckMs: Math.min(recheckMs, outcome.recheckMs ?? recheckMs) };
}

function isPrimary(pod: Pod, primary: DataNode): boolean {
  return pod.metadata.name === primary.pod;
}

/** From Standalone to Sentinel: it takes the kubelet up to about two minutes. */
function conversion(situation: Situation, primary: DataNode): Outcome | undefined {
  if (!awaitsSentinels(situation, primary)) return undefined;
  return wait('AddingSentinels', `${primary.pod} has yet to see the sentinels`, recheckMs);
}

/** One pod at a time, in place where that goes: sentinels, replicas, and the primary last. It hands over before it restarts. */
function planRestart(situation: Situation, primary: DataNode): RedisPlan | undefined {
  const { children, cluster, sentinelPods, dataPods } = situation;
  const names = redisNames(cluster.metadata.name);
  const [sentinelSet, dataSet] = [children.statefulSet(names.sentinel), children.statefulSet(names.data)];
  if (!isGenerationObserved(sentinelSet) || !isGenerationObserved(dataSet)) {
    return { steps: [], outcome: wait('Updating', 'Kubernetes has yet to take up the new template') };
  }
  const sentinel = nextToRestart(outdatedPods(sentinelSet, sentinelPods), () => false);
  if (sentinel !== undefined) return resizeTurn(sentinel) ?? restarting(sentinel);
  const next = nextToRestart(outdatedPods(dataSet, dataPods), (pod) => isPrimary(pod, primary));
  if (next === undefined) return undefined;
  const resize = untilItFits(situation, next) ?? resizeTurn(next);
  if (resize !== undefined) return resize;
  if (!isPrimary(next, primary)) return restarting(next);
  const message = `${primary.pod} is the last to restart`;
  const step = switchoverStep(situation, primary, message);
  if (step !== undefined) return { steps: [step], outcome: wait('HandingOver', message, recheckMs) };
  return restarting(next);
}

/**
 * A pod that waits for what will never come. A process that was killed is about to start again, and who runs may be out
 * of reach for a while: they go only where everybody else is there, or has never been. Where nobody is primary, a
 * sentinel that runs is left alone: its memory may be all that is known of who was.
 */
function planStuck(situation: Situation): RedisPlan | undefined {
  const { children, cluster, sentinelPods, dataPods, observed, topology } = situation;
  const names = redisNames(cluster.metadata.name);
  const answers = new Set([...answering(observed.data), ...answering(observed.sentinels)].map(({ pod }) => pod));
  const silent = [...dataPods, ...sentinelPods].filter(({ metadata }) => !answers.has(metadata.name));
  const isNew = cluster.status?.initialized !== true;
  const isSpare = isNew || (topology.primary !== undefined && silent.length === 1);
  const mayGo = (pod: Pod): boolean => silent.includes(pod) && (cannotStart(pod) || isSpare);
  const maySpare = (pod: Pod): boolean => goingVolumesOutcome(situation, [pod.metadata.name]) === undefined;
  const mayForget = (pod: Pod): boolean => topology.primary !== undefined || pod.status?.phase !== 'Running';
  const pod =
    stuckPod(children.statefulSet(names.sentinel), sentinelPods, (one) => mayGo(one) && mayForget(one)) ??
    stuckPod(children.statefulSet(names.data), dataPods, (one) => mayGo(one) && maySpare(one));
  return pod === undefined ? undefined : restarting(pod);
}

function restarting(pod: Pod): RedisPlan | undefined {
  const steps = restartSteps(pod);
  if (steps.length === 0) return undefined;
  const why = whyNotInPlace(pod);
  return { steps, outcome: wait('Restarting', `${pod.metadata.name} restarts with the new template${why}`) };
}
