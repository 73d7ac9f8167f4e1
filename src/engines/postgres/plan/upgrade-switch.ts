/**
 * Stages `switching` and `starting`: the new data has a system identifier of its own. No member runs while Patroni's ConfigMaps and
 * the volumes are told, so nobody can meet the old one beside it. Then the leader starts alone.
 */

import type { KubeObject, Resource } from '../../../api/object.ts';
import { configMaps, persistentVolumeClaims } from '../../../api/resource.ts';
import type { ObjectStep } from '../../../plan/plan.ts';
import { wait } from '../../../plan/plan.ts';
import { refOf } from '../../../plan/ref.ts';
import { holdsAnnotation, postgresNames, retiredAnnotation, versionAnnotation, wayBackAnnotation } from '../names.ts';
import { indexOf, podOf, type Situation } from '../observe/situation.ts';
import type { UpgradeRecord } from '../resources/upgrade-record.ts';
import { problemOf } from './health.ts';
import { configWithPause, pausedByPerson } from './pause.ts';
import { correctedSettings } from './refused-start.ts';
import { planStuck } from './restart.ts';
import { unansweredSettings } from './unanswered-settings.ts';
import { type UpgradePlan, upgradeRecheckMs } from './upgrade-plan.ts';

type Notes = Readonly<Record<string, string | null>>;

export function planSwitching(situation: Situation, record: UpgradeRecord): UpgradePlan {
  const { leader, to, image } = record;
  const { cluster, spec } = situation;
  const steps = [...claimSteps(situation, record), ...walSteps(situation, record), ...stateSteps(situation, record)];
  if (steps.length > 0) {
    const outcome = wait('Upgrading', 'Patroni and the volumes are told the new system identifier', upgradeRecheckMs);
    return { steps, record, isRunning: () => false, outcome };
  }
  return {
    steps: [],
    record: { ...record, stage: 'starting' },
    roster: new Map([[leader, 'join']]),
    cluster: { ...cluster, spec: { ...spec, version: to, image } },
    outcome: wait('Upgrading', `${podOf(situation, leader)} starts on PostgreSQL ${to}`, upgradeRecheckMs),
  };
}

/** Those of the standbys are kept, and no process is ever started on them again. */
function claimSteps(
  { claims }: Situation,
  { leader, from, to, newSystem = '', kept = [] }: UpgradeRecord,
): ObjectStep[] {
  return [...claims].flatMap(([index, claim]) => {
    const wayBack: Notes = kept.includes(index) ? { [wayBackAnnotation]: from } : {};
    const notes: Notes =
      index === leader
        ? { [holdsAnnotation]: newSystem, [versionAnnotation]: to }
        : { ...wayBack, [retiredAnnotation]: 'true' };
    return annotate(claim, persistentVolumeClaims, notes);
  });
}

/** They go with the data of their standbys. */
function walSteps({ walClaims }: Situation, { leader }: UpgradeRecord): ObjectStep[] {
  return [...walClaims].flatMap(([index, claim]) =>
    index === leader ? [] : annotate(claim, persistentVolumeClaims, { [retiredAnnotation]: 'true' }),
  );
}

/** Timelines, the lock and the synchronous standbys are those of the old data. Until it writes anew who may be elected, only the leader may. */
function stateSteps(situation: Situation, { leader, newSystem = '' }: UpgradeRecord): ObjectStep[] {
  const { cluster, children } = situation;
  const names = postgresNames(cluster.metadata.name).state;
  const config = configWithPause(situation, false);
  const wanted: readonly (readonly [string, Notes])[] = [
    [names.leader, {}],
    [names.failover, {}],
    [names.sync, { leader: podOf(situation, leader), sync_standby: '', quorum: '0' }],
    [names.config, { initialize: newSystem, ...(config === undefined ? {} : { config }) }],
  ];
  return wanted.flatMap(([name, notes]) => {
    const live = children.get('ConfigMap', name);
    if (live === undefined) return [];
    const gone = Object.keys(live.metadata.annotations ?? {}).filter(
      (key) => !key.startsWith('clusterwright.dev/') && !(key in notes),
    );
    return annotate(live, configMaps, { ...Object.fromEntries(gone.map((key) => [key, null])), ...notes });
  });
}

function annotate(object: KubeObject, resource: Resource, notes: Notes): ObjectStep[] {
  const ref = refOf(object, resource);
  const live = object.metadata.annotations ?? {};
  const changed = Object.entries(notes).filter(([key, value]) => (live[key] ?? null) !== value);
  if (ref === undefined || changed.length === 0) return [];
  return [
    {
      type: 'patch',
      ref,
      patch: { metadata: { annotations: Object.fromEntries(changed) } },
      changes: changed.map(([key, value]) => ({
        path: `metadata.annotations[${key}]`,
        ...(live[key] === undefined ? {} : { from: live[key] }),
        ...(value === null ? {} : { to: value }),
      })),
    },
  ];
}

/** Nobody else may be a member before the leader takes writes: a copy of a server that is promoted meanwhile is of no use. */
export function planStarting(situation: Situation, record: UpgradeRecord): UpgradePlan {
  const { primary } = situation;
  const { leader, to } = record;
  if (primary !== undefined && indexOf(situation, primary) === leader) {
    const outcome = wait('Upgrading', `PostgreSQL ${to} takes writes`, upgradeRecheckMs);
    return { steps: [], record: { ...record, stage: 'finishing' }, outcome };
  }
  const problem = problemOf(situation, leader) ?? `${podOf(situation, leader)} is not primary yet`;
  const words = [problem, pausedByPerson(situation) ?? []].flat().join('; ');
  const outcome = wait('Upgrading', `PostgreSQL ${to} starts: ${words}`, upgradeRecheckMs);
  // The spec may be corrected as in any other start, and there is no way back from here by which the old version would serve meanwhile.
  const steps = [
    ...(planStuck(situation)?.steps ?? []),
    ...correctedSettings(situation),
    ...unansweredSettings(situation),
  ];
  return { steps, record, outcome };
}
