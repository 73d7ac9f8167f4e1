/**
 * The volumes of all members are compared while nobody runs. At least one standby must be proven to have everything that the primary has,
 * and none may have more: a member that was promoted meanwhile has commits that the primary does not have.
 */
import { removal } from '../../../jobs/required-backup.ts';
import type { ObjectStep } from '../../../plan/plan.ts';
import type { Job } from '../../../resources/children.ts';
import { podOf, type Situation } from '../observe/situation.ts';
import type { UpgradeRecord } from '../resources/upgrade-record.ts';
import { cancelling } from './upgrade-cancel.ts';
import { taskProgress } from './upgrade-jobs.ts';
import type { UpgradePlan } from './upgrade-plan.ts';

export type Waiting = (message: string, more: Partial<UpgradePlan>) => UpgradePlan;

type Values = Readonly<Record<string, string>>;

/**
 * Such a Job reads one file, and nobody is served meanwhile. A pod that finds no node or no volume, since the members have stopped, may wait for
 * as long as that lasts: the old version is started again then.
 */
const patienceMs = 300_000;

/** Of an upgrade that was given up: a pod that comes late would hold the volume of a member that has started again. */
export function lateComparisons(situation: Situation, record: UpgradeRecord): readonly ObjectStep[] {
  const { roster, children } = situation;
  return [...roster.keys()].flatMap((index) => {
    const { name, result } = taskProgress(situation, record, { mode: 'checkpoint', index });
    const job = result.state === 'running' ? children.get('Job', name) : undefined;
    return job === undefined ? [] : removal(job, 'the upgrade was given up');
  });
}

/** All volumes at once. */
export function compareVolumes(situation: Situation, record: UpgradeRecord, waiting: Waiting): UpgradePlan {
  const { roster } = situation;
  const { leader, oldSystem } = record;
  const found = [...roster.keys()].map((index) => ({
    index,
    ...taskProgress(situation, record, { mode: 'checkpoint', index }),
  }));
  const isRunning = (): boolean => false;
  const failed = found.find(({ result }) => result.state === 'failed');
  if (failed?.result.state === 'failed')
    return cancelling(situation, record, `Job ${failed.name} failed: ${failed.result.message}`);
  const values = new Map(
    found.flatMap(({ index, result }) => (result.state === 'done' ? [[index, result.values]] : [])),
  );
  if (values.size < found.length) {
    const awaited = found.flatMap(({ result }) => (result.state === 'running' ? [result.message] : [])).join('; ');
    const late = lateJobs(
      situation,
      found.flatMap(({ name, result }) => (result.state === 'running' ? [name] : [])),
    );
    if (late.length > 0) {
      const why = `the volumes could not be compared within ${patienceMs / 60_000} minutes: ${awaited}`;
      return cancelling(situation, record, why);
    }
    const steps = found.flatMap((one) => one.steps);
    const words = awaited === '' ? '' : `: ${awaited}`;
    return waiting(`the volumes of the members are compared${words}`, { steps, isRunning });
  }
  const own = values.get(leader);
  const name = podOf(situation, leader);
  if (own === undefined || own.state !== 'shut down' || own.system !== oldSystem || !isLocation(own.checkpoint)) {
    const state = `state ${own?.state ?? 'unknown'}, database ${own?.system ?? 'unknown'}`;
    return cancelling(situation, record, `${name} was not shut down in order (${state})`);
  }
  const others = [...values].filter(([index]) => index !== leader);
  const [ahead] = others.filter(([, one]) => hasMore(one, own)).map(([index]) => podOf(situation, index));
  if (ahead !== undefined) return cancelling(situation, record, `${ahead} may have later commits than ${name}`);
  const kept = others.filter(([, one]) => isEqual(one, own)).map(([index]) => index);
  if (roster.size > 1 && kept.length === 0)
    return cancelling(situation, record, `no standby has the last checkpoint of ${name} (${own.checkpoint})`);
  return waiting(`pg_upgrade runs on the volume of ${name}`, {
    record: { ...record, stage: 'upgrading', kept },
    isRunning,
  });
}

/** One of an earlier upgrade may be old, and goes first. */
function lateJobs({ children, observed }: Situation, names: readonly string[]): readonly Job[] {
  return children.jobs.filter(
    ({ metadata: { name, creationTimestamp = '', deletionTimestamp = creationTimestamp } }) =>
      names.includes(name) && observed.at - Date.parse(deletionTimestamp) > patienceMs,
  );
}

function isEqual(one: Values, own: Values): boolean {
  const isDownInOrder = one.state === 'shut down in recovery' || one.state === 'shut down';
  return isDownInOrder && (['system', 'checkpoint', 'timeline'] as const).every((key) => one[key] === own[key]);
}

/** It was promoted. Right after that, its last checkpoint is still one of the timeline before. */
function hasMore(one: Values, own: Values): boolean {
  return one.state === 'in production' || Number(one.timeline) > Number(own.timeline);
}

function isLocation(text: string | undefined): boolean {
  return /^[0-9A-F]{1,8}\/[0-9A-F]{1,8}$/.test(text ?? '');
}
