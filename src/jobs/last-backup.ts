/**
 * The end of a cluster, and before it, under `deletionPolicy: Snapshot`, a last backup: nothing is deleted until one has
 * been read back and found whole. That it has is written on the custom resource itself, since the Job goes with it.
 *
 * Where it cannot be taken it waits, says so and tries again. Whoever does not want to wait sets another policy, which
 * counts from then on.
 */
import type { Cluster, CommonSpec } from '../api/cluster.ts';
import type { KubeObject, ObjectMeta } from '../api/object.ts';
import type { KindHandler } from '../engine/engine.ts';
import { isOfPod } from '../plan/claimed.ts';
import { deletionFinalizer, planDeletion, stateThatGoes } from '../plan/deletion.ts';
import { ownerOf } from '../plan/objects.ts';
import { type Outcome, type Plan, wait } from '../plan/plan.ts';
import { refOf } from '../plan/ref.ts';
import { type Children, podIsReady } from '../resources/children.ts';
import { componentLabel, memberLabel } from '../resources/metadata.ts';
import { confirmedAnnotation, isConfirmed } from './confirmed-backup.ts';
import { type BackupProgress, backupFactory, goodForMs, removal, requiredBackup } from './required-backup.ts';
import { restoreJobNames } from './restore-job.ts';

/** On the custom resource: `UID/ID/TIME` of the backup that was taken of it because it was deleted. */
export const lastBackupAnnotation = 'clusterwright.dev/last-backup';

/** A pod that restarts, or a node that does, is ready again by then. */
const patienceMs = 60_000;

/** None can be taken: a person says what the data is worth. */
const heldUpReason = 'LastBackupHeldUp';

/** One was taken: what is missing is a person's word. */
const suddenLossReason = 'LastBackupSuddenLoss';

const advice = 'nothing is deleted before; deletionPolicy Retain or Delete does without';

export function lastJobName(cluster: string): string {
  return `${cluster}-last-backup`;
}

/** `engine`, with a last backup at its end. `image` holds the agent. */
export function withLastBackup(engine: KindHandler, image: string): KindHandler {
  const take = backupFactory(engine, image);
  return {
    ...engine,
    lastBackup(cluster, children, now) {
      if ((cluster.spec as CommonSpec).deletionPolicy !== 'Snapshot') return undefined;
      if (isTaken(engine, cluster, children, now) || !hasData(cluster, children)) return undefined;
      const { name, uid } = cluster.metadata;
      const identity = uid === undefined ? {} : { uid };
      const objects = take(cluster, { name: lastJobName(name), purpose: 'deletion', ...identity });
      if (objects === undefined) return mayGoWithout(engine, children) ? undefined : withoutBackup;
      const plan = planLastBackup(engine, cluster, requiredBackup(objects, children, now));
      return { ...plan, outcome: unlessHeldUp(plan.outcome, cluster as Cluster<CommonSpec>, children, now) };
    },
  };
}

/** An engine without backups keeps no data but on volumes. */
function mayGoWithout({ backup }: Pick<KindHandler, 'backup'>, { claims }: Children): boolean {
  return backup === undefined && claims.length === 0;
}

const withoutBackup: Plan = {
  steps: [],
  outcome: wait(
    heldUpReason,
    'no backup of this cluster can be taken: its kind has none, or it names no target; nothing is deleted, started or repaired; set deletionPolicy to Retain, which keeps the volumes for a cluster of the same name, or to Delete, which gives up the data',
  ),
};

/** What a pass over a cluster that is being deleted does. `secrets`: those of `secretsThatGo` that are there; `now` in milliseconds. */
export function planFinalization(
  engine: KindHandler,
  cluster: Cluster<CommonSpec>,
  children: Children,
  secrets: readonly KubeObject[],
  now: number,
): { readonly plan: Plan; readonly isWaitingForBackup: boolean } {
  const ending = asItEnds(engine, cluster, children);
  const isHeld = (cluster.metadata.finalizers ?? []).includes(deletionFinalizer);
  // What it holds is its own, wherever it keeps that; unless it goes on without the custom resource.
  const holdsOwn = cluster.status?.initialized === true && !isOrphaning(engine, cluster, children);
  const before = isHeld ? engine.lastBackup?.(holdsOwn ? cluster : ending, children, now) : undefined;
  const data = [...secrets, ...stateThatGoes(engine.resources(cluster), children)];
  return {
    plan: before ?? withoutRestore(cluster, children, planDeletion(ending, engine.kind.resource, children, data)),
    isWaitingForBackup: before !== undefined,
  };
}

