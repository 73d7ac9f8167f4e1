/** What a PostgresCluster needs next: pure, from the situation. Electing a primary is Patroni's; the operator never promotes. */
import { statefulSets } from '../../../api/resource.ts';
import { sparingVolumes } from '../../../plan/going-volumes.ts';
import { objectSteps } from '../../../plan/objects.ts';
import { blocked, type Outcome, type Step, settled, wait } from '../../../plan/plan.ts';
import { refOf } from '../../../plan/ref.ts';
import { awaitingExpansion, growthSteps } from '../../../plan/volume-expansion.ts';
import type { PostgresAction } from '../action.ts';
import { authoritiesAnnotation, recoverAnnotation } from '../names.ts';
import { podOf, type Situation } from '../observe/situation.ts';
import { firstAuthorities } from '../resources/authorities.ts';
import { postgresChildren } from '../resources/resources.ts';
import type { Roster } from '../resources/roster.ts';
import { applicationSteps } from './application.ts';
import { reloadSteps } from './certificate-reload.ts';
import { withoutPrimary } from './election.ts';
import { foreignData, stateLost } from './forbidden.ts';
import { memberProblems } from './health.ts';
import { planIssuance } from './issuance.ts';
import { leavers, nextRoster } from './members.ts';
import { isUnsettled } from './outdated.ts';
import { withRefusedParameters } from './parameters.ts';
import type { PostgresPlan } from './postgres-plan.ts';
import { dropAnnotation, type Recovery, recoveryOf } from './recovery.ts';
import { planReplacement } from './replacement.ts';
import { planSwitchover, replaceRequested, settledReplaceSteps } from './requests.ts';
import { planRestart, planStuck, recheckMs, restartWanted } from './restart.ts';
import { roleSteps } from './roles.ts';
import { configPatch } from './shared-config.ts';
import { stateFor, stateToMake } from './store.ts';
import { unreadSettings } from './unread-settings.ts';
import { holdSteps, retireSteps } from './volumes.ts';

export function planPostgres(situation: Situation): PostgresPlan {
  const { spec, children } = situation;
  const plan = awaitingExpansion(planCluster(situation), spec.storage.size, {
    ...children,
    claims: claimsOf(situation),
  });
  return sparingVolumes(plan, children, (pods) => volumesGoing(situation, pods));
}

