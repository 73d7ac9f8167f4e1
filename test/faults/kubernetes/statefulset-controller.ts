/**
 * The StatefulSet controller: pods of the ordinals that are wanted, each with its claims, under the rules of the set's
 * management, update and retention policies. A pod is made anew only when the old one of its name is gone.
 */
import { createHash } from 'node:crypto';
import type { KubeObject, ObjectMeta, OwnerReference } from '../../../src/api/object.ts';
import { type ClusterState, handOf, keyOf, splitKey } from './cluster-state.ts';
import { equal, type Fields, fieldsIn, itemsIn, numberIn } from './fields.ts';
import { orderedJson } from './ordered-json.ts';
import { isReady, isTerminating, phaseOf } from './pod.ts';
import { Refusal } from './refusal.ts';
import { timestamp } from './registry.ts';
import { matchesSelector } from './selector.ts';
import { claimName, claimOf, podOf, revisionLabel } from './statefulset-pod.ts';
import { workQueue } from './work-queue.ts';

const ordinalOf = (pod: KubeObject): number => Number(/-(\d+)$/.exec(pod.metadata.name)?.[1] ?? Number.NaN);
const isRunningAndReady = (pod: KubeObject): boolean => phaseOf(pod) === 'Running' && isReady(pod);
const isHealthy = (pod: KubeObject): boolean => isRunningAndReady(pod) && !isTerminating(pod);
const controllerOf = (object: KubeObject): OwnerReference | undefined =>
  object.metadata.ownerReferences?.find((owner) => owner.controller === true);

const revisions = new WeakMap<object, string>();

/** Of a template. The same template has the same revision, however often it changed in between. */
function revisionOf(set: KubeObject): string {
  const template = fieldsIn(fieldsIn(set.spec).template);
  let hash = revisions.get(template);
  if (hash === undefined) {
    hash = createHash('sha256').update(orderedJson(template)).digest('hex').slice(0, 10);
    revisions.set(template, hash);
  }
  return `${set.metadata.name}-${hash}`;
}

/** Until it tries again to make a pod that was refused. */
const refusedMs = 5_000;