/** A claim stays as long as a pod has it mounted, though that has ended, and the Job with its pod goes with the custom resource. */
function withoutRestore({ metadata }: Cluster, children: Children, plan: Plan): Plan {
  if (plan.outcome.state !== 'wait') return plan;
  const found = restoreJobNames(metadata.name).flatMap((name) => children.get('Job', name) ?? []);
  const inTheWay = found.filter((job) => ownerOf(job) === metadata.uid);
  return { ...plan, steps: [...inTheWay.flatMap((job) => removal(job, 'the cluster is deleted')), ...plan.steps] };
}

/**
 * With the policy that counts: volumes that were never its own stay, and those that somebody wants to keep in use, and so
 * do the passwords that go with them.
 */
export function asItEnds(
  engine: Pick<KindHandler, 'ownsNoVolume' | 'resources'>,
  cluster: Cluster<CommonSpec>,
  children: Children,
): Cluster<CommonSpec> {
  const staysWhole =
    engine.ownsNoVolume?.(cluster, children) === true ||
    hasUnusedVolumes(cluster, children) ||
    isOrphaning(engine, cluster, children) ||
    (children.claims.length > 0 && hasNoVolumes(engine, cluster));
  return staysWhole ? { ...cluster, spec: { ...cluster.spec, deletionPolicy: 'Retain' } } : cluster;
}

/**
 * Volumes that are older than the cluster are an earlier one's of the name until it has been formed with them: it may have
 * been refused, for a name, a version or for these very volumes.
 */
function hasUnusedVolumes({ metadata, status }: Cluster, { claims }: Children): boolean {
  if (status?.initialized === true) return false;
  const made = timeOf(metadata);
  return claims.some((claim) => isOfPod(claim, metadata.name) && timeOf(claim.metadata) < made);
}

/** Where it is not told, nothing is older. */
function timeOf({ creationTimestamp = '' }: ObjectMeta): number {
  return Date.parse(creationTimestamp);
}

/** What Kubernetes puts on the custom resource for a deletion that leaves its children, and takes away when they have no owner. */
const orphanFinalizer = 'orphan';

/** `--cascade=orphan`: the processes run on, on their volumes. */
function isOrphaning(engine: Pick<KindHandler, 'resources'>, cluster: Cluster, { objects }: Children): boolean {
  if (cluster.metadata.finalizers?.includes(orphanFinalizer) === true) return true;
  const own = new Set(setsOf(engine, cluster).map(({ metadata }) => metadata.name));
  return objects.some(
    ({ kind, metadata: { name, labels, ownerReferences = [] } }) =>
      kind === 'StatefulSet' && ownerReferences.length === 0 && (own.has(name) || labels?.[memberLabel] === name),
  );
}

function setsOf(engine: Pick<KindHandler, 'resources'>, cluster: Cluster): KubeObject[] {
  return engine.resources(cluster).flatMap(({ object }) => (object.kind === 'StatefulSet' ? [object] : []));
}

/** It keeps its data in its pods, from its first day to its last. */
function hasNoVolumes(engine: Pick<KindHandler, 'resources'>, cluster: Cluster): boolean {
  const sets = setsOf(engine, cluster);
  const claimsOf = ({ spec }: KubeObject): readonly unknown[] =>
    (spec as { readonly volumeClaimTemplates?: readonly unknown[] }).volumeClaimTemplates ?? [];
  return sets.length > 0 && sets.every((set) => claimsOf(set).length === 0);
}

/** As long as clients may write, a backup of more than an hour ago lacks too much. */
function isTaken(
  engine: Pick<KindHandler, 'resources' | 'backup'>,
  cluster: Cluster,
  children: Children,
  now: number,
): boolean {
  const { annotations = {}, uid = '' } = cluster.metadata;
  const [of, , at = ''] = annotations[lastBackupAnnotation]?.split('/') ?? [];
  if (of !== uid) return false;
  return !(now - Date.parse(at) > goodForMs) || !mayBeWritten(engine, cluster, children);
}

/**
 * Most of the StatefulSets that hold data stay. With fewer most databases take no writes, and no other backup can be taken of
 * what is left. Sentinels hold none, and those of others stay whatever becomes of the cluster.
 */
