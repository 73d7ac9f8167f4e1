/** What a PostgresCluster needs next: pure, from the situation. Electing a primary is Patroni's; the operator never promotes. */
import type { BackupFactory } from '../../../engine/backup-support.ts';
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
import { surplusSteps } from '../../../plan/surplus.ts';
import { writesTemplate } from '../../../plan/template-use.ts';
import { awaitingExpansion, growthSteps, walVolumes } from '../../../plan/volume-expansion.ts';
import type { PostgresAction } from '../action.ts';
import {
  authoritiesAnnotation,
  exporterComponent,
  memberName,
  poolerComponent,
  postgresNames,
  recoverAnnotation,
} from '../names.ts';
import { podOf, type Situation } from '../observe/situation.ts';
import { firstAuthorities } from '../resources/authorities.ts';
import { isStrict } from '../resources/patroni-config.ts';
import { postgresChildren } from '../resources/resources.ts';
import type { Roster } from '../resources/roster.ts';
import { isUnderway } from '../resources/upgrade-record.ts';
import { applicationSteps, isFilled, unseenApplication, unusableSecret } from './application.ts';
import { besideSteps } from './beside.ts';
import { reloadSteps } from './certificate-reload.ts';
import { withoutPrimary } from './election.ts';
import { foreignData, logWithoutVolume, stateLost, unreadableRecord, volumesGone } from './forbidden.ts';
import { memberProblems } from './health.ts';
import { importOccupied, planImport, settledCutOverSteps } from './import.ts';
import { planInit } from './init.ts';
import { planIssuance, unaskableMembers } from './issuance.ts';
import { leavingSteps } from './leaving.ts';
import { planLogicalImport, settledCopySteps } from './logical-import.ts';
import { loginSteps, missingRoles } from './logins.ts';
import { planLostTokens } from './lost-token.ts';
import { leavers, nextRoster } from './members.ts';
import { isOutdated, isUnsettled } from './outdated.ts';
import { withoutStart, withRefusedParameters } from './parameters.ts';
import { pausedByPerson } from './pause.ts';
import { poolerProblem, resumeSteps } from './pooler.ts';
import type { PostgresPlan } from './postgres-plan.ts';
import { withoutRoom } from './prepared.ts';
import { dropAnnotation, type Recovery, recoveryOf } from './recovery.ts';
import { correctedSettings } from './refused-start.ts';
import { planReplacement } from './replacement.ts';
import { planSwitchover, replaceRequested, settledReplaceSteps } from './requests.ts';
import { planLacking, planRestart, planStuck, recheckMs, restartWanted } from './restart.ts';
import { roleSteps } from './roles.ts';
import { configPatch } from './shared-config.ts';
import { planShown, settledWith, shownReloads, withoutTemplates } from './shown-certificate.ts';
import { slottedCopies } from './slotted-copies.ts';
import { stateFor, stateToMake } from './store.ts';
import { unansweredSettings } from './unanswered-settings.ts';
import { unfinishedSteps } from './unfinished.ts';
import { unreadSettings } from './unread-settings.ts';
import { continueUpgrade } from './upgrade.ts';
import { beginUpgrade } from './upgrade-begin.ts';
import { accompanying, finishUpgrade, keptRecord } from './upgrade-finish.ts';
import { leftJobs } from './upgrade-jobs.ts';
import type { UpgradePlan } from './upgrade-plan.ts';
import { holdSteps, retireSteps } from './volumes.ts';

export function planPostgres(situation: Situation, take: BackupFactory): DeferrablePlan<PostgresAction> {
  const { canWait, ...whole } = planWhole(situation, take);
  const { upgrade } = situation;
  const isUpgrading = upgrade !== undefined && isUnderway(upgrade);
  const plan = {
    ...whole,
    ...(isUpgrading ? { isUnderway: true as const } : {}),
    ...(isInterrupted(situation) ? { isUnfinished: true as const } : {}),
  };
  const isRolling = [...situation.pods.keys()].some((index) => isOutdated(situation, index));
  // A rollout that has begun goes on.
  const mayWait = canWait === true && !isRolling;
  if (!mayWait) return plan;
  const { canWait: _, ...otherwise } = planWhole({ ...situation, mayNotInterrupt: true }, take);
  return { ...plan, otherwise: { ...otherwise, defers: true } };
}

