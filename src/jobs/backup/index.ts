/** Backup: no database, but a Job that speaks to one. */
import { type BackupSpec, backupKind } from '../../api/backup.ts';
import type { Cluster } from '../../api/cluster.ts';
import type { KindHandler } from '../../engine/engine.ts';
import type { EngineContext } from '../../engine/engine-context.ts';
import type { Desired } from '../../plan/objects.ts';
import { noChildren } from '../../resources/children.ts';
import { job } from '../../resources/job.ts';
import { absentCluster } from '../absent-cluster.ts';
import { backupJobObjects } from '../agent-job.ts';
import { jobPermissions } from '../agent-permissions.ts';
import { backupExample } from '../backup-example.ts';
import { backupMessage } from '../backup-message.ts';
import { withCheckedTarget } from '../target-claim.ts';
import { assessBackup, attemptAnnotation, heldUp, jobName, nextAttempt } from './plan.ts';

const name = 'backup';

/** `databases`: those that can be backed up. `image` holds the agent. */
export function backupEngine(databases: readonly KindHandler[], image: string): KindHandler {
  const partFor = (cluster: Cluster | undefined) => databases.find(({ kind }) => kind.resource.kind === cluster?.kind);

  function resources(backup: Cluster<BackupSpec>, cluster: Cluster | undefined): readonly Desired[] | undefined {
    const from = cluster === undefined ? undefined : partFor(cluster)?.backup?.source(cluster);
    if (cluster === undefined || from === undefined) return undefined;
    const { target, encryption } = backup.spec;
    const made = backupJobObjects(
      {
        owner: backup,
        engine: name,
        name: jobName(backup.metadata.name),
        annotations: { [attemptAnnotation]: String(nextAttempt(backup)) },
      },
      {
        image,
        cluster,
        from,
        target,
        encryption,
        purpose: {
          type: 'backup',
          name: backup.metadata.name,
          ...(backup.metadata.uid === undefined ? {} : { uid: backup.metadata.uid }),
        },
      },
    );
    return [{ object: made.config }, { object: job(made.job) }];
  }

  const typed = (backup: Cluster): Cluster<BackupSpec> => backup as Cluster<BackupSpec>;
  const situation = (
    backup: Cluster,
    children: typeof noChildren,
    cluster: Cluster | undefined,
    io?: EngineContext,
  ) => {
    const from = cluster === undefined ? undefined : partFor(cluster)?.backup?.source(cluster);
    return {
      backup: typed(backup),
      children,
      wanted: resources(typed(backup), cluster),
      absent: absentCluster(databases, typed(backup).spec.cluster, io),
      now: io?.now() ?? 0,
      topology: from?.topology,
      keep: from?.keep,
    };
  };

  return {
    name,
    kind: backupKind,
    reference: { sample: backupExample(databases) },
    permissions: jobPermissions,
    ports: [],
    targetRef: (backup) => typed(backup).spec.cluster,
    resources: (backup, cluster) => resources(typed(backup), cluster) ?? [],
    async assess(backup, children, io, cluster) {
      const { plan, status } = assessBackup(situation(backup, children, cluster, io));
      const checked = await withCheckedTarget(plan, io);
      return { plan: checked, status: checked === plan ? status : heldUp(status, checked.outcome), act: noAction };
    },
    planOffline: ({ status: _, ...backup }, cluster) => assessBackup(situation(backup, noChildren, cluster)).plan,
    forecast: (backup) => {
      const { spec, metadata } = typed(backup);
      return [
        `Job/${jobName(metadata.name)} takes ${backupMessage(spec.cluster, spec.target)}, once, and reads it back`,
      ];
    },
  };
}

const noAction = (): Promise<void> => Promise.reject(new Error('a Backup has no actions'));
