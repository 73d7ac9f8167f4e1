/**
 * The end of a cluster, and before it, under `deletionPolicy: Snapshot`, a last backup: nothing is deleted until one has
 * been read back and found whole. That it has is written on the custom resource itself, since the Job goes with it.
 *
 * Where it cannot be taken it waits, says so and tries again. Whoever does not want to wait sets another policy, which
 * counts from then on.
 */
import type { BackupPlace, Cluster, CommonSpec } from '../api/cluster.ts';
import type { KubeObject } from '../api/object.ts';
import { jobs } from '../api/resource.ts';
import { deletionFinalizer, planDeletion } from '../plan/deletion.ts';
import { fingerprinted } from '../plan/difference.ts';
import { type ObjectStep, type Plan, wait } from '../plan/plan.ts';
import { refOf } from '../plan/ref.ts';
import type { Children, Job } from '../resources/children.ts';
import { job } from '../resources/job.ts';
import { taking } from './agent-job.ts';
import type { RegisteredEngine } from './engine.ts';
import { jobState } from './job-state.ts';

/** On the custom resource: `UID/ID` of the backup that was taken of it because it was deleted. */
export const lastBackupAnnotation = 'clusterwright.dev/last-backup';

const againMs = 60_000;
const advice = 'nothing is deleted before; deletionPolicy Retain or Delete does without';

export function lastJobName(cluster: string): string {
  return `${cluster}-last-backup`;
}

/** `engine`, with a last backup at its end. `image` holds the agent. */
export function withLastBackup(engine: RegisteredEngine, image: string): RegisteredEngine {
  return {
    ...engine,
    lastBackup(cluster, children, now) {
      const { deletionPolicy, backup } = cluster.spec as CommonSpec;
      const from = engine.backup?.source(cluster);
      if (deletionPolicy !== 'Snapshot' || backup === undefined || from === undefined) return undefined;
      if (isTaken(cluster) || !hasData(cluster, children)) return undefined;
      return planLastBackup({ engine, cluster, children, now, objects: objectsFor(cluster, backup) });
    },
  };

  function objectsFor(cluster: Cluster, { target, encryption }: BackupPlace): readonly KubeObject[] {
    const from = engine.backup?.source(cluster);
    if (from === undefined) return [];
    const { name, uid } = cluster.metadata;
    const made = taking(
      { owner: cluster, engine: engine.name, name: lastJobName(name) },
      {
        image,
        cluster,
        from,
        target,
        encryption,
        purpose: { type: 'deletion', name, ...(uid === undefined ? {} : { uid }) },
      },
    );
    return [made.config, job(made.job)];
  }
}

/** What a pass over a cluster that is being deleted does. `secrets` as for `planDeletion`; `now` in milliseconds. */
export function planEnd(
  engine: RegisteredEngine,
  cluster: Cluster<CommonSpec>,
  children: Children,
  secrets: readonly KubeObject[],
  now: number,
): { readonly plan: Plan; readonly isWaitingForBackup: boolean } {
  const isHeld = (cluster.metadata.finalizers ?? []).includes(deletionFinalizer);
  const before = isHeld ? engine.lastBackup?.(cluster, children, now) : undefined;
  return {
    plan: before ?? planDeletion(cluster, engine.kind.resource, children, secrets),
    isWaitingForBackup: before !== undefined,
  };
}

function isTaken({ metadata }: Cluster): boolean {
  return metadata.annotations?.[lastBackupAnnotation]?.startsWith(`${metadata.uid}/`) === true;
}

/** One that was never formed, and has no volume of an earlier one, holds nothing; nor does one that is being restored. */
function hasData(cluster: Cluster, children: Children): boolean {
  const isNobodys = ({ metadata }: KubeObject): boolean => !metadata.ownerReferences?.some((owner) => owner.controller);
  return cluster.status?.initialized === true || children.claims.some(isNobodys);
}

interface Situation {
  readonly engine: RegisteredEngine;
  readonly cluster: Cluster;
  readonly children: Children;
  readonly objects: readonly KubeObject[];
  readonly now: number;
}

function planLastBackup({ engine, cluster, children, objects, now }: Situation): Plan {
  const found = children.get('Job', lastJobName(cluster.metadata.name)) as Job | undefined;
  if (found === undefined) {
    const steps = objects
      .filter(({ kind, metadata }) => children.get(kind, metadata.name) === undefined)
      .map((object): ObjectStep => ({ type: 'create', object: fingerprinted(object) }));
    return { steps, outcome: wait('LastBackup', 'a last backup is taken before anything is deleted') };
  }
  if (found.metadata.deletionTimestamp !== undefined) return waiting('the last backup is begun anew');
  const state = jobState(found, children.jobPods, now);
  switch (state.state) {
    case 'pending':
    case 'running': {
      const again = state.state === 'running' ? state.recheckMs : undefined;
      return waiting(`a last backup is taken before anything is deleted: ${state.message}`, again);
    }
    case 'complete': {
      const id = state.result?.result === 'taken' ? state.result.backup.id : 'unknown';
      const to = `${cluster.metadata.uid}/${id}`;
      const ref = refOf(cluster, engine.kind.resource);
      const step: ObjectStep[] =
        ref === undefined
          ? []
          : [
              {
                type: 'patch',
                ref,
                patch: { metadata: { annotations: { [lastBackupAnnotation]: to } } },
                changes: [{ path: `metadata.annotations[${lastBackupAnnotation}]`, to }],
              },
            ];
      return { steps: step, outcome: wait('LastBackup', `the last backup ${id} is verified`) };
    }
    case 'failed': {
      const left = state.at + againMs - now;
      const ref = refOf(found, jobs);
      const isOver = left <= 0 && ref !== undefined;
      return {
        steps: isOver ? [{ type: 'delete', ref, reason: 'the last backup has failed and is begun anew' }] : [],
        outcome: wait(
          'LastBackupFailed',
          `the last backup failed: ${state.message}; it is tried again, ${advice}`,
          isOver ? undefined : left,
        ),
      };
    }
    default:
      return state satisfies never;
  }
}

function waiting(message: string, recheckMs?: number): Plan {
  return { steps: [], outcome: wait('LastBackup', message, recheckMs) };
}
