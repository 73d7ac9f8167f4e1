/** What an etcd cluster needs next: pure, from the spec, the children and what the members said. */
import type { BackupFactory } from '../../../engine/backup-support.ts';
import { restoredAnnotation } from '../../../engine/backup-support.ts';
import { secretMissing } from '../../../engine/secret-missing.ts';
import { sparingVolumes } from '../../../plan/going-volumes.ts';
import { objectSteps } from '../../../plan/objects.ts';
import {
  blocked,
  type DeferrablePlan,
  type ObjectStep,
  type Outcome,
  type Step,
  settled,
  wait,
} from '../../../plan/plan.ts';
import { cannotStart } from '../../../plan/rollout.ts';
import { surplusSteps } from '../../../plan/surplus.ts';
import { awaitingExpansion, growthSteps } from '../../../plan/volume-expansion.ts';
import { withoutRestarts } from '../../../plan/without-restarts.ts';
import { areCreating, stuckCreatingMs } from '../../../resources/stuck-creating.ts';
import type { EtcdAction } from '../action.ts';
import { passwordSecret, previousKey } from '../client/password.ts';
import { authoritiesAnnotation, casAnnotation, indexInPodName, podName, recoverAnnotation, sides } from '../names.ts';
import { formationOf } from '../observe/formation.ts';
import { isHealthy, type Member, quorumOf, type Situation, voters } from '../observe/situation.ts';
import { unknownVolumesOutcome } from '../observe/unknown-volumes.ts';
import { firstAuthorities } from '../resources/authorities.ts';
import { etcdChildren, type PinnedVersion } from '../resources/resources.ts';
import { isResuming, type Roster } from '../resources/roster.ts';
import { planAuth } from './auth.ts';
import { inconsistentPods, planCorruption, sparingWriters } from './corruption.ts';
import { isWorthARestart } from './deferred-change.ts';
import { failureOf } from './failed-member.ts';
import { givenQuota, isShortOfQuota } from './given-quota.ts';
import { goingVolumesOutcome, heldForVolumes } from './going-volumes.ts';
import { absent, memberProblems, wordsFor } from './health.ts';
import { awaiting, planIssuance } from './issuance.ts';
import { type EtcdPlan, planLearner, planReplacement, planScaleIn, planScaleOut, viaOf } from './membership.ts';
import { noRestarts } from './no-restarts.ts';
import { isOutdated, isUnsettled } from './outdated.ts';
import { keeps, pinnedVersion } from './pinned-version.ts';
import { recoveryOf, requestSteps } from './recovery.ts';
import { hasLasted, offers } from './recovery-request.ts';
import { casIn, replacedCas } from './replaced-ca.ts';
import { canSpareOne, planRestart, planStuck } from './restart.ts';
import { planAlarms, planDefragmentation } from './space-quota.ts';
import { isMinorRolling, planCancelDowngrade, planDowngrade, type VersionGate, versionGate } from './version.ts';
import { volumesOf } from './volume-size.ts';
import { copiedVolumes, foreignCluster, isBlank, markSteps, retireSteps } from './volumes.ts';

const formingMs = 250;
const recheckMs = 1000;
/** Until it can be said whose data there is, and how much. */
const blankMs = 5000;

export function planEtcd(situation: Situation, take: BackupFactory): DeferrablePlan<EtcdAction> {
  const gate = versionGate(situation, take);
  // With another minor the templates are pinned until the upgrade begins: the quota comes with it.
  const mayRepair = gate.isOpen && gate.begins !== true;
  const repairs = mayRepair && isShortOfQuota(situation) ? ({ repairs: true } as const) : {};
  // Templates and members show nothing of a downgrade that etcd has been told to allow.
  const underway = gate.downgrade === 'allowed' ? ({ isUnderway: true } as const) : {};
  const onward = gate.goesOn === true ? ({ goesOn: true } as const) : {};
  const backup = gate.prepares === true ? ({ prepares: true } as const) : {};
  const whole = planWith(situation, gate);
  const why = whole.noRestarts ?? noRestarts(situation);
  // Without another minor, nothing but templates interrupts members.
  const idle = gate.isOpen && gate.begins !== true ? ({ isIdle: true } as const) : {};
  const held = why === undefined ? {} : { noRestarts: why, ...idle };
  const plan = { ...whole, ...repairs, ...underway, ...onward, ...backup, ...held };
  // What has begun goes on.
  const mayWait = gate.begins === true && !isMinorRolling(situation);
  if (!mayWait) return plan;
  return { ...plan, otherwise: { ...planWith(situation, versionGate(situation, take, false)), defers: true } };
}