/** Servers restart for their settings, or have yet to. Kubernetes hardly sees that: their pods stay, and are ready soon again. */
function isInterrupted({ live }: Situation): boolean {
  return [...live.values()].some(({ postgres, restartPending }) => restartPending || postgres !== 'running');
}

function planWhole(situation: Situation, take: BackupFactory): PostgresPlan {
  const { spec, children, claims, walClaims } = situation;
  const volumes = { ...children, claims: [...claims.values()] };
  const data = awaitingExpansion(planCluster(situation, take), spec.storage.size, volumes);
  if (spec.walStorage === undefined) return sparingVolumes(data, children, (pods) => volumesGoing(situation, pods));
  const logs = { ...children, claims: [...walClaims.values()] };
  const both = awaitingExpansion(data, spec.walStorage.size, logs, walVolumes);
  return sparingVolumes(both, children, (pods) => volumesGoing(situation, pods), ['data', 'wal']);
}

/** A standby copies the primary's data again. The primary's, and anybody's while there is none, would be gone. */
function volumesGoing(situation: Situation, pods: readonly string[]): Outcome | undefined {
  const { primary } = situation;
  const only = pods.find((pod) => primary === undefined || primary.pod === pod);
  return only === undefined
    ? undefined
    : blocked(
        'VolumesGoing',
        `somebody has deleted the volume of ${only}, and it goes when the pod stops: the pod is not restarted`,
      );
}

function planCluster(situation: Situation, take: BackupFactory): PostgresPlan {
  const gone = volumesGone(situation);
  if (gone !== undefined) return { steps: [], outcome: gone };
  const issuance = planIssuance(situation);
  const shown = planShown(situation);
  const steps = [...issuance.steps, ...shown.steps];
  const lost = issuance.lost ?? shown.lost;
  const foreign =
    unreadableRecord(situation) ?? foreignData(situation) ?? logWithoutVolume(situation) ?? importOccupied(situation);
  if (foreign !== undefined) return { steps: [...growth(situation), ...steps], outcome: foreign };
  const unaskable = lost ?? (steps.length === 0 ? unaskableMembers(situation) : undefined);
  if (unaskable !== undefined && situation.spec.instances > 0)
    return { steps, outcome: blocked('CertificatesLost', unaskable, recheckMs * 10) };
  const recovery = mayRecover(situation) ? recoveryOf(situation) : undefined;
  if (recovery?.state === 'granted') {
    const { roster, outcome } = recovery;
    const plan = withObjects(situation, roster, recovery.steps, outcome, { recovery, record: keptRecord(situation) });
    return { ...plan, steps: [...steps, ...plan.steps], destructive: true };
  }
  const lostNow = stateLost(situation);
  if (lostNow !== undefined) {
    return { steps: [...growth(situation), ...steps], outcome: withRequest(lostNow, recovery) };
  }
  if (shown.awaited !== undefined && situation.spec.instances > 0) {
    const roster = nextRoster(situation, { mayShrink: false });
    const plan = withObjects(situation, roster, [], shown.awaited);
    return { ...plan, steps: [...steps, ...withoutTemplates(plan.steps)] };
  }
  const plan = planMembers(situation, take);
  return { ...plan, steps: [...steps, ...plan.steps], outcome: withRequest(plan.outcome, recovery) };
}

/** Nobody runs while the data is upgraded, and none of the members could go on alone. */
function mayRecover({ spec, upgrade }: Situation): boolean {
  return spec.instances > 0 && (upgrade === undefined || !isUnderway(upgrade));
}

/** A request that is not carried out says why, and holds up nothing that would be done without it. */
function withRequest(outcome: Outcome, request: Exclude<ReturnType<typeof recoveryOf>, { state: 'granted' }>): Outcome {
  if (request === undefined || outcome.state === 'settled') return outcome;
  const message = `${request.message}; ${outcome.message}`;
  return request.state === 'early'
    ? { ...outcome, message }
    : { ...outcome, state: 'blocked', reason: 'RecoveryRefused', message };
}

function growth({ spec, claims, walClaims }: Situation): Step<PostgresAction>[] {
  return [
    ...growthSteps(spec.storage.size, [...claims.values()]),
    ...(spec.walStorage === undefined ? [] : growthSteps(spec.walStorage.size, [...walClaims.values()])),
  ];
}

