/** What a PostgresCluster needs next: pure, from the situation. Electing a primary is Patroni's; the operator never promotes. */
import { statefulSets } from '../../../api/resource.ts';
import type { BackupFactory } from '../../../engine/backup-support.ts';
import { sparingVolumes } from '../../../plan/going-volumes.ts';
import { objectSteps } from '../../../plan/objects.ts';
import { blocked, type ObjectStep, type Outcome, type Plan, type Step, settled, wait } from '../../../plan/plan.ts';
import { refOf } from '../../../plan/ref.ts';
import { awaitingExpansion, growthSteps } from '../../../plan/volume-expansion.ts';
import type { PostgresAction } from '../action.ts';
import { authoritiesAnnotation } from '../names.ts';
import { hasHeldData, podOf, type Situation } from '../observe/situation.ts';
import { firstAuthorities } from '../resources/authorities.ts';
import { postgresChildren, type Upgrading } from '../resources/resources.ts';
import type { Roster } from '../resources/roster.ts';
import { applicationSteps } from './application.ts';
import { besideSteps } from './beside.ts';
import { forbidden } from './forbidden.ts';
import { memberProblems } from './health.ts';
import { planInit } from './init.ts';
import { planIssuance } from './issuance.ts';
import { loginSteps } from './logins.ts';
import { leavers, nextRoster } from './members.ts';
import { isUnsettled } from './outdated.ts';
import { poolerProblem, resumeSteps } from './pooler.ts';
import { planRestart, planStuck, recheckMs } from './restart.ts';
import { roleSteps } from './roles.ts';
import { configPatch, isBeingTakenUp } from './shared-config.ts';
import { stateToMake } from './store.ts';
import { surplusSteps } from './surplus.ts';
import { continueUpgrade } from './upgrade.ts';
import { beginUpgrade } from './upgrade-begin.ts';
import { accompanying, finishUpgrade, keptRecord } from './upgrade-finish.ts';
import type { UpgradePlan } from './upgrade-plan.ts';
import { holdSteps, retireSteps } from './volumes.ts';

export type PostgresPlan = Plan<PostgresAction>;