function planWith(situation: Situation, gate: VersionGate): EtcdPlan {
  const { cluster, children } = situation;
  const copied = copiedVolumes(situation);
  if (copied !== undefined) return { steps: [], outcome: blocked('CopiedVolumes', copied) };
  const foreign = foreignCluster(situation);
  const { steps, lost } = planIssuance(situation);
  if (foreign !== undefined) return { steps, outcome: blocked('ForeignCluster', foreign) };
  // Whoever is to stop needs none, and once nobody runs there is nobody who trusts the old ones.
  if (lost !== undefined && cluster.spec.replicas > 0) return { steps, outcome: blocked('CertificatesLost', lost) };
  const plan = planCluster(situation, gate, steps.length > 0);
  const whole = { ...plan, steps: [...steps, ...plan.steps] };
  return sparingVolumes(awaitingExpansion(whole, cluster.spec.storage.size, volumesOf(situation)), children, (pods) =>
    goingVolumesOutcome(
      situation,
      pods.flatMap((pod) => indexInPodName(cluster.metadata.name, pod) ?? []),
    ),
  );
}

/** `isIssuing`: certificates are made in this very pass. */
function planCluster(situation: Situation, gate: VersionGate, isIssuing: boolean): EtcdPlan {
  const { cluster, observed, members } = situation;
  const formation = formationOf(situation);
  if (formation.state === 'lost') {
    return withObjects(situation, gate, new Map(), { steps: [], outcome: blocked('DataLost', formation.message) });
  }
  const { roster } = formation;
  const unknown = unknownVolumesOutcome(situation);
  if (members === undefined && unknown !== undefined) return { steps: [], outcome: unknown };
  if (cluster.spec.replicas === 0) {
    return withObjects(situation, gate, roster, { steps: [], outcome: parked(situation) });
  }
  const recovery = recoveryOf(situation);
  if (recovery?.state === 'granted') {
    return { ...withObjects(situation, gate, recovery.roster, recovery.plan, recovery.marks), destructive: true };
  }
  if (observed.awaited !== undefined) {
    const outcome = awaiting(situation, observed.awaited);
    return withoutRestarts(withObjects(situation, gate, roster, { steps: [], outcome }));
  }
  if (observed.credentialsProblem !== undefined && isIssuing) {
    const outcome = wait('IssuingCertificates', 'certificates are being made', recheckMs);
    return withoutRestarts(withObjects(situation, gate, roster, { steps: [], outcome }));
  }
  if (observed.credentialsProblem !== undefined) {
    const outcome = secretMissing(`${observed.credentialsProblem}${restoredHint(situation)}`);
    return withoutRestarts(withObjects(situation, gate, roster, { steps: [], outcome }));
  }
  if (members === undefined && situation.sets.size === 0 && gate.templates === 'new' && gate.outcome !== undefined) {
    return withObjects(situation, gate, roster, { steps: [], outcome: gate.outcome });
  }
  if (members === undefined) {
    const stuck = planStuck(situation) ?? {
      steps: [],
      outcome: withRequest(undecided(situation, gate, roster), recovery),
    };
    return withObjects(situation, gate, roster, stuck);
  }
  return withObjects(situation, gate, roster, sparingWriters(situation, planMembers(situation, gate, members)));
}

