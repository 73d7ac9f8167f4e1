/** One volume that a restore fills: its claim, and the Job that writes to it. */
import type { Cluster } from '../api/cluster.ts';
import type { KubeObject } from '../api/object.ts';
import { jobs, persistentVolumeClaims } from '../api/resource.ts';
import { type RestoreTemplate, restoredAnnotation, restoredPointAnnotation } from '../engine/backup-support.ts';
import { jobSteps, taskSteps } from '../plan/objects.ts';
import { blocked, type FieldChange, type ObjectStep, type Plan, wait } from '../plan/plan.ts';
import { refOf } from '../plan/ref.ts';
import type { Children, Claim, Job } from '../resources/children.ts';
import { ownerReferences } from '../resources/metadata.ts';
import { type JobState, jobState } from './job-state.ts';
import { restoreJobName } from './restore-job.ts';

/** A failure that may pass is tried again after so long. */
const againMs = 60_000;

export interface VolumeSituation {
  readonly cluster: Cluster;
  readonly children: Children;
  /** What the engine wants on the claim once it is filled. */
  readonly annotations: Readonly<Record<string, string>>;
  /** See `RestoreTemplate`. */
  readonly annotationsOf?: RestoreTemplate['annotationsOf'] | undefined;
  /** See `RestoreTemplate`. */
  readonly point?: string | undefined;
  /** It is the only one. */
  readonly isOnly: boolean;
  /** Milliseconds. */
  readonly now: number;
}

export interface VolumeToFill {
  readonly volume: number;
  readonly objects: readonly KubeObject[];
  readonly claim: Claim | undefined;
}

export function planFilling(situation: VolumeSituation, { volume, objects, claim }: VolumeToFill): Plan {
  const { cluster, children, now } = situation;
  const found = children.get('Job', restoreJobName(cluster.metadata.name, volume)) as Job | undefined;
  if (found !== undefined && !isOwned(found, cluster)) {
    return waiting('EarlierCluster', 'an earlier cluster of this name is still being removed');
  }
  if (found?.metadata.deletionTimestamp !== undefined) return waiting('Restoring', 'its Job is begun anew');
  if (found !== undefined && (claim === undefined || claim.metadata.deletionTimestamp !== undefined)) {
    // What it has done was done to a volume that is gone.
    const steps = removal(found, jobs, 'its volume was deleted');
    return { steps, outcome: wait('Restoring', 'its volume was deleted: it is begun anew') };
  }
  // While a pod of an earlier attempt has it mounted it stays, and would be taken for the one that is to be filled.
  if (claim?.metadata.deletionTimestamp !== undefined) {
    return waiting('Restoring', 'its volume was deleted: it is made anew once nobody mounts it');
  }
  if (found === undefined || claim === undefined) {
    return { steps: jobSteps(objects, children), outcome: wait('Restoring', `${ordinal(volume)} is made and filled`) };
  }
  const state = jobState(found, children.jobPods, now);
  switch (state.state) {
    case 'pending':
      return { steps: taskSteps(objects, children), outcome: wait('Restoring', state.message) };
    case 'running':
      return { steps: taskSteps(objects, children), outcome: wait('Restoring', state.message, state.recheckMs) };
    case 'complete':
      return filledPlan(situation, volume, claim, found, state);
    case 'failed': {
      if (!state.isTransient) return { steps: [], outcome: blocked('RestoreFailed', state.message) };
      const left = state.at + againMs - now;
      const message = `${state.message}; it is tried again`;
      return {
        steps: left > 0 ? [] : removal(found, jobs, 'it has failed and is begun anew'),
        outcome: wait('RestoreFailed', message, left > 0 ? left : undefined),
      };
    }
    default:
      return state satisfies never;
  }
}

const ordinal = (volume: number): string => (volume === 0 ? 'the first volume' : `volume ${volume}`);

/** A volume that is the only one belongs to nobody from here on, and the engine may use it. Others are held until all are filled. */
function filledPlan(
  { annotations, annotationsOf, point, isOnly }: VolumeSituation,
  volume: number,
  claim: Claim,
  job: Job,
  { result }: Extract<JobState, { state: 'complete' }>,
): Plan {
  const outcome = wait('Restoring', `${ordinal(volume)} is filled`);
  const ref = refOf(claim, persistentVolumeClaims);
  if (ref === undefined) return { steps: [], outcome };
  const fetched = result?.result === 'fetched' ? result : undefined;
  // The next attempt finds the volume filled, and says it again.
  const isUntold = annotationsOf !== undefined && fetched === undefined;
  if (isUntold) return { steps: removal(job, jobs, 'nobody has kept what it said of the volume'), outcome };
  const told = annotationsOf?.(fetched?.told ?? '');
  if (annotationsOf !== undefined && told === undefined) {
    const message = `${job.metadata.name} has not said what is on the volume: is its image the operator's?`;
    return { steps: [], outcome: blocked('RestoreFailed', message) };
  }
  const from = fetched?.backup.folder ?? 'unknown';
  const until = point === undefined ? {} : { [restoredPointAnnotation]: point };
  const added = { [restoredAnnotation]: from, ...until, ...annotations, ...told };
  return {
    steps: [
      {
        type: 'patch',
        ref,
        patch: { metadata: { ...(isOnly ? { ownerReferences: [] } : {}), annotations: added } },
        changes: [
          ...(isOnly ? [ownerChange(claim)] : []),
          ...Object.entries(added).map(([name, to]) => ({ path: `metadata.annotations[${name}]`, to })),
        ],
      },
    ],
    outcome,
  };
}

function ownerChange({ metadata }: Claim): FieldChange {
  return { path: 'metadata.ownerReferences', from: metadata.ownerReferences, to: [] };
}

export function released(claim: Claim): ObjectStep[] {
  const ref = refOf(claim, persistentVolumeClaims);
  if (ref === undefined) return [];
  return [{ type: 'patch', ref, patch: { metadata: { ownerReferences: [] } }, changes: [ownerChange(claim)] }];
}

export function removal(object: KubeObject, resource: Parameters<typeof refOf>[1], reason: string): ObjectStep[] {
  const ref = refOf(object, resource);
  return ref === undefined || object.metadata.deletionTimestamp !== undefined ? [] : [{ type: 'delete', ref, reason }];
}

export function ownerOf({ metadata }: KubeObject): string | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
}

export function isOwned(object: KubeObject, cluster: Cluster): boolean {
  const [own] = ownerReferences(cluster);
  return own !== undefined && ownerOf(object) === own.uid;
}

export function waiting(reason: string, message: string): Plan {
  return { steps: [], outcome: wait(reason, message) };
}
