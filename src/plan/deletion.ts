/**
 * The end of a cluster.
 *
 * Under `Retain` nothing has to be done: Kubernetes collects the children, and volumes and Secrets have no owner. Under
 * `Delete`, and under `Snapshot` once a last backup is verified, a finalizer holds the custom resource until the processes have stopped and the data is gone; removing it is
 * the last write (safety rule G3). The policy counts as it stands at the moment of deletion.
 */
import type { Cluster, CommonSpec } from '../api/cluster.ts';
import type { KubeObject, Resource } from '../api/object.ts';
import { persistentVolumeClaims, resourceOf } from '../api/resource.ts';
import type { Children, Claim } from '../resources/children.ts';
import { instanceLabel, managedBy, managedByLabel, nameLabel } from '../resources/metadata.ts';
import { isOfPod } from './claimed.ts';
import { type Desired, isFilled, ownerOf } from './objects.ts';
import { type ObjectStep, type Plan, type Step, settled, wait } from './plan.ts';
import { refOf } from './ref.ts';

export const deletionFinalizer = 'clusterwright.dev/delete-data';

function deletionOf(object: KubeObject, resource: Resource, reason: string): ObjectStep[] {
  if (object.metadata.deletionTimestamp !== undefined) return [];
  const ref = refOf(object, resource);
  return ref === undefined ? [] : [{ type: 'delete', ref, reason }];
}

/** A volume that no pod of the cluster was ever given is somebody else's, whatever its labels are. */
function ownClaims({ metadata }: Cluster, { claims }: Children): readonly Claim[] {
  return claims.filter((claim) => isOfPod(claim, metadata.name));
}

/** A StatefulSet that somebody else has made, from a copy of ours for example, runs on with its pods. */
function ownProcesses({ metadata: { uid } }: Cluster, { objects, pods }: Children) {
  const sets = objects.filter(({ kind }) => kind === 'StatefulSet');
  const isOwn = (set: KubeObject): boolean => ownerOf(set) === uid;
  const others = new Set(sets.filter((set) => !isOwn(set)).map(({ metadata }) => metadata.uid));
  return { sets: sets.filter(isOwn), pods: pods.filter((pod) => !others.has(ownerOf(pod))) };
}

/** `Snapshot` is `Delete` with a last backup before it. */
function takesData({ spec }: Cluster<CommonSpec>): boolean {
  return spec.deletionPolicy === 'Delete' || spec.deletionPolicy === 'Snapshot';
}

/** The Secrets that go with the data, as they would be made. What unlocks the last backup stays with that. */
export function secretsThatGo(desired: readonly Desired[], { spec }: Cluster<CommonSpec>): readonly KubeObject[] {
  const stays = ({ unlocksBackups }: Desired): boolean => spec.deletionPolicy === 'Snapshot' && unlocksBackups === true;
  return desired.flatMap((each) => (isFilled(each) && !stays(each) ? [each.object] : []));
}

/**
 * Whether what is there was generated for this cluster. One of the name which somebody made before us is theirs, though we have used it.
 * One of another cluster is that cluster's: `a-patroni-ca` is of PostgresCluster `a`, and has the name of one of `a-patroni`.
 */
export function wasGeneratedFor(wanted: KubeObject, live: KubeObject): boolean {
  const { labels = {} } = live.metadata;
  const isSame = [nameLabel, instanceLabel].every((label) => labels[label] === wanted.metadata.labels?.[label]);
  return labels[managedByLabel] === managedBy && isSame;
}

/**
 * ConfigMaps without an owner, as far as they are there: they tell of the data, and go with it. What somebody else has made under such a
 * name stays. Volumes have rules of their own: see `ownClaims`.
 */
export function stateThatGoes(desired: readonly Desired[], children: Children): readonly KubeObject[] {
  return desired.flatMap((each) => {
    const { kind, metadata } = each.object;
    if (kind !== 'ConfigMap' || ownerOf(each.object) !== undefined) return [];
    const live = children.get(kind, metadata.name);
    return live !== undefined && live.metadata.labels?.[managedByLabel] === managedBy ? [live] : [];
  });
}