function planMembers(situation: Situation, take: BackupFactory): PostgresPlan {
  const { spec, pods, primary } = situation;
  const upgrade = continueUpgrade(situation);
  if (upgrade !== undefined) return withUpgrade(situation, upgrade);
  if (spec.instances === 0) {
    const roster = nextRoster(situation, { mayShrink: false });
    const outcome = pods.size === 0 ? settled : wait('Parking', `${pods.size} member(s) are stopping`);
    return withObjects(situation, roster, [], outcome);
  }
  const imported = planImport(situation);
  if (imported !== undefined) return withObjects(situation, imported.roster, imported.steps, imported.outcome);
  const tokens = planLostTokens(situation);
  if (tokens !== undefined) {
    const labels = primary === undefined ? [] : roleSteps(situation, primary);
    const roster = nextRoster(situation, { mayShrink: false });
    return withObjects(situation, roster, [...labels, ...tokens.steps], tokens.outcome);
  }
  const stuck = planStuck(situation);
  if (primary === undefined) {
    const roster = nextRoster(situation, { mayShrink: false });
    // Volumes may be full: they grow before anything else.
    const unanswered = growth(situation).length > 0 ? [] : unansweredSettings(situation);
    const corrected = [...correctedSettings(situation), ...unanswered];
    const restarted = stuck?.steps ?? unfinishedSteps(situation);
    const steps = [...accompanying(situation), ...restarted, ...corrected];
    return withObjects(situation, roster, steps, stuck?.outcome ?? withoutPrimary(situation));
  }
  const steps = [
    ...accompanying(situation),
    ...dropAnnotation(situation, recoverAnnotation),
    ...settledReplaceSteps(situation),
    ...settledCutOverSteps(situation),
    ...settledCopySteps(situation, primary),
    ...roleSteps(situation, primary),
    ...configSteps(situation, primary),
    ...applicationSteps(situation, primary),
    ...loginSteps(situation, primary),
    ...resumeSteps(situation),
    ...besideSteps(situation),
  ];
  // Also while a person is waited for, which may take longer than the certificate that a server has read before lasts.
  const reloads = [...reloadSteps(situation), ...shownReloads(situation)];
  const replacement = planReplacement(situation, replaceRequested(situation));
  if (replacement !== undefined) {
    const { lost } = replacement;
    const roster = nextRoster(situation, { mayShrink: false, ...(lost === undefined ? {} : { lost }) });
    const plan = withObjects(situation, roster, [...steps, ...replacement.steps], replacement.outcome);
    // The pod that was lost may long be there again, and no watch have told it. The others are changed afterwards, when they may restart.
    return lost === undefined
      ? plan
      : { ...plan, steps: plan.steps.filter((step) => !writesTemplate(step)), destructive: true };
  }
  const problems = memberProblems(situation);
  const isWhole = problems.length === 0 && !isUnsettled(situation);
  const leaving = leavers(situation).map((index) => podOf(situation, index));
  // The last standby goes only when Patroni knows that a single member waits for nobody: it would not take back later what commits wait for.
  const isHeld = situation.observed.config?.synchronous_mode_strict === true && !isStrict(spec);
  const roster = nextRoster(situation, { mayShrink: isWhole && leaving.length === 0 && !isHeld });
  if (stuck !== undefined) return withObjects(situation, roster, [...steps, ...stuck.steps], stuck.outcome);
  const awaited = awaitedBeforeChange(situation, problems, roster, leaving);
  // A server that others refuse for its certificate is not well before it has read another one.
  if (awaited !== undefined) return withObjects(situation, roster, [...steps, ...reloads], awaited);
  const tooMany = withoutRoom(situation);
  if (tooMany !== undefined) return withObjects(situation, roster, [...steps, ...reloads], tooMany);
  if (steps.length > 0) {
    return withObjects(situation, roster, steps, wait('Updating', 'settings are brought in line', recheckMs));
  }
  const unread = unreadSettings(situation);
  if (unread !== undefined)
    return withObjects(situation, roster, unread.steps, wait('Updating', unread.message, recheckMs));
  const fatal = withoutStart(situation);
  if (fatal !== undefined) {
    const plan = withObjects(situation, roster, reloads, fatal);
    // A new template would take the place in the line of rollouts, and nobody would restart for it.
    const members = [...situation.sets.values()].map((set) => set.metadata.name);
    const isHeld = (step: Step): boolean => writesTemplate(step) && members.includes(step.object.metadata.name);
    return { ...plan, steps: plan.steps.filter((step) => !isHeld(step)) };
  }
  const rollout = situation.mayNotInterrupt === true ? planLacking(situation) : planRestart(situation);
  // A kubelet may take minutes for a resize. Who is primary matters nothing to it, and may matter to the one who asks.
  const isWaiting =
    rollout?.steps.length === 0 && rollout.outcome.state === 'wait' && rollout.outcome.reason === 'Resizing';
  const meanwhile = isWaiting ? planSwitchover(situation, primary) : undefined;
  const change =
    (meanwhile?.steps.length === 0 ? undefined : meanwhile) ??
    rollout ??
    planSwitchover(situation, primary) ??
    planUnseen(situation) ??
    planInit(situation, primary) ??
    planLogicalImport(situation, primary);
  const orReloads = <S>(changes: readonly S[]) => (changes.length === 0 ? reloads : changes);
  if (change !== undefined) {
    const plan = withObjects(situation, roster, orReloads(change.steps), change.outcome);
    if (change !== rollout || !rollout.steps.some(({ type }) => type === 'act')) return plan;
    const isAtOnce = situation.mayNotInterrupt === true || primary.awaitsPrimary;
    return { ...(isAtOnce ? plan : templatesFirst(situation, plan)), canWait: true };
  }
  const next = finishUpgrade(situation, take) ?? beginUpgrade(situation, take);
  if (next !== undefined) {
    const plan = withUpgrade(situation, { ...next, steps: orReloads(next.steps) });
    const backup = next.prepares === true ? ({ prepares: true } as const) : {};
    return next.begins === true ? { ...withMarkedRecord(situation, plan, next), ...backup, canWait: true } : plan;
  }
  const outcome = withRefusedParameters(situation, whole(situation));
  return withObjects(situation, roster, [...reloads, ...leftJobs(situation)], outcome);
}

