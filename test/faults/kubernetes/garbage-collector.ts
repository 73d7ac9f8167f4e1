/**
 * The garbage collector: an object goes when the last of its owners, told by UID, is gone. It also carries out the
 * other two ways of deleting: dependents first, or dependents set free.
 */
import type { KubeObject } from '../../../src/api/object.ts';
import { type ClusterState, handOf } from './cluster-state.ts';
import type { StoredCommit } from './store.ts';
import { workQueue } from './work-queue.ts';

const orphan = 'orphan';
const foreground = 'foregroundDeletion';

export function runGarbageCollector(state: ClusterState): void {
  const { store } = state;
  const hand = handOf(state, 'garbage-collector');
  const dependents = new Map<string, Set<string>>();
  const queue = workQueue(state, [5, 50], collect);

  const ownersOf = (object: KubeObject | undefined) => object?.metadata.ownerReferences ?? [];
  const holds = (object: KubeObject, finalizer: string): boolean =>
    object.metadata.finalizers?.includes(finalizer) === true;

  store.onCommit((commit) => {
    const { before, after, last } = commit;
    const uid = last.metadata.uid ?? '';
    if (ownersOf(before) !== ownersOf(after)) index(commit, uid);
    if (after === undefined) {
      for (const dependent of dependents.get(uid) ?? []) queue.add(dependent);
      for (const { uid: owner } of ownersOf(before)) if (isWaiting(owner)) queue.add(owner);
    } else if (after.metadata.deletionTimestamp !== undefined && (holds(after, orphan) || holds(after, foreground))) {
      queue.add(uid);
    }
  });

  function index({ before, after }: StoredCommit, uid: string): void {
    for (const { uid: owner } of ownersOf(before)) dependents.get(owner)?.delete(uid);
    for (const { uid: owner } of ownersOf(after)) {
      const set = dependents.get(owner) ?? new Set();
      dependents.set(owner, set.add(uid));
    }
    if (ownersOf(after).some((owner) => store.byUid(owner.uid) === undefined)) queue.add(uid);
  }

  const isWaiting = (uid: string): boolean => {
    const owner = store.byUid(uid);
    return owner?.metadata.deletionTimestamp !== undefined && holds(owner, foreground);
  };

  function collect(uid: string): void {
    const object = store.byUid(uid);
    if (object === undefined) return;
    if (object.metadata.deletionTimestamp !== undefined) finish(object);
    const owners = ownersOf(object);
    if (owners.length === 0 || object.metadata.deletionTimestamp !== undefined) return;
    const living = owners.filter((owner) => {
      const found = store.byUid(owner.uid);
      return found?.kind === owner.kind && found.metadata.name === owner.name;
    });
    const staying = living.filter((owner) => !isWaiting(owner.uid));
    if (staying.length === 0) hand.remove(object);
    else if (living.length < owners.length) hand.updateMetadata(object, { ownerReferences: staying });
  }

  /** The part of a deletion that its finalizers ask for. */
  function finish(object: KubeObject): void {
    const uid = object.metadata.uid ?? '';
    const below = [...(dependents.get(uid) ?? [])].flatMap((dependent) => store.byUid(dependent) ?? []);
    if (holds(object, orphan)) {
      for (const dependent of below) {
        const rest = ownersOf(dependent).filter((owner) => owner.uid !== uid);
        hand.updateMetadata(dependent, { ownerReferences: rest });
      }
      release(uid, orphan);
    }
    if (!holds(object, foreground)) return;
    for (const dependent of below)
      if (dependent.metadata.deletionTimestamp === undefined) queue.add(dependent.metadata.uid ?? '');
    if (below.length === 0) release(uid, foreground);
  }

  function release(uid: string, finalizer: string): void {
    const object = store.byUid(uid);
    if (object === undefined) return;
    const finalizers = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer);
    hand.updateMetadata(object, { finalizers });
  }
}
