/** BackupSchedule: no database, but a CronJob that goes on without the operator. */
import { type ScheduleSpec, scheduleKind } from '../../api/backup-schedule.ts';
import type { Cluster } from '../../api/cluster.ts';
import { durationMs } from '../../api/duration.ts';
import type { TakeTask } from '../../backup/agent-task.ts';
import type { KindHandler } from '../../engine/engine.ts';
import type { EngineContext } from '../../engine/engine-context.ts';
import { type Desired, objectSteps } from '../../plan/objects.ts';
import { type Plan, settled } from '../../plan/plan.ts';
import { type Children, noChildren } from '../../resources/children.ts';
import { cronJob } from '../../resources/cronjob.ts';
import { absentCluster } from '../absent-cluster.ts';
import { backupJobObjects, configName } from '../agent-job.ts';
import { cronJobPermissions, jobPermissions } from '../agent-permissions.ts';
import { backupExample } from '../backup-example.ts';
import { backupMessage } from '../backup-message.ts';
import { confirmedBy } from '../confirmed-backup.ts';
import { withCheckedTarget, withStandingConsent } from '../target-claim.ts';
import { withoutRunsOfEarlier } from './earlier-cluster.ts';
import { scheduleStatus } from './status.ts';

const name = 'backupschedule';

export function cronJobName(schedule: string): string {
  return `schedule-${schedule}`;
}

/** `databases`: those that can be backed up. `image` holds the agent. */
export function scheduleEngine(databases: readonly KindHandler[], image: string): KindHandler {
  const sourceOf = (cluster: Cluster | undefined) =>
    cluster === undefined
      ? undefined
      : databases.find(({ kind }) => kind.resource.kind === cluster.kind)?.backup?.source(cluster);

  function resources(schedule: Cluster<ScheduleSpec>, cluster: Cluster | undefined): readonly Desired[] {
    const from = sourceOf(cluster);
    if (cluster === undefined || from === undefined) return [];
    const { spec, metadata } = schedule;
    const made = backupJobObjects(
      { owner: schedule, engine: name, name: cronJobName(metadata.name) },
      {
        image,
        cluster,
        from,
        target: spec.target,
        encryption: spec.encryption,
        purpose: { type: 'schedule', name: metadata.name },
        more: {
          retention: retentionOf(spec),
          jitterSeconds: Math.ceil(durationMs(spec.jitter) / 1000),
          ...confirmedBy(metadata),
        },
      },
    );
    return [
      { object: made.config },
      {
        object: cronJob({
          ...made.job,
          schedule: spec.schedule,
          timeZone: spec.timeZone,
          startingDeadlineSeconds: Math.ceil(durationMs(spec.startingDeadline) / 1000),
          suspend: spec.suspend,
        }),
      },
    ];
  }

  function planFor(
    schedule: Cluster<ScheduleSpec>,
    children: Children,
    cluster: Cluster | undefined,
    io?: EngineContext,
  ): Plan {
    if (sourceOf(cluster) === undefined) {
      return { steps: [], outcome: absentCluster(databases, schedule.spec.cluster, io) };
    }
    return { steps: objectSteps(resources(schedule, cluster), children), outcome: settled };
  }

  const typed = (schedule: Cluster): Cluster<ScheduleSpec> => schedule as Cluster<ScheduleSpec>;
  return {
    name,
    kind: scheduleKind,
    reference: { sample: backupExample(databases, '  schedule: "15 3 * * *"\n') },
    permissions: [...jobPermissions, ...cronJobPermissions],
    ports: [],
    targetRef: (schedule) => typed(schedule).spec.cluster,
    resources: (schedule, cluster) => resources(typed(schedule), cluster),
    async assess(object, children, io, cluster) {
      const schedule = typed(object);
      const name = cronJobName(schedule.metadata.name);
      const live = children.get('CronJob', name);
      const checked = await withCheckedTarget(planFor(schedule, children, cluster, io), io);
      const consented = await withStandingConsent(checked, live, io);
      const runs = { cronJob: live, task: children.get('ConfigMap', configName({ name })) };
      const plan = withoutRunsOfEarlier(consented, runs, cluster);
      const situation = {
        schedule,
        children,
        cronJob: live,
        topology: sourceOf(cluster)?.topology,
        keep: sourceOf(cluster)?.keep,
        now: io.now(),
      };
      return { plan, status: scheduleStatus(situation, plan.outcome), act: noAction };
    },
    planOffline: (schedule, cluster) => planFor(typed(schedule), noChildren, cluster),
    forecast: (schedule) => {
      const { spec, metadata } = typed(schedule);
      const times = spec.suspend ? 'once spec.suspend is false, ' : '';
      const taken = backupMessage(spec.cluster, spec.target);
      return [`CronJob/${cronJobName(metadata.name)} takes ${taken}, ${times}at ${spec.schedule} (${spec.timeZone})`];
    },
  };
}

const noAction = (): Promise<void> => Promise.reject(new Error('a BackupSchedule has no actions'));

function retentionOf({ retention }: ScheduleSpec): NonNullable<TakeTask['retention']> {
  const [, amount = '0', unit] = /^(\d+)([hd])$/.exec(retention.age ?? '') ?? [];
  const seconds = Number(amount) * (unit === 'd' ? 86_400 : 3600);
  return { count: retention.count, ...(seconds === 0 ? {} : { ageSeconds: seconds }) };
}
