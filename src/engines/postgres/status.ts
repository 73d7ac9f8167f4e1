/** What a PostgresCluster says about itself: pure, from the same situation as the plan. */
import type { DesiredCondition } from '../../api/condition.ts';
import type { MemberStatus, Phase } from '../../api/status.ts';
import { desiredConditions } from '../../engine/desired-conditions.ts';
import type { StatusReport } from '../../engine/engine.ts';
import { shrinkWarnings, warningClaims } from '../../engine/spec-warnings.ts';
import type { Plan } from '../../plan/plan.ts';
import { expansionConditions, storageStatus, volumesTooSmall, walVolumes } from '../../plan/volume-expansion.ts';
import { podIsReady } from '../../resources/children.ts';
import { selectorLabels } from '../../resources/metadata.ts';
import type { PostgresAction } from './action.ts';
import { hasSource } from './client/server-ca.ts';
import type { PostgresSpec } from './kind/schema.ts';
import { component, postgresNames, sqlPort } from './names.ts';
import { isPrimary, podOf, type Situation } from './observe/situation.ts';
import { memberProblems } from './plan/health.ts';
import { isOutdated, isUnsettled } from './plan/outdated.ts';
import { parametersRefused } from './plan/parameters.ts';
import { transactionsPrepared } from './plan/prepared.ts';
import { switchoverRefused } from './plan/requests.ts';
import { heldBack, nameWarnings } from './plan/shown-certificate.ts';
import { collationWarnings, invalidIndexWarnings, specWarnings } from './plan/warnings.ts';

export function postgresStatus(situation: Situation, plan: Plan<PostgresAction>): StatusReport {
  const { cluster, spec, primary, store } = situation;
  const pods = [...situation.pods.values()];
  const claims = [...situation.claims.values()];
  const names = postgresNames(cluster.metadata.name);
  const storage = storageStatus(claims);
  const logs = [...situation.walClaims.values()];
  const walStorage = storageStatus(logs);
  const version = primary?.version ?? cluster.status?.version;
  const initialized = cluster.status?.initialized === true || primary !== undefined;
  const judged = judge(situation, plan, initialized);
  const remembered = primary?.pod ?? store.leader ?? cluster.status?.primary;
  return {
    phase: judged.phase,
    conditions: [
      ...judged.conditions,
      ...expansion(situation),
      ...heldBack(situation),
      ...warningClaims([
        ...invalidIndexWarnings(situation),
        ...collationWarnings(situation),
        ...specWarnings(spec),
        ...nameWarnings(situation),
        ...shrinkWarnings(spec.storage.size, claims),
        ...(spec.walStorage === undefined ? [] : shrinkWarnings(spec.walStorage.size, logs, walVolumes)),
      ]),
    ],
    replicas: pods.length,
    readyReplicas: pods.filter(podIsReady).length,
    selector: Object.entries(selectorLabels(cluster, { engine: 'postgres', component }))
      .map((pair) => pair.join('='))
      .join(','),
    ...(remembered === undefined ? {} : { primary: remembered }),
    ...(version === undefined ? {} : { version }),
    members: members(situation),
    ...(storage === undefined ? {} : { storage }),
    ...(walStorage === undefined ? {} : { walStorage }),
    connection: {
      services: [
        { role: 'primary', host: names.primary, port: sqlPort },
        { role: 'replicas', host: names.replicas, port: sqlPort },
        ...(spec.pooler === undefined ? [] : [{ role: 'pooler', host: names.pooler, port: sqlPort }]),
      ],
      secretName: names.app,
      ...(hasSource(cluster) ? { caConfigMapName: names.serverCa } : {}),
    },
    ...(isBindable(situation) ? { binding: { name: names.app } } : {}),
    ...(initialized ? { initialized } : {}),
  };
}

/** While nobody has read the Secret, what was read before stands. */
function isBindable({ observed: { application }, cluster }: Situation): boolean {
  return application?.state === 'seen' ? application.isBindable === true : cluster.status?.binding !== undefined;
}

/** One condition: of the volumes of the log once the others have grown. */
function expansion({ spec, children, claims, walClaims }: Situation): DesiredCondition[] {
  const data = expansionConditions(spec.storage.size, { ...children, claims: [...claims.values()] });
  if (spec.walStorage === undefined || data.length > 0) return data;
  return expansionConditions(spec.walStorage.size, { ...children, claims: [...walClaims.values()] }, walVolumes);
}