function claimsOf({ claims }: Situation) {
  return [...claims.values()];
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

function planCluster(situation: Situation): PostgresPlan {
  const { steps, lost } = planIssuance(situation);
  const foreign = foreignData(situation);
  if (foreign !== undefined) return { steps: [...growth(situation), ...steps], outcome: foreign };
  if (lost !== undefined && situation.spec.instances > 0) return { steps, outcome: blocked('CertificatesLost', lost) };
  const recovery = situation.spec.instances === 0 ? undefined : recoveryOf(situation);
  if (recovery?.state === 'granted') {
    const { roster, outcome } = recovery;
    const plan = withObjects(situation, roster, recovery.steps, outcome, recovery);
    return { ...plan, steps: [...steps, ...plan.steps], destructive: true };
  }
  const lostNow = stateLost(situation);
  if (lostNow !== undefined) {
    return { steps: [...growth(situation), ...steps], outcome: withRequest(lostNow, recovery) };
  }
  const plan = planMembers(situation);
  return { ...plan, steps: [...steps, ...plan.steps], outcome: withRequest(plan.outcome, recovery) };
}

/** A request that is not carried out says why, and holds up nothing that would be done without it. */
function withRequest(outcome: Outcome, request: Exclude<ReturnType<typeof recoveryOf>, { state: 'granted' }>): Outcome {
  if (request === undefined || outcome.state === 'settled') return outcome;
  const message = `${request.message}; ${outcome.message}`;
  return request.state === 'early'
    ? { ...outcome, message }
    : { ...outcome, state: 'blocked', reason: 'RecoveryRefused', message };
}

function growth(situation: Situation): Step<PostgresAction>[] {
  return growthSteps(situation.spec.storage.size, claimsOf(situation));
}

function planMembers(situation: Situation): PostgresPlan {
  const { spec, pods, primary } = situation;
  if (spec.instances === 0) {
    const roster = nextRoster(situation, { mayShrink: false });
    const outcome = pods.size === 0 ? settled : wait('Parking', `${pods.size} member(s) are stopping`);
    return withObjects(situation, roster, [], outcome);
  }
  const stuck = planStuck(situation);
  if (primary === undefined) {
    const roster = nextRoster(situation, { mayShrink: false });
    return withObjects(situation, roster, stuck?.steps ?? [], stuck?.outcome ?? withoutPrimary(situation));
  }
  const steps = [
    ...dropAnnotation(situation, recoverAnnotation),
    ...settledReplaceSteps(situation),
    ...roleSteps(situation, primary),
    ...configSteps(situation, primary),
    ...applicationSteps(situation, primary),
  ];
  const reloads = reloadSteps(situation);
  const replacement = planReplacement(situation, replaceRequested(situation));
  if (replacement !== undefined) {
    const { lost } = replacement;
    const roster = nextRoster(situation, { mayShrink: false, ...(lost === undefined ? {} : { lost }) });
    return withObjects(situation, roster, [...steps, ...replacement.steps], replacement.outcome);
  }
  const problems = memberProblems(situation);
  const isWhole = problems.length === 0 && !isUnsettled(situation);
  const leaving = leavers(situation).map((index) => podOf(situation, index));
  const roster = nextRoster(situation, { mayShrink: isWhole && leaving.length === 0 });
  if (stuck !== undefined) return withObjects(situation, roster, [...steps, ...stuck.steps], stuck.outcome);
  const awaited = awaitedBeforeChange(situation, problems, roster, leaving);
  if (awaited !== undefined) return withObjects(situation, roster, steps, awaited);
  if (steps.length > 0) {
    return withObjects(situation, roster, steps, wait('Updating', 'settings are brought in line', recheckMs));
  }
  const unread = unreadSettings(situation);
  if (unread !== undefined) return withObjects(situation, roster, [], wait('Updating', unread, recheckMs));
  const change = planRestart(situation) ?? planSwitchover(situation, primary);
  const outcome = change?.outcome ?? withRefusedParameters(situation, settled);
  return withObjects(situation, roster, change?.steps ?? reloads, outcome);
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
  if (problems.length > 0) return wait('MembersNotReady', problems.join('; '), recheckMs);
  if (isUnsettled(situation)) return wait('Updating', 'Kubernetes has yet to take up the new template');
  if (roster.size !== situation.roster.size) {
    const message = roster.size > situation.roster.size ? 'members are added' : 'one member leaves';
    return wait('Scaling', message, recheckMs);
  }
  return leaving.length === 0 ? undefined : wait('Scaling', `${leaving.join(', ')} is leaving`, recheckMs);
}

function configSteps(situation: Situation, { pod, address }: { pod: string; address: string }): Step<PostgresAction>[] {
  const patch = configPatch(situation);
  if (patch === undefined) return [];
  const fields = [...Object.keys(patch)].join(', ');
  return [
    {
      type: 'act',
      action: { type: 'postgres.configure', via: { pod, address }, patch },
      summary: `change the shared configuration of Patroni (${fields})`,
    },
  ];
}

/** The objects first: a member that is added must start. Those of members that leave go last. */
function withObjects(
  situation: Situation,
  roster: Roster,
  steps: readonly Step<PostgresAction>[],
  outcome: Outcome,
  recovery?: Recovery,
): PostgresPlan {
  const { cluster, children, sets, observed } = situation;
  const authorities = (index: number): string | undefined => {
    const written = sets.get(index)?.spec?.template?.metadata?.annotations?.[authoritiesAnnotation];
    return observed.authorities ?? written ?? firstAuthorities;
  };
  const state = recovery?.isAlone === true ? stateFor(situation, recovery.survivor) : stateToMake(situation);
  const extra = { restart: restartWanted(situation), request: recovery?.request };
  const objects = objectSteps([...state, ...postgresChildren(cluster, roster, authorities, extra)], children).filter(
    // Patroni writes to them.
    (step) => step.type !== 'apply' || !state.some(({ object }) => object.metadata.name === step.object.metadata.name),
  );
  const retired = recovery === undefined ? retireSteps(situation, roster) : [];
  const leaving = [...sets].flatMap(([index, set]) => {
    const ref = roster.has(index) || recovery !== undefined ? undefined : refOf(set, statefulSets);
    return ref === undefined ? [] : [{ type: 'delete', ref, reason: 'its member has left' } as const];
  });
  const patches = steps.filter((step) => step.type === 'patch');
  const others = steps.filter((step) => step.type !== 'patch');
  return {
    steps: [...patches, ...holdSteps(situation), ...retired, ...objects, ...leaving, ...growth(situation), ...others],
    outcome,
  };
}