function mayBeWritten(
  engine: Pick<KindHandler, 'resources' | 'backup'>,
  cluster: Cluster,
  { objects }: Children,
): boolean {
  const { metadata, status } = cluster;
  const wanted = setsOf(engine, cluster);
  // A restore begins with one that holds data, whether on volumes or not.
  const first = wanted.find((set) => set.metadata.name === engine.backup?.restoreTemplate(cluster).set);
  const isOther = (set: KubeObject): boolean => first !== undefined && componentOf(set) !== componentOf(first);
  const holdsNone = new Set(wanted.filter(isOther).map((set) => set.metadata.name));
  const own = objects.filter((object) => object.kind === 'StatefulSet' && ownerOf(object) === metadata.uid);
  const staying = own.filter(
    (set) => set.metadata.deletionTimestamp === undefined && !holdsNone.has(set.metadata.name),
  );
  const named = (status?.members ?? []).map(({ name }) => name.replace(/-\d+$/, ''));
  const known = new Set([...own.map((set) => set.metadata.name), ...named].filter((name) => !holdsNone.has(name)));
  return engine.backup?.writesAlone === true ? staying.length > 0 : staying.length * 2 > known.size;
}

function componentOf({ metadata: { labels = {} } }: KubeObject): string | undefined {
  return labels[componentLabel];
}

/** One that was never formed, and has no volume of an earlier one, holds nothing; nor does one that is being restored. */
function hasData(cluster: Cluster, children: Children): boolean {
  const isNobodys = ({ metadata }: KubeObject): boolean => !metadata.ownerReferences?.some((owner) => owner.controller);
  return cluster.status?.initialized === true || children.claims.some(isNobodys);
}

function planLastBackup(engine: KindHandler, cluster: Cluster, progress: BackupProgress): Plan {
  const waiting = 'a last backup is taken before anything is deleted';
  switch (progress.state) {
    case 'missing':
      return { steps: progress.steps, outcome: wait('LastBackup', waiting) };
    case 'pending':
      return { steps: progress.steps, outcome: wait('LastBackup', `${waiting}: ${progress.message}`) };
    case 'running':
      return {
        steps: progress.steps,
        outcome: wait('LastBackup', `${waiting}: ${progress.message}`, progress.recheckMs),
      };
    case 'verified': {
      const { id, takenAt, suddenLoss } = progress;
      // Whatever the volumes hold may be more.
      if (suddenLoss !== undefined && !isConfirmed(cluster.metadata, id)) {
        const message = `the last backup ${id} is verified, but ${suddenLoss}: nothing is deleted; if this is as it should be, annotate the cluster with ${confirmedAnnotation}=${id}; deletionPolicy Retain keeps the volumes`;
        return { steps: [], outcome: wait(suddenLossReason, message, goodForMs) };
      }
      const to = `${cluster.metadata.uid}/${id}/${new Date(takenAt).toISOString()}`;
      const ref = refOf(cluster, engine.kind.resource);
      const patch = { metadata: { annotations: { [lastBackupAnnotation]: to } } };
      const changes = [{ path: `metadata.annotations[${lastBackupAnnotation}]`, to }];
      return {
        steps: ref === undefined ? [] : [{ type: 'patch', ref, patch, changes }],
        outcome: wait('LastBackup', `the last backup ${id} is verified`),
      };
    }
    case 'failed': {
      const message = `the last backup failed: ${progress.message}; it is tried again, ${advice}`;
      return { steps: progress.steps, outcome: wait('LastBackupFailed', message, progress.recheckMs) };
    }
    default:
      return progress satisfies never;
  }
}

/**
 * Nobody is there to take it from, and nobody is started or repaired while the cluster is deleted: what is waited for may
 * never come, and only a person can say what the data is worth.
 */
function unlessHeldUp(
  outcome: Outcome,
  { metadata, spec }: Cluster<CommonSpec>,
  children: Children,
  now: number,
): Outcome {
  const since = metadata.deletionTimestamp ?? '';
  if (children.pods.some(podIsReady) || outcome.state === 'settled' || outcome.reason === suddenLossReason)
    return outcome;
  const left = Date.parse(since) + patienceMs - now;
  if (Number.isNaN(left)) return outcome;
  if (left > 0) return { ...outcome, recheckMs: Math.min(left, outcome.recheckMs ?? left) };
  const { replicas, instances } = spec as { readonly replicas?: number; readonly instances?: number };
  const parked = replicas === 0 ? 'replicas: 0' : instances === 0 ? 'instances: 0' : undefined;
  const why = parked === undefined ? 'no member is ready' : `the cluster is parked (${parked})`;
  const message = `${why}, so no last backup can be taken, and nothing is deleted, started or repaired: this waits since ${since}; set deletionPolicy to Retain, which keeps the volumes for a cluster of the same name, or to Delete, which gives up the data`;
  return wait(heldUpReason, `${message} (${outcome.message})`, outcome.recheckMs);
}
