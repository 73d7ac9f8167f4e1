/**
 * A backup that something waits for: the end of a cluster, or another minor version. Its Job is the only one of its name.
 * It is made where it is missing, begun anew a minute after it has failed, and found again by whoever comes after a
 * crash; what was taken for something else before counts for nothing, nor does what was taken more than an hour ago, or
 * one of which nobody knows what it came to.
 * Until it has ended well it is made anew for another target or key as well, and afterwards it stays, whatever those are
 * by then.
 */
import { createHash } from 'node:crypto';
import type { BackupEncryption, BackupTarget } from '../api/backup-target.ts';
import type { Cluster, CommonSpec } from '../api/cluster.ts';
import type { KubeObject } from '../api/object.ts';
import { configMaps, jobs } from '../api/resource.ts';
import type { AgentResult } from '../backup/agent-result.ts';
import type { BackupFactory, BackupSupport } from '../engine/backup-support.ts';
import { fingerprinted } from '../plan/difference.ts';
import { taskSteps } from '../plan/objects.ts';
import type { ObjectStep } from '../plan/plan.ts';
import { refOf } from '../plan/ref.ts';
import type { Children, Job } from '../resources/children.ts';
import { job } from '../resources/job.ts';
import { backupJobObjects } from './agent-job.ts';
import { storeOf } from './agent-pod.ts';
import { confirmedBy } from './confirmed-backup.ts';
import { jobState, pendingSince } from './job-state.ts';

/** On task and Job: what they are waited for, where one name serves for one thing after the other. */
export const beforeAnnotation = 'clusterwright.dev/before';

/** On both: a fingerprint of the target and the key that they were made with. */
const storeAnnotation = 'clusterwright.dev/store';

/** Why a cluster waits that takes one before it changes, and for nothing else. */
export const versionBackupReason = 'VersionBackup';
/** The one before it has failed. */
export const versionBackupFailed = 'VersionBackupFailed';

const againMs = 60_000;

/** A pod that does not run after so long may never: there is no node for it, or no image. Until then it counts as one that runs. */
const startingMs = 300_000;

/** Of what was written since a backup, nothing is in it: whatever has kept its change back, another is taken then. */
export const goodForMs = 60 * 60 * 1000;

/** `image` holds the agent. */
export function backupFactory<Spec>(
  engine: { readonly name: string; readonly backup?: BackupSupport<Spec> },
  image: string,
): BackupFactory {
  return (cluster, { name, purpose: type, uid, before }) => {
    const place = (cluster.spec as CommonSpec).backup;
    const from = engine.backup?.source(cluster as Cluster<Spec>);
    if (place === undefined || from === undefined) return undefined;
    const { target, encryption } = place;
    const purpose = { type, name: cluster.metadata.name, ...(uid === undefined ? {} : { uid }) };
    const annotations = {
      [storeAnnotation]: fingerprintOf(target, encryption),
      ...(before === undefined ? {} : { [beforeAnnotation]: before }),
    };
    const made = backupJobObjects(
      { owner: cluster, engine: engine.name, name, annotations },
      {
        image,
        cluster,
        from,
        target,
        encryption,
        purpose,
        more: { jitterSeconds: 0, ...confirmedBy(cluster.metadata) },
      },
    );
    return [made.config, job(made.job)];
  };
}

/** Names of Secrets and of a claim are in it, too: not all of that stands in the task. */
function fingerprintOf(target: BackupTarget, encryption: BackupEncryption | undefined): string {
  return createHash('sha256')
    .update(JSON.stringify(storeOf(target, encryption)))
    .digest('hex')
    .slice(0, 16);
}

/** `message` says what the Job is at, or what the agent said. */
export type BackupProgress =
  | { readonly state: 'missing'; readonly steps: readonly ObjectStep[] }
  | {
      readonly state: 'running';
      readonly message: string;
      readonly steps: readonly ObjectStep[];
      readonly recheckMs?: number;
    }
  /** Its pod has not run for long, or it has long been on its way out. */
  | { readonly state: 'pending'; readonly message: string; readonly steps: readonly ObjectStep[] }
  /** `recheckMs`: until it is begun anew; absent where the steps see to that. */
  | {
      readonly state: 'failed';
      readonly message: string;
      readonly steps: readonly ObjectStep[];
      readonly recheckMs?: number;
    }
  /** `takenAt` in milliseconds. `suddenLoss`: why it is thought to hold too little. */
  | { readonly state: 'verified'; readonly id: string; readonly takenAt: number; readonly suddenLoss?: string };