export function runStatefulSetController(state: ClusterState): void {
  const { store } = state;
  const hand = handOf(state, 'statefulset-controller');
  const queue = workQueue(state, [2, 20], reconcile);

  store.onCommit(({ resource, before, after }) => {
    if (resource === 'statefulsets' && after !== undefined) queue.add(keyOf(after));
    if (resource === 'pods') for (const pod of [before, after]) wake(pod);
    if (resource === 'persistentvolumeclaims' && after === undefined && before !== undefined) wakeForClaim(before);
  });

  function wake(pod: KubeObject | undefined): void {
    if (pod === undefined) return;
    const owner = controllerOf(pod);
    if (owner?.kind === 'StatefulSet') queue.add(`${pod.metadata.namespace}/${owner.name}`);
    else if (owner === undefined && pod.metadata.deletionTimestamp === undefined) {
      queue.add(`${pod.metadata.namespace}/${pod.metadata.name.replace(/-\d+$/, '')}`);
    }
  }

  function wakeForClaim(claim: KubeObject): void {
    for (const set of store.all('statefulsets')) {
      if (set.metadata.namespace === claim.metadata.namespace && claim.metadata.name.includes(set.metadata.name)) {
        queue.add(keyOf(set));
      }
    }
  }

  function reconcile(key: string): void {
    const set = store.get('statefulsets', ...splitKey(key));
    if (set === undefined || set.metadata.deletionTimestamp !== undefined) return;
    const revision = revisionOf(set);
    record(set, revision);
    const pods = podsOf(set);
    const replicas = numberIn(fieldsIn(set.spec).replicas, 1);
    retainClaims(set, pods, replicas);
    scale(set, pods, replicas, revision);
    report(set, podsOf(set), replicas, revision);
  }

  /** Keeps the template of the revision. None of them is ever truncated here. */
  function record(set: KubeObject, name: string): void {
    const { uid = '', namespace = '' } = set.metadata;
    const before = store.get('controllerrevisions', namespace, name);
    if (before !== undefined && controllerOf(before)?.uid === uid) return;
    const template = fieldsIn(fieldsIn(set.spec).template);
    const labels = fieldsIn(fieldsIn(template.metadata).labels) as Readonly<Record<string, string>>;
    const metadata: ObjectMeta = {
      name,
      namespace,
      // Its own, and no random one: a run goes on as it would without it.
      uid: before?.metadata.uid ?? `revision-${uid}-${name}`,
      creationTimestamp: timestamp(state.time.now()),
      labels,
      ownerReferences: [ownerReference(set)],
    };
    const data = { spec: { template: { ...template, $patch: 'replace' } } };
    const after = { apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata, data, revision: 1 };
    store.commit({ actor: 'statefulset-controller', served: state.served.named('controllerrevisions'), before, after });
  }

  /** Those that it controls, after it has taken those that nobody does. */
  function podsOf(set: KubeObject): KubeObject[] {
    const { uid, name, namespace } = set.metadata;
    const selector = fieldsIn(fieldsIn(set.spec).selector);
    const pods: KubeObject[] = [];
    for (const pod of [...store.all('pods')]) {
      if (pod.metadata.namespace !== namespace) continue;
      const controller = controllerOf(pod);
      if (controller?.uid === uid) pods.push(pod);
      else if (
        controller === undefined &&
        !isTerminating(pod) &&
        pod.metadata.name === `${name}-${ordinalOf(pod)}` &&
        matchesSelector(selector, pod.metadata.labels ?? {})
      ) {
        const owners = [...(pod.metadata.ownerReferences ?? []), ownerReference(set)];
        pods.push(hand.updateMetadata(pod, { ownerReferences: owners }));
      }
    }
    return pods.sort((a, b) => ordinalOf(a) - ordinalOf(b));
  }

  function scale(set: KubeObject, pods: readonly KubeObject[], replicas: number, revision: string): void {
    const inParallel = fieldsIn(set.spec).podManagementPolicy === 'Parallel';
    const byOrdinal = new Map(pods.map((pod) => [ordinalOf(pod), pod]));
    for (let ordinal = 0; ordinal < replicas; ordinal++) {
      const pod = byOrdinal.get(ordinal);
      if (pod === undefined) birth(set, ordinal, revision);
      else if (!isTerminating(pod)) tend(set, pod);
      if (!inParallel && !(pod !== undefined && isHealthy(pod))) return;
    }
    const condemned = pods.filter((pod) => ordinalOf(pod) >= replicas).reverse();
    for (const pod of condemned) {
      if (!isTerminating(pod)) hand.remove(pod);
      if (!inParallel) return;
    }
    if (condemned.length === 0) update(set, byOrdinal, replicas, revision);
  }

  function tend(set: KubeObject, pod: KubeObject): void {
    const phase = phaseOf(pod);
    if (phase === 'Failed' || phase === 'Succeeded') hand.remove(pod);
    // Its claims may have gone while it waited for a node.
    else if (phase === 'Pending') makeClaims(set, ordinalOf(pod));
  }

  function update(set: KubeObject, pods: ReadonlyMap<number, KubeObject>, replicas: number, revision: string): void {
    const strategy = fieldsIn(fieldsIn(set.spec).updateStrategy);
    if (strategy.type === 'OnDelete') return;
    const partition = numberIn(fieldsIn(strategy.rollingUpdate).partition, 0);
    for (let ordinal = replicas - 1; ordinal >= partition; ordinal--) {
      const pod = pods.get(ordinal);
      if (pod === undefined) return;
      if (pod.metadata.labels?.[revisionLabel] !== revision && !isTerminating(pod)) {
        hand.remove(pod);
        return;
      }
      if (!isHealthy(pod)) return;
    }
  }

  /** A pod and its claims. Not while an old claim of the name is on its way out. */
  function birth(set: KubeObject, ordinal: number, revision: string): void {
    const pod = podOf(set, ordinal, revision, ownerReference(set));
    if (store.get('pods', set.metadata.namespace, pod.metadata.name) !== undefined) return;
    if (!makeClaims(set, ordinal)) return;
    try {
      hand.create(pod);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // Nothing tells it that the pod may be made by now.
      state.time.after(refusedMs, () => queue.add(keyOf(set)));
    }
  }

  /** Those that are missing. False when one is on its way out, whose place cannot be taken yet. */
  function makeClaims(set: KubeObject, ordinal: number): boolean {
    const templates = itemsIn(fieldsIn(set.spec).volumeClaimTemplates);
    const held = templates.map((template) =>
      store.get('persistentvolumeclaims', set.metadata.namespace, claimName(set, template, ordinal)),
    );
    if (held.some((claim) => claim?.metadata.deletionTimestamp !== undefined)) return false;
    templates.forEach((template, at) => {
      if (held[at] === undefined) hand.create(claimOf(set, template, ordinal, claimOwners(set, undefined)));
    });
    return true;
  }

  /** The owners of a claim as the retention policy wants them, which is how claims come to be deleted. */
  function claimOwners(set: KubeObject, condemned: KubeObject | undefined): OwnerReference[] {
    const policy = fieldsIn(fieldsIn(set.spec).persistentVolumeClaimRetentionPolicy);
    if (condemned !== undefined && policy.whenScaled === 'Delete') {
      const { name, uid = '' } = condemned.metadata;
      return [{ apiVersion: 'v1', kind: 'Pod', name, uid }];
    }
    if (policy.whenDeleted !== 'Delete') return [];
    const { controller: _, blockOwnerDeletion: __, ...owner } = ownerReference(set);
    return [owner];
  }

  function retainClaims(set: KubeObject, pods: readonly KubeObject[], replicas: number): void {
    const templates = itemsIn(fieldsIn(set.spec).volumeClaimTemplates);
    for (const pod of pods) {
      const ordinal = ordinalOf(pod);
      for (const template of templates) {
        const claim = store.get('persistentvolumeclaims', set.metadata.namespace, claimName(set, template, ordinal));
        if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) continue;
        const own = new Set([set.metadata.uid, pod.metadata.uid]);
        const others = (claim.metadata.ownerReferences ?? []).filter((owner) => !own.has(owner.uid));
        const ownerReferences = [...others, ...claimOwners(set, ordinal >= replicas ? pod : undefined)];
        if (!equal(ownerReferences, claim.metadata.ownerReferences ?? []))
          hand.updateMetadata(claim, { ownerReferences });
      }
    }
  }

  function report(set: KubeObject, pods: readonly KubeObject[], replicas: number, revision: string): void {
    const before = fieldsIn(set.status);
    const ready = pods.filter(isRunningAndReady).length;
    const ofRevision = (name: unknown): number =>
      pods.filter((pod) => !isTerminating(pod) && pod.metadata.labels?.[revisionLabel] === name).length;
    const isRolling = fieldsIn(fieldsIn(set.spec).updateStrategy).type === 'RollingUpdate';
    const updated = ofRevision(revision);
    const isComplete = isRolling && updated === replicas && ready === replicas && pods.length === replicas;
    const currentRevision = isComplete ? revision : (before.currentRevision ?? revision);
    const status: Fields = {
      observedGeneration: set.metadata.generation,
      replicas: pods.length,
      readyReplicas: ready === 0 ? undefined : ready,
      availableReplicas: ready,
      currentReplicas: nonZero(ofRevision(currentRevision)),
      updatedReplicas: nonZero(updated),
      currentRevision,
      updateRevision: revision,
      collisionCount: 0,
    };
    if (equal(status, before)) return;
    const live = store.get('statefulsets', set.metadata.namespace, set.metadata.name);
    if (live !== undefined) hand.updateStatus(live, status);
  }
}

const nonZero = (count: number): number | undefined => (count === 0 ? undefined : count);

function ownerReference({ apiVersion, kind, metadata }: KubeObject): OwnerReference {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '', controller: true, blockOwnerDeletion: true };
}