/** The objects first: a member that has been added must start, and one that has been removed must stop. */
function withObjects(
  situation: Situation,
  gate: VersionGate,
  roster: Roster,
  { steps, outcome, ...more }: EtcdPlan,
  first: readonly ObjectStep[] = [],
): EtcdPlan {
  const { cluster, children, claims, observed } = situation;
  const authorities = (index: number): string | undefined => authoritiesFor(situation, index);
  const cas = (index: number): string | undefined => casFor(situation, index);
  const kept = (index: number): PinnedVersion | undefined =>
    gate.isOpen ? undefined : pinnedVersion(situation, index);
  const desired = etcdChildren(cluster, roster, authorities, kept, cas, givenQuota(situation));
  const objects = objectSteps(desired, children)
    .map(optionalCertificate(situation))
    .filter(
      (step) =>
        isWorthARestart(situation, step) &&
        // Whoever starts again by itself would start with the new template.
        (hasTemplates(gate) || (gate.templates === undefined ? keeps(situation, step) : stays(step, gate))) &&
        // Whom a member is to trust is not known before, and stands in its template.
        (observed.awaited === undefined || step.type !== 'create' || step.object.kind !== 'StatefulSet'),
    );
  const before: Step<EtcdAction>[] = [...first, ...requestSteps(situation), ...markSteps(situation)];
  const retired = retireSteps(situation, roster);
  const held = [...claims].filter(([index]) => roster.has(index)).map(([, claim]) => claim);
  return {
    ...more,
    steps: [
      ...before,
      ...retired.marks,
      ...objects,
      ...surplusSteps(cluster, children, desired),
      ...retired.removals,
      ...growthSteps(cluster.spec.storage.size, held),
      ...gate.steps,
      ...steps,
    ],
    outcome:
      outcome.state === 'settled' ? (gate.outcome ?? updateNotice(situation, gate, objects) ?? outcome) : outcome,
  };
}

/** Members restart for what else has changed, whichever version they are to run. */
function hasTemplates({ isOpen, templates }: VersionGate): boolean {
  return isOpen || templates === 'pinned';
}

/** Nobody can tell what to start: see `VersionGate.templates`. */
function stays(step: ObjectStep, { templates }: VersionGate): boolean {
  if ((step.type !== 'apply' && step.type !== 'create') || step.object.kind !== 'StatefulSet') return true;
  if (step.type === 'create') return templates === 'stay';
  return step.changes.some(({ path }) => path === 'spec.replicas');
}

/** Where its Secret is there, the cluster runs without cert-manager, and without its kinds. */
function optionalCertificate({ observed }: Situation): (step: ObjectStep) => ObjectStep {
  return (step) =>
    (step.type === 'create' || step.type === 'apply') &&
    step.object.kind === 'Certificate' &&
    observed.awaited?.includes(step.object.metadata.name) !== true
      ? { ...step, optional: true }
      : step;
}

/** Said before the first restart: nobody can say so later than that. */
function updateNotice({ spec }: Situation, { note }: VersionGate, steps: readonly ObjectStep[]): Outcome | undefined {
  const isWritten = steps.some((step) => step.type === 'apply' && step.object.kind === 'StatefulSet');
  return note === undefined || !isWritten
    ? undefined
    : wait('Updating', `the members restart with ${spec.version}, one at a time${note}`);
}

/** Users and their passwords are a part of the data. */
function restoredHint({ claims, cluster }: Situation): string {
  const isRestored = [...claims.values()].some(
    ({ metadata }) => metadata.annotations?.[restoredAnnotation] !== undefined,
  );
  if (!isRestored || cluster.status?.initialized === true) return '';
  const { name, key } = passwordSecret(cluster);
  return `; the restored data asks for the password that root had in the cluster of the backup: add the old password to Secret ${name} as the key ${previousKey(key)}`;
}

/**
 * Where they cannot be read now, they are as they were: nobody restarts because a Secret is away. Nor does anybody who
 * runs without a word of them, such as a member that was rendered beforehand; but for authorities that the operator
 * looks after, whom it has to know everybody's trust.
 */
function authoritiesFor(situation: Situation, index: number): string | undefined {
  const { cluster, observed, sets, pods } = situation;
  const written = sets.get(index)?.spec?.template?.metadata?.annotations?.[authoritiesAnnotation];
  const runs = sets.has(index) && pods.get(index)?.status?.phase === 'Running';
  // Ours are those, too, of a copy that has been led from one to another.
  const areOurs = sides.some(
    (side) =>
      cluster.spec.tls[side]?.selfManaged !== undefined || observed.copies?.[side]?.copy.facts?.changed !== undefined,
  );
  if (written === undefined && runs && !areOurs) return undefined;
  if (written !== undefined && runs && replacedCas(situation).length > 0) return written;
  return observed.authorities ?? written ?? firstAuthorities(cluster);
}