function planUnseen(situation: Situation): { readonly steps: readonly []; readonly outcome: Outcome } | undefined {
  const outcome = unseenApplication(situation);
  return outcome === undefined ? undefined : { steps: [], outcome };
}

/** A server whose pod is about to restart for its template restarts once, with the pod; but not where the API server takes no template. */
function templatesFirst({ sets }: Situation, plan: PostgresPlan): PostgresPlan {
  const unlessWritten = [...sets.values()].map(({ metadata }) => metadata.name);
  return { ...plan, steps: plan.steps.map((step) => (step.type === 'act' ? { ...step, unlessWritten } : step)) };
}

/** Members stop for the record of an upgrade that has begun. */
function withMarkedRecord({ cluster }: Situation, plan: PostgresPlan, { record }: UpgradePlan): PostgresPlan {
  if (record === undefined || !isUnderway(record)) return plan;
  const { roster } = postgresNames(cluster.metadata.name);
  const isRecord = (step: Step): boolean => step.type === 'apply' && step.object.metadata.name === roster;
  return { ...plan, steps: plan.steps.map((step) => (isRecord(step) ? { ...step, interrupts: true } : step)) };
}

/** Steps of an upgrade, and in the same reconcile what is written down of it. */
function withUpgrade(situation: Situation, upgrade: UpgradePlan): PostgresPlan {
  const { roster = situation.roster, cluster = situation.cluster } = upgrade;
  const as = { ...situation, cluster, spec: cluster.spec };
  return withObjects(as, roster, upgrade.steps, upgrade.outcome, upgrade);
}

/** The database is as the spec says; what stands beside it may not be. */
function whole(situation: Situation): Outcome {
  // Only then may the roster say that nobody makes a database any more, and no event tells that the status was written.
  if (situation.cluster.status?.initialized !== true)
    return wait('Forming', 'the status has yet to say that the cluster has been formed', recheckMs);
  const paused = pausedByPerson(situation);
  if (paused !== undefined) return wait('FailoverPaused', paused);
  const missing = missingRoles(situation);
  if (missing !== undefined) return wait('RoleMissing', missing, recheckMs);
  const unusable = unusableSecret(situation);
  if (unusable !== undefined) return unusable;
  const problem = poolerProblem(situation);
  return problem === undefined ? settledWith(situation) : wait('PoolerNotReady', problem);
}