export function planPostgres(situation: Situation, take: BackupFactory): PostgresPlan {
  const { spec, children } = situation;
  const plan = awaitingExpansion(planCluster(situation, take), spec.storage.size, {
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

function planCluster(situation: Situation, take: BackupFactory): PostgresPlan {
  const { steps, lost } = planIssuance(situation);
  const outcome = forbidden(situation);
  if (outcome !== undefined) return { steps: [...growth(situation), ...steps], outcome };
  if (lost !== undefined && situation.spec.instances > 0) return { steps, outcome: blocked('CertificatesLost', lost) };
  const plan = planMembers(situation, take);
  return { ...plan, steps: [...steps, ...plan.steps] };
}

function growth(situation: Situation): Step<PostgresAction>[] {
  return growthSteps(situation.spec.storage.size, claimsOf(situation));
}

function planMembers(situation: Situation, take: BackupFactory): PostgresPlan {
  const { spec, pods, primary, observed } = situation;
  const upgrade = continueUpgrade(situation);
  if (upgrade !== undefined) return withUpgrade(situation, upgrade);
  if (spec.instances === 0) {
    const roster = nextRoster(situation, false);
    return withObjects(
      situation,
      roster,
      [],
      pods.size === 0 ? settled : wait('Parking', `${pods.size} member(s) are stopping`),
    );
  }
  const stuck = planStuck(situation);
  if (primary === undefined) {
    const roster = nextRoster(situation, false);
    const steps = [...accompanying(situation), ...(stuck?.steps ?? [])];
    return withObjects(situation, roster, steps, stuck?.outcome ?? withoutPrimary(situation));
  }
  const problems = memberProblems(situation);
  const isWhole = problems.length === 0 && !isUnsettled(situation);
  const leaving = leavers(situation).map((index) => podOf(situation, index));
  const roster = nextRoster(situation, isWhole && leaving.length === 0);
  const steps = [
    ...accompanying(situation),
    ...roleSteps(situation, primary),
    ...configSteps(situation, primary),
    ...applicationSteps(situation, primary),
    ...loginSteps(situation, primary),
    ...resumeSteps(situation),
    ...besideSteps(situation),
  ];
  if (stuck !== undefined) return withObjects(situation, roster, [...steps, ...stuck.steps], stuck.outcome);
  if (observed.config === undefined)
    return withObjects(
      situation,
      roster,
      steps,
      wait('MembersNotReady', 'Patroni does not tell its configuration', recheckMs),
    );
  if (problems.length > 0)
    return withObjects(situation, roster, steps, wait('MembersNotReady', problems.join('; '), recheckMs));
  if (!isWhole)
    return withObjects(situation, roster, steps, wait('Updating', 'Kubernetes has yet to take up the new template'));
  if (roster.size !== situation.roster.size) {
    const message = roster.size > situation.roster.size ? 'members are added' : 'one member leaves';
    return withObjects(situation, roster, steps, wait('Scaling', message, recheckMs));
  }
  if (leaving.length > 0)
    return withObjects(situation, roster, steps, wait('Scaling', `${leaving.join(', ')} is leaving`, recheckMs));
  if (steps.length > 0)
    return withObjects(situation, roster, steps, wait('Updating', 'settings are brought in line', recheckMs));
  if (isBeingTakenUp(situation))
    return withObjects(situation, roster, [], wait('Updating', 'the members take up their settings', recheckMs));
  const change = planRestart(situation) ?? planInit(situation);
  if (change !== undefined) return withObjects(situation, roster, change.steps, change.outcome);
  const next = finishUpgrade(situation, take) ?? beginUpgrade(situation, take);
  return next === undefined ? withObjects(situation, roster, [], whole(situation)) : withUpgrade(situation, next);
}

/** Steps of an upgrade, and in the same reconcile what is written down of it. */
function withUpgrade(situation: Situation, upgrade: UpgradePlan): PostgresPlan {
  const { record, isRunning = () => true, roster = situation.roster, cluster = situation.cluster } = upgrade;
  const as = { ...situation, cluster, spec: cluster.spec };
  return withObjects(as, roster, upgrade.steps, upgrade.outcome, { record, isRunning });
}

/** The database is as the spec says; what stands beside it may not be. */
function whole(situation: Situation): Outcome {
  const problem = poolerProblem(situation);
  return problem === undefined ? settled : wait('PoolerNotReady', problem);
}

/** Nobody takes writes and holds the lock. */
function withoutPrimary(situation: Situation): Outcome {
  const problems = memberProblems(situation);
  const words = problems.length === 0 ? 'the members elect a primary' : problems.join('; ');
  return hasHeldData(situation)
    ? wait('NoPrimary', `nobody is primary: ${words}`, recheckMs)
    : wait('Forming', words, recheckMs);
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
  upgrading: Upgrading = { record: keptRecord(situation), isRunning: () => true },
): PostgresPlan {
  const { cluster, children, sets, observed } = situation;
  const authorities = (index: number): string | undefined => {
    const written = sets.get(index)?.spec?.template?.metadata?.annotations?.[authoritiesAnnotation];
    return observed.authorities ?? written ?? firstAuthorities;
  };
  const state = stateToMake(situation);
  const desired = postgresChildren(cluster, roster, authorities, upgrading);
  const made = objectSteps(desired, children);
  const isSecret = (step: ObjectStep): boolean => step.type === 'create' && step.object.kind === 'Secret';
  const objects = [
    // Before anything else: as soon as there is another child, nobody makes it any more.
    ...made.filter(isSecret),
    // Patroni writes to them.
    ...objectSteps(state, children).filter((step) => step.type !== 'apply'),
    ...made.filter((step) => !isSecret(step)),
  ];
  const retired = retireSteps(situation, roster);
  const leaving = [...sets].flatMap(([index, set]) => {
    const ref = roster.has(index) ? undefined : refOf(set, statefulSets);
    return ref === undefined ? [] : [{ type: 'delete', ref, reason: 'its member has left' } as const];
  });
  const patches = steps.filter((step) => step.type === 'patch');
  const others = steps.filter((step) => step.type !== 'patch');
  return {
    steps: [
      ...patches,
      ...holdSteps(situation),
      ...retired,
      ...objects,
      ...surplusSteps(situation, desired),
      ...leaving,
      ...growth(situation),
      ...others,
    ],
    outcome,
  };
}