/** A record of whom the template names: it stays with what is written as long as that does. */
function casFor(situation: Situation, index: number): string | undefined {
  const { observed, sets } = situation;
  const isNow = observed.authorities !== undefined && authoritiesFor(situation, index) === observed.authorities;
  return (isNow ? casIn(observed.given) : undefined) ?? sets.get(index)?.metadata.annotations?.[casAnnotation];
}

function parked({ pods }: Situation): Outcome {
  return pods.size === 0 ? settled : wait('Parking', `${pods.size} member(s) are stopping`);
}

/** No majority has said anything: nothing that changes the membership can be done, and nothing destructive is. */
function undecided(situation: Situation, gate: VersionGate, roster: Roster): Outcome {
  const { cluster } = situation;
  const message = absent(situation, [...roster.keys()]);
  const blank = blankVolumes(situation, roster);
  // A request that is refused says it, too.
  const offered = situation.cluster.metadata.annotations?.[recoverAnnotation] === undefined ? offers(situation) : '';
  if (roster.size - blank.length < quorumOf(roster.size)) {
    const names = blank.map((index) => podName(cluster.metadata.name, index)).join(', ');
    const message = `a majority of the members has lost its volume (${names}): the others cannot go on`;
    return blocked('QuorumLost', `${message}${offered}`, blankMs);
  }
  if (cluster.status?.initialized !== true) {
    const words = message === '' ? 'the members elect a leader' : `${message}${heldForVolumes(situation)}`;
    return wait('Forming', words, whileRunning(situation, formingMs));
  }
  const inconsistent = inconsistentPods(situation);
  if (inconsistent !== undefined) {
    const words = `no majority of the ${roster.size} member(s) answers, and ${inconsistent}: a person has to compare the data`;
    return blocked('DataCorrupt', words, whileRunning(situation, recheckMs));
  }
  // Whoever has set a version and sees no template with it is told why.
  const pending = gate.outcome === undefined || gate.outcome.state === 'settled' ? '' : `; ${gate.outcome.message}`;
  const also = `${pending}${heldForVolumes(situation)}`;
  return wait(
    'QuorumLost',
    `no majority of the ${roster.size} member(s) answers: ${message}${also}${hasLasted(situation) ? offered : ''}`,
    whileRunning(situation, recheckMs),
  );
}

/** A request that is not carried out says why, and holds up nothing that would be done without it. */
function withRequest(outcome: Outcome, request: Exclude<ReturnType<typeof recoveryOf>, { state: 'granted' }>): Outcome {
  if (request === undefined || outcome.state === 'settled') return outcome;
  const message = `${request.message}; ${outcome.message}`;
  return request.state === 'early'
    ? { ...outcome, message }
    : { ...outcome, state: 'blocked', reason: 'RecoveryRefused', message };
}

/**
 * While no pod runs nobody can answer: the watch of the pods tells of the next change, and nothing is asked until then,
 * but for the Secrets that they may be waiting for.
 */
function whileRunning({ children, pods }: Situation, ms: number): number | undefined {
  if ([...pods.values()].some(({ status }) => status?.phase === 'Running')) return ms;
  return areCreating(children) ? stuckCreatingMs : undefined;
}

/** Members that have run before and whose volume, as far as it is there, has never been a member's. */
function blankVolumes({ cluster, claims, sets, observed }: Situation, roster: Roster): number[] {
  return [...roster].flatMap(([index, start]) => {
    const hasRun = isResuming(cluster, index, start) && sets.has(index);
    const answers = observed.members.some(
      ({ pod, state }) => state === 'answering' && pod === podName(cluster.metadata.name, index),
    );
    return hasRun && !answers && isBlank(claims.get(index)) ? [index] : [];
  });
}