/** What has to come first, since one member more would be away: nothing voluntary is done before. */
function awaitedBeforeChange(
  situation: Situation,
  problems: readonly string[],
  roster: Roster,
  leaving: readonly string[],
): Outcome | undefined {
  if (situation.observed.config === undefined)
    return wait('MembersNotReady', 'Patroni does not tell its configuration', recheckMs);
  if (problems.length > 0) {
    const refused = withoutStart(situation);
    const words = [...problems, refused?.message ?? [], pausedByPerson(situation) ?? []].flat();
    return wait('MembersNotReady', words.join('; '), recheckMs);
  }
  if (isUnsettled(situation)) return wait('Updating', 'Kubernetes has yet to take up the new template');
  if (roster.size !== situation.roster.size) {
    const message = roster.size > situation.roster.size ? 'members are added' : 'one member leaves';
    return wait('Scaling', message, recheckMs);
  }
  return leaving.length === 0 ? undefined : wait('Scaling', `${leaving.join(', ')} is leaving`, recheckMs);
}

function configSteps(situation: Situation, { pod, address }: { pod: string; address: string }): Step<PostgresAction>[] {
  const patch = withoutRoom(situation) === undefined ? configPatch(situation) : undefined;
  if (patch === undefined) return [];
  const fields = [...Object.keys(patch)].join(', ');
  return [
    ...slottedCopies(situation, patch),
    {
      type: 'act',
      action: { type: 'postgres.configure', via: { pod, address }, patch },
      summary: `change the shared configuration of Patroni (${fields})`,
    },
  ];
}

/** What is done to the cluster as a whole: a major upgrade, or a recovery. */
interface Underway extends Pick<UpgradePlan, 'record' | 'isRunning'> {
  readonly recovery?: Recovery;
}

/**
 * The objects first: a member that is added must start. Those of members that leave go last. A StatefulSet that is not seen is made before
 * the Role that names its pod: where the name is somebody else's, that fails, and nothing after it is done.
 */
function withObjects(
  situation: Situation,
  roster: Roster,
  steps: readonly Step<PostgresAction>[],
  outcome: Outcome,
  { recovery, ...upgrading }: Underway = { record: keptRecord(situation) },
): PostgresPlan {
  const { cluster, children, sets, observed } = situation;
  const authorities = (index: number): string | undefined => {
    const written = sets.get(index)?.spec?.template?.metadata?.annotations?.[authoritiesAnnotation];
    return observed.authorities ?? written ?? firstAuthorities;
  };
  const state = recovery?.isAlone === true ? stateFor(situation, recovery.survivor) : stateToMake(situation);
  const isOurs = (index: number): boolean =>
    sets.has(index) || children.statefulSet(memberName(cluster.metadata.name, index)) === undefined;
  const serverCas = observed.shown?.copy?.trusted;
  // Who goes on alone may be without it.
  const filled = recovery === undefined && isFilled(situation) ? ({ filled: true } as const) : {};
  const restart = restartWanted(situation);
  const extra = { ...upgrading, isOurs, restart, request: recovery?.request, serverCas, ...filled };
  const desired = postgresChildren(cluster, roster, authorities, extra);
  const made = objectSteps(desired, children);
  const isSecret = (step: ObjectStep): boolean => step.type === 'create' && step.object.kind === 'Secret';
  const objects = [
    // Before anything else: as soon as there is another child, nobody makes it any more.
    ...made.filter(isSecret),
    // Patroni writes to them.
    ...objectSteps(state, children).filter((step) => step.type !== 'apply'),
    ...made.filter((step) => !isSecret(step)),
  ];
  const retired = recovery === undefined ? retireSteps(situation, roster) : [];
  const leaving = recovery === undefined ? leavingSteps(situation, roster) : [];
  const patches = steps.filter((step) => step.type === 'patch');
  const others = steps.filter((step) => step.type !== 'patch');
  return {
    steps: [
      ...patches,
      ...holdSteps(situation),
      ...retired,
      ...objects,
      ...surplusSteps(cluster, children, desired, [poolerComponent, exporterComponent]),
      ...leaving,
      ...growth(situation),
      ...others,
    ],
    outcome,
  };
}