interface Judgement {
  readonly phase: Phase;
  readonly conditions: readonly DesiredCondition[];
}

/** The members serve: what a person wants besides cannot be had. */
const harmless: readonly string[] = [volumesTooSmall, parametersRefused, switchoverRefused, transactionsPrepared];
/** Nobody has asked for these. */
const repairs: readonly string[] = ['Replacing', 'Reinitializing', 'Recovering'];
/** These a person has asked for, in the spec or by an annotation. */
const changes: readonly string[] = ['SwitchingOver', 'Restarting'];

function judge(situation: Situation, { outcome, defers }: Plan<PostgresAction>, initialized: boolean): Judgement {
  const { cluster, spec, primary, pods, upgrade } = situation;
  if (outcome.state === 'blocked') {
    const conditions = desiredConditions('False', outcome.reason, outcome.message, {
      degraded: initialized && !harmless.includes(outcome.reason),
      stalled: true,
    });
    return { phase: 'Blocked', conditions };
  }
  const isUpgraded = situation.upgrade !== undefined && situation.upgrade.stage !== 'cancelled';
  if (spec.instances === 0 && pods.size === 0 && !isUpgraded)
    return { phase: 'Ready', conditions: desiredConditions('True', 'Parked', 'no member runs, as is wanted', {}) };
  const isWell = primary !== undefined && memberProblems(situation).length === 0;
  // While a member is away, nothing begins.
  const isPutOff = defers === true || (outcome.state === 'wait' && outcome.reason === 'MembersNotReady');
  const isChanged = isChanging(situation, isPutOff);
  if (isWell && !isChanged && outcome.state === 'settled') {
    const message = 'one primary takes writes, and every standby streams from it';
    return { phase: 'Ready', conditions: desiredConditions('True', 'AllMembersReady', message, {}) };
  }
  const reason = outcome.state === 'wait' ? outcome.reason : 'Updating';
  const message = outcome.state === 'wait' ? outcome.message : 'changes are being applied';
  const { phase: before, observedGeneration } = cluster.status ?? {};
  if (before === undefined || before === 'Creating' || (!initialized && isImported(spec)))
    return { phase: 'Creating', conditions: desiredConditions('False', reason, message, { progressing: true }) };
  const isAsked =
    observedGeneration !== cluster.metadata.generation ||
    before === 'Updating' ||
    changes.includes(reason) ||
    // A member that was lost, and is replaced, nobody has asked for.
    (before !== 'Degraded' && isChanged);
  // No member runs while the data is upgraded.
  const isUpgrading = upgrade !== undefined && upgrade.stage !== 'cancelled';
  if (isAsked && (primary !== undefined || isUpgrading) && !repairs.includes(reason))
    return { phase: 'Updating', conditions: desiredConditions('False', reason, message, { progressing: true }) };
  return {
    phase: 'Degraded',
    conditions: desiredConditions('False', reason, message, { progressing: true, degraded: true }),
  };
}

/** Nobody serves before its data is there, however long that takes. */
function isImported({ bootstrap }: PostgresSpec): boolean {
  return bootstrap?.importFrom !== undefined;
}

/** The spec asks for something that is not there yet. `defers`: but for what can wait. */
function isChanging(situation: Situation, defers: boolean): boolean {
  const { spec, wanted, upgrade, sets, live, roster } = situation;
  return (
    sets.size !== roster.size ||
    roster.size !== spec.instances ||
    (!defers && wanted.version !== spec.version) ||
    (upgrade !== undefined && !(defers && upgrade.stage === 'cancelled')) ||
    isUnsettled(situation) ||
    expansion(situation).length > 0 ||
    [...roster.keys()].some(
      (index) => isOutdated(situation, index) || (!defers && live.get(index)?.restartPending === true),
    )
  );
}

function members(situation: Situation): MemberStatus[] {
  return [...situation.pods]
    .sort(([a], [b]) => a - b)
    .map(([index, pod]) => {
      const member = situation.live.get(index);
      const role = member?.role === undefined ? 'unknown' : isPrimary(situation, member) ? 'primary' : 'standby';
      return {
        name: podOf(situation, index),
        role,
        ready: podIsReady(pod),
        ...(member?.version === undefined ? {} : { version: member.version }),
        ...(pod.spec?.nodeName === undefined ? {} : { node: pod.spec.nodeName }),
        ...(pod.status?.podIP === undefined ? {} : { address: pod.status.podIP }),
      };
    });
}