/** Puts the finalizer where the policy needs it and takes it away where not. Empty when it is right. */
export function finalizerSteps(cluster: Cluster<CommonSpec>, resource: Resource): ObjectStep[] {
  const { finalizers = [], deletionTimestamp } = cluster.metadata;
  const has = finalizers.includes(deletionFinalizer);
  const wanted = takesData(cluster);
  if (has === wanted || (deletionTimestamp !== undefined && wanted)) return [];
  return finalizerPatch(cluster, resource, wanted);
}

function finalizerPatch(cluster: Cluster, resource: Resource, wanted: boolean): ObjectStep[] {
  const { finalizers = [], resourceVersion } = cluster.metadata;
  const to = wanted ? [...finalizers, deletionFinalizer] : finalizers.filter((name) => name !== deletionFinalizer);
  const ref = refOf(cluster, resource);
  if (ref === undefined) return [];
  const patch = { metadata: { finalizers: to, resourceVersion } };
  return [{ type: 'patch', ref, patch, changes: [{ path: 'metadata.finalizers', from: finalizers, to }] }];
}

/** It is being deleted, and its finalizer waits until its data is gone. */
export function isHeldForData(cluster: Cluster<CommonSpec>): boolean {
  return (cluster.metadata.finalizers ?? []).includes(deletionFinalizer) && takesData(cluster);
}

/** `secrets` are those of `secretsThatGo` that were generated for this cluster and still exist, and what `stateThatGoes` finds. */
export function planDeletion(
  cluster: Cluster<CommonSpec>,
  resource: Resource,
  children: Children,
  secrets: readonly KubeObject[],
): Plan {
  if (!(cluster.metadata.finalizers ?? []).includes(deletionFinalizer)) return { steps: [], outcome: settled };
  if (!takesData(cluster)) {
    return { steps: finalizerPatch(cluster, resource, false), outcome: settled };
  }
  const { sets, pods } = ownProcesses(cluster, children);
  if (sets.length > 0 || pods.length > 0) {
    const steps = sets.flatMap((set) => deletionOf(set, resourceOf(set), 'the cluster is deleted'));
    return { steps, outcome: wait('Stopping', `${pods.length} pod(s) are stopping`) };
  }
  const reason = `deletionPolicy is ${cluster.spec.deletionPolicy}`;
  const claims = ownClaims(cluster, children);
  const data = [
    ...claims.flatMap((claim) => deletionOf(claim, persistentVolumeClaims, reason)),
    ...secrets.flatMap((secret) => deletionOf(secret, resourceOf(secret), reason)),
  ];
  if (claims.length > 0 || data.length > 0) {
    return { steps: data, outcome: wait('DeletingData', 'volumes and Secrets are being deleted', 1000) };
  }
  return { steps: finalizerPatch(cluster, resource, false), outcome: settled };
}

/** What goes in later passes, for people who read a plan. `steps` are those of this one. */
export function forecastDeletion(
  cluster: Cluster<CommonSpec>,
  children: Children,
  secrets: readonly KubeObject[],
  steps: readonly Step[],
  isWaitingForBackup: boolean,
): readonly string[] {
  if (!takesData(cluster) || !(cluster.metadata.finalizers ?? []).includes(deletionFinalizer)) return [];
  const going = new Set(steps.flatMap((step) => (step.type === 'delete' ? [step.ref.uid] : [])));
  const left = [...ownClaims(cluster, children), ...secrets].filter(
    ({ metadata: { uid, deletionTimestamp } }) => deletionTimestamp === undefined && !going.has(uid ?? ''),
  );
  if (left.length === 0) return [];
  const when = isWaitingForBackup ? 'a last backup is verified and no process is left' : 'no process is left';
  const names = left.map(({ kind, metadata }) => `${kind} ${metadata.name}`).join(', ');
  return [`once ${when}, the data is deleted: ${names} (deletionPolicy is ${cluster.spec.deletionPolicy})`];
}