/** `objects` from `BackupFactory`; `now` in milliseconds. */
export function requiredBackup(objects: readonly KubeObject[], children: Children, now: number): BackupProgress {
  const live = (object: KubeObject): KubeObject | undefined => children.get(object.kind, object.metadata.name);
  const found = objects.map(live).find((object): object is Job => object?.kind === 'Job');
  const isVerified = found?.status?.conditions?.some((c) => c.type === 'Complete' && c.status === 'True') === true;
  // The Job before its task. Whoever comes after a crash between the two knows by the task whether it is still wanted.
  const standing = objects.toReversed().flatMap((wanted) => {
    const object = live(wanted);
    return object === undefined ? [] : [{ object, wanted }];
  });
  const old = standing.filter(
    ({ object, wanted }) => !isSame(object, wanted) || !(isVerified || isStoredAlike(object, wanted)),
  );
  if (old.length > 0) {
    const steps = old.flatMap(({ object }) => removal(object, 'it was taken for something else'));
    const message = 'what was taken for something else goes first';
    const state = old.some(({ object }) => isStuckDeleting(object, now)) ? 'pending' : 'running';
    return { state, message, steps };
  }
  if (found === undefined) {
    const missing = objects.filter((object) => live(object) === undefined);
    return {
      state: 'missing',
      steps: missing.map((object): ObjectStep => ({ type: 'create', object: fingerprinted(object) })),
    };
  }
  if (isStuckDeleting(found, now)) {
    return { state: 'pending', message: `Job ${found.metadata.name} is being deleted and has yet to go`, steps: [] };
  }
  if (found.metadata.deletionTimestamp !== undefined) return { state: 'running', message: 'begun anew', steps: [] };
  const state = jobState(found, children.jobPods, now);
  switch (state.state) {
    case 'pending': {
      const left = pendingSince(found, children.jobPods) + startingMs - now;
      const progress = { message: state.message, steps: taskSteps(objects, children) };
      return left > 0 ? { ...progress, state: 'running', recheckMs: left } : { ...progress, state: 'pending' };
    }
    case 'running': {
      const { message, recheckMs } = state;
      return {
        state: 'running',
        message,
        steps: taskSteps(objects, children),
        ...(recheckMs === undefined ? {} : { recheckMs }),
      };
    }
    case 'complete': {
      const anew = (why: string, message: string): BackupProgress => {
        return { state: 'running', message, steps: standing.flatMap(({ object }) => removal(object, why)) };
      };
      // It may have held suddenly little. Finished pods are cleaned away, and what they said with them.
      if (state.result?.result !== 'taken') {
        return anew(
          'nobody has kept what it came to',
          'one has ended, and nobody has kept what it came to: another is taken',
        );
      }
      const { backup, suddenLoss } = state.result;
      const takenAt = takenWithin(found, state.at, state.result);
      if (now - takenAt > goodForMs) {
        return anew('it was taken more than an hour ago', 'the one that there is was taken more than an hour ago');
      }
      return { state: 'verified', id: backup.id, takenAt, ...(suddenLoss === undefined ? {} : { suddenLoss }) };
    }
    case 'failed': {
      const left = state.at + againMs - now;
      const steps =
        left > 0 ? [] : standing.flatMap(({ object }) => removal(object, 'it has failed and is begun anew'));
      return { state: 'failed', message: state.message, steps, ...(steps.length > 0 ? {} : { recheckMs: left }) };
    }
    default:
      return state satisfies never;
  }
}

/**
 * The backup tells it by the clock of a node, which may be wrong: not after its Job had ended, and not before that was made,
 * by the API server's clock. A second attempt may have found what another Job had stored.
 */
function takenWithin(
  { metadata: { creationTimestamp = '' } }: Job,
  endedAt: number,
  { backup, isRepeated }: Extract<AgentResult, { readonly result: 'taken' }>,
): number {
  const earliest = isRepeated ? 0 : Date.parse(creationTimestamp) || 0;
  return Math.min(Math.max(Date.parse(backup.completedAt) || endedAt, earliest), endedAt);
}

/** A finalizer may hold it for ever. */
function isStuckDeleting({ metadata }: KubeObject, now: number): boolean {
  return now - Date.parse(metadata.deletionTimestamp ?? '') > startingMs;
}

/** Made for the same thing, and not by a cluster of this name before. */
function isSame(found: KubeObject, wanted: KubeObject): boolean {
  const owner = ({ metadata }: KubeObject): string | undefined =>
    metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
  const before = ({ metadata }: KubeObject): string | undefined => metadata.annotations?.[beforeAnnotation];
  return owner(found) === owner(wanted) && before(found) === before(wanted);
}

function isStoredAlike(found: KubeObject, wanted: KubeObject): boolean {
  const store = ({ metadata }: KubeObject): string | undefined => metadata.annotations?.[storeAnnotation];
  return store(found) === store(wanted);
}

/** Of a Job or a task that nobody waits for. */
export function removal(found: KubeObject, reason: string): ObjectStep[] {
  const ref = refOf(found, found.kind === 'Job' ? jobs : configMaps);
  const isGoing = found.metadata.deletionTimestamp !== undefined;
  return ref === undefined || isGoing ? [] : [{ type: 'delete', ref, reason }];
}