function planMembers(situation: Situation, gate: VersionGate, members: readonly Member[]): EtcdPlan {
  const corruption = planCorruption(situation, members);
  if (corruption !== undefined) return withoutRestarts(corruption);
  const via = viaOf(situation);
  if (via === undefined) {
    const why = memberProblems(situation, members).join('; ');
    const outcome = wait('MembersNotReady', why === '' ? 'no member can be asked' : why, recheckMs);
    return withoutRestarts({ steps: [], outcome });
  }
  const change = planReplacement(situation, members, via) ?? planStuck(situation) ?? planCancelDowngrade(gate, via);
  if (change !== undefined) return change;
  const joining = planLearner(situation, members, via);
  if (joining !== undefined) {
    return (joining.steps.length === 0 ? planMeanwhile(situation, members, via) : undefined) ?? joining;
  }
  const doomed = members.filter((member) => failureOf(situation, member) !== undefined);
  if (doomed.length > 0) {
    const message = `${wordsFor(situation.cluster, doomed)} cannot be replaced: too few of the others are well`;
    return withoutRestarts({ steps: [], outcome: blocked('TooFewHealthy', message) });
  }
  const missing = memberProblems(situation, members);
  if (missing.length > 0) {
    const outcome = wait('MembersNotReady', missing.join('; '), recheckMs);
    return planMeanwhile(situation, members, via) ?? { steps: [], outcome };
  }
  return planWhole(situation, gate, members, via);
}

/**
 * What needs a majority and not every member. A member may wait for a node for days. Until `auth` is as the spec says, every client
 * may use the database, or a client with the former password.
 */
function planMeanwhile(
  situation: Situation,
  members: readonly Member[],
  via: NonNullable<ReturnType<typeof viaOf>>,
): EtcdPlan | undefined {
  const voting = voters(members);
  if (voting.filter(isHealthy).length < quorumOf(voting.length)) return undefined;
  return planAuth(situation, via) ?? planAlarmsMeanwhile(situation, members, via);
}

/**
 * A used up quota stops all writes. Who has no process and gets none by itself, new or not, neither copies from the others
 * nor is about to: these compact and defragment meanwhile, as long as they are a majority.
 */
function planAlarmsMeanwhile(
  situation: Situation,
  members: readonly Member[],
  via: NonNullable<ReturnType<typeof viaOf>>,
): EtcdPlan | undefined {
  const voting = voters(members);
  const running = voting.filter((member) => !isStranded(situation, member));
  const isCopying = members.some(({ isLearner, live }) => isLearner && live !== undefined);
  const isQuiet = !isCopying && !isUnsettled(situation) && memberProblems(situation, running).length === 0;
  return isQuiet && running.length >= quorumOf(voting.length) ? planAlarms(situation, running, via) : undefined;
}

function isStranded({ pods }: Situation, { index, live }: Member): boolean {
  const pod = index === undefined ? undefined : pods.get(index);
  return live === undefined && pod !== undefined && cannotStart(pod);
}

/** Who starts now, anew or for the first time, would be let in by none of the others. Undefined where nobody is to. */
function cutOff(situation: Situation, members: readonly Member[]): EtcdPlan | undefined {
  const isDue =
    voters(members).length < situation.spec.replicas ||
    (members.length > 1 && members.some((member) => isOutdated(situation, member)));
  if (!isDue || !replacedCas(situation).includes('peer')) return undefined;
  const message = 'members restart and join when the others trust the certificate that they show';
  return { steps: [], outcome: wait('CertificateHeldBack', message) };
}

/** Everybody votes and is well. */
function planWhole(
  situation: Situation,
  gate: VersionGate,
  members: readonly Member[],
  via: NonNullable<ReturnType<typeof viaOf>>,
): EtcdPlan {
  if (isUnsettled(situation)) {
    return { steps: [], outcome: wait('Updating', 'Kubernetes has yet to take up the new template') };
  }
  const isComplete = voters(members).length >= situation.spec.replicas;
  const mayRestart = isComplete || canSpareOne(members);
  const heldUp = cutOff(situation, members);
  const restart =
    mayRestart && hasTemplates(gate) && heldUp === undefined ? planRestart(situation, members, gate.note) : undefined;
  // A kubelet may take minutes for a resize.
  const meanwhile = restart?.steps.length === 0 ? planMeanwhile(situation, members, via) : undefined;
  return (
    (meanwhile?.steps.length === 0 ? undefined : meanwhile) ??
    restart ??
    (mayRestart ? planDowngrade(gate, via) : undefined) ??
    planAuth(situation, via) ??
    planAlarms(situation, members, via) ??
    (heldUp === undefined ? planScaleOut(situation, members, via) : undefined) ??
    planScaleIn(situation, members, via) ??
    planDefragmentation(situation, members) ??
    heldUp ?? { steps: [], outcome: settled }
  );
}
