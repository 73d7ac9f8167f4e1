/**
 * Creating, changing and deleting objects by the rules of the API server. Requests from outside and the controllers of
 * Kubernetes itself both come through here; only the former have an authorship, which is kept in the managed fields.
 */
import type { KubeObject, ObjectMeta } from '../../../src/api/object.ts';
import type { Random } from '../../../src/system/clock.ts';
import { tidied, withDefaults } from '../../../src/testing/defaults.ts';
import type { VirtualTime } from '../world/time.ts';
import { admitCustom, admitCustomStatus, checkFixed, checkName, checkPriority, checkSelector } from './admission.ts';
import { equal, type Fields, fieldsIn } from './fields.ts';
import { type Authorship, entriesAfterUpdate, type ManagedEntry, managedEntries } from './managed-fields.ts';
import { badRequest, conflict, invalid, modified, notFound, Refusal } from './refusal.ts';
import { resizedPod } from './resize.ts';
import type { Served } from './served.ts';
import type { Store } from './store.ts';

export interface WriteContext {
  /** Of the commit. */
  readonly actor: string;
  /** Undefined: the managed fields are left as they are. */
  readonly by?: Authorship;
  /** The managed fields, where an apply has worked them out. */
  readonly entries?: readonly ManagedEntry[];
  readonly subresource?: string | undefined;
  readonly dryRun?: boolean;
  readonly strict?: boolean;
  /** Another UID is then a field that cannot change, where in a PUT it is a precondition that fails. */
  readonly isPatch?: boolean;
  /** Spec and status in one, as when a pod is bound to a node. Only Kubernetes itself writes so. */
  readonly whole?: boolean;
}

export interface DeleteOptions {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  readonly propagation?: string | undefined;
  readonly dryRun?: boolean;
}

export interface Deletion {
  readonly object: KubeObject;
  /** False: it lives on for its grace period or its finalizers. */
  readonly gone: boolean;
}

export interface Registry {
  create(served: Served, object: KubeObject, context: WriteContext): KubeObject;
  /** `next` is the whole object as it is to be; what nobody may change is taken from `before`. */
  update(served: Served, before: KubeObject, next: KubeObject, context: WriteContext): KubeObject;
  remove(served: Served, object: KubeObject, actor: string, options?: DeleteOptions): Deletion;
}

let lastSecond = { second: Number.NaN, text: '' };

/** Seconds only, as `metav1.Time`. */
export function timestamp(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (second !== lastSecond.second) {
    lastSecond = { second, text: `${new Date(second * 1000).toISOString().slice(0, 19)}Z` };
  }
  return lastSecond.text;
}

type StoredMetadata = ObjectMeta & {
  readonly managedFields?: readonly ManagedEntry[];
  readonly deletionGracePeriodSeconds?: number;
};

/** The fields of metadata that a writer decides about. */
const written = ['labels', 'annotations', 'ownerReferences', 'finalizers'] as const;

export function createRegistry(options: {
  readonly store: Store;
  readonly time: VirtualTime;
  readonly random: Random;
  /** Whether volumes can be made larger. */
  readonly claimsGrow: boolean;
}): Registry {
  const { store, time, random, claimsGrow } = options;
  let addresses = 0;

  const now = (): string => timestamp(time.now());

  function newUid(): string {
    const hex = (): string =>
      Math.floor(random() * 0x1_0000_0000)
        .toString(16)
        .padStart(8, '0');
    const [a, b, c, d] = [hex(), hex(), hex(), hex()];
    return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-a${c.slice(1, 4)}-${c.slice(4)}${d}`;
  }

  /** Of a Service: 10.96.x.y, each given out once. */
  function newAddress(): string {
    addresses++;
    return `10.96.${addresses >> 8}.${addresses & 255}`;
  }

  function metadataOf(from: ObjectMeta, kept: Fields): StoredMetadata {
    const result: Record<string, unknown> = { ...kept };
    for (const field of written) {
      const value = from[field];
      if (value === undefined || value === null) continue;
      if (Object.keys(value).length > 0) result[field] = tidied(value);
    }
    return result as unknown as StoredMetadata;
  }

  function checkNamespace(served: Served, namespace: string | undefined, name: string): void {
    if (!served.resource.namespaced) return;
    const found = store.get('namespaces', undefined, namespace ?? '');
    if (found === undefined) throw notFound('namespaces', namespace ?? '');
    if (found.metadata.deletionTimestamp !== undefined) {
      throw new Refusal(
        403,
        'Forbidden',
        `${served.plural} "${name}" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`,
        {
          causes: [
            {
              reason: 'NamespaceTerminating',
              message: `namespace ${namespace} is being terminated`,
              field: 'metadata.namespace',
            },
          ],
        },
      );
    }
  }

  /** What admission and the strategies of single kinds add at the birth of an object. */
  function born(served: Served, object: KubeObject): KubeObject {
    switch (served.kind) {
      case 'Service': {
        const spec = fieldsIn(object.spec);
        const clusterIP = spec.clusterIP ?? newAddress();
        return { ...object, spec: { ...spec, clusterIP, clusterIPs: [clusterIP] }, status: { loadBalancer: {} } };
      }
      case 'PersistentVolumeClaim': {
        const finalizers = [...(object.metadata.finalizers ?? []), 'kubernetes.io/pvc-protection'];
        return { ...object, metadata: { ...object.metadata, finalizers }, status: { phase: 'Pending' } };
      }
      case 'Pod':
        return { ...object, status: { phase: 'Pending', qosClass: 'Burstable' } };
      case 'StatefulSet':
        return { ...object, status: { replicas: 0, availableReplicas: 0 } };
      case 'Job':
        return bornJob(object);
      case 'Namespace': {
        const labels = { ...object.metadata.labels, 'kubernetes.io/metadata.name': object.metadata.name };
        const metadata = { ...object.metadata, labels };
        return { ...object, metadata, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } };
      }
      default:
        return object;
    }
  }

  function create(served: Served, object: KubeObject, context: WriteContext): KubeObject {
    const { name, namespace } = object.metadata;
    checkName(served, name);
    checkNamespace(served, namespace, name);
    const metadata = metadataOf(object.metadata, {
      name,
      ...(served.resource.namespaced ? { namespace } : {}),
      uid: newUid(),
      ...(served.hasGeneration ? { generation: 1 } : {}),
      creationTimestamp: now(),
    });
    const { status: _, ...content } = object;
    const base = { ...(served.hasStatus ? content : object), metadata } as KubeObject;
    let made =
      served.custom === undefined
        ? born(served, withDefaults(base, undefined))
        : admitCustom(served, base, undefined, context.strict === true);
    checkSelector(served, made);
    checkPriority(made, store.all('priorityclasses'));
    const existing = store.get(served.plural, namespace, name);
    if (existing !== undefined) {
      throw new Refusal(409, 'AlreadyExists', `${served.plural} "${name}" already exists`);
    }
    const entries = entriesOf(context, undefined, made);
    if (entries.length > 0) made = withEntries(made, entries);
    if (context.dryRun === true) return made;
    const status = served.custom === undefined ? undefined : admitCustomStatus(served, name, undefined);
    const after = status === undefined ? made : { ...made, status };
    return store.commit({ actor: context.actor, served, before: undefined, after });
  }

  function entriesOf(
    { by, entries }: WriteContext,
    before: KubeObject | undefined,
    after: KubeObject,
  ): readonly ManagedEntry[] {
    if (entries !== undefined) return entries;
    const base = before === undefined ? [] : managedEntries(before);
    return by === undefined ? base : entriesAfterUpdate(base, before, after, by);
  }

  function checkVersion(served: Served, before: KubeObject, next: KubeObject, isPatch: boolean): void {
    const { name } = before.metadata;
    const { uid, resourceVersion } = next.metadata;
    if (uid !== undefined && uid !== before.metadata.uid) {
      if (isPatch) throw invalid(served.kind, name, 'metadata.uid', 'field is immutable');
      throw conflict(
        served.plural,
        name,
        `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${before.metadata.uid}`,
      );
    }
    if (resourceVersion !== undefined && resourceVersion !== before.metadata.resourceVersion) {
      throw modified(served.plural, name);
    }
  }

  function update(served: Served, before: KubeObject, next: KubeObject, context: WriteContext): KubeObject {
    checkVersion(served, before, next, context.isPatch === true);
    const wanted = next.metadata === before.metadata ? before.metadata : next.metadata;
    let after: KubeObject;
    if (context.subresource === 'status') {
      const status = admitCustomStatus(served, before.metadata.name, next.status);
      after = { ...before, status };
      if (status === undefined) delete (after as { status?: unknown }).status;
    } else if (context.subresource === 'resize') {
      after = resizedPod(before, withDefaults(next, before));
    } else {
      after = changed(served, before, next, wanted, context);
    }
    const { name } = before.metadata;
    if (
      next.metadata.name !== name ||
      (next.metadata.namespace ?? before.metadata.namespace) !== before.metadata.namespace
    ) {
      throw badRequest('the name of the object does not match the name on the URL');
    }
    checkFixed(served, before, after, claimsGrow);
    // Managed fields that the writer has set are what its changes are reckoned from.
    const given = (wanted as StoredMetadata).managedFields;
    const isReset = given !== undefined && given.length > 0 && !equal(given, managedEntries(before));
    const account = isReset ? withEntries(before, given) : before;
    const entries = entriesOf(context, account, after);
    if (entries !== managedEntries(before)) after = withEntries(after, entries);
    if (same(before, after)) return before;
    if (context.dryRun === true) return after;
    if (isOver(after)) {
      store.commit({ actor: context.actor, served, before, after: undefined });
      return after;
    }
    return store.commit({ actor: context.actor, served, subresource: context.subresource, before, after });
  }

  function changed(
    served: Served,
    before: KubeObject,
    next: KubeObject,
    wanted: ObjectMeta,
    context: WriteContext,
  ): KubeObject {
    const kept: Record<string, unknown> = { ...before.metadata };
    for (const field of written) delete kept[field];
    const metadata = wanted === before.metadata ? before.metadata : metadataOf(wanted, kept);
    const { status: _, ...content } = next;
    const status = before.status === undefined ? {} : { status: before.status };
    const isWhole = context.whole === true || !served.hasStatus;
    const candidate = { ...(isWhole ? next : { ...content, ...status }), metadata } as KubeObject;
    let after: KubeObject;
    if (served.custom === undefined) {
      after = withDefaults(withFixedFields(served, before, candidate), before);
    } else if (candidate.spec === before.spec) {
      after = candidate;
    } else {
      after = admitCustom(served, candidate, before, context.strict === true);
    }
    if (after.spec !== before.spec && equal(after.spec, before.spec)) after = { ...after, spec: before.spec };
    if (!served.hasGeneration || after.spec === before.spec) return after;
    return { ...after, metadata: { ...after.metadata, generation: (before.metadata.generation ?? 0) + 1 } };
  }

  function remove(served: Served, object: KubeObject, actor: string, options: DeleteOptions = {}): Deletion {
    const { metadata } = object as { readonly metadata: StoredMetadata };
    const { name } = metadata;
    if (options.uid !== undefined && options.uid !== metadata.uid) {
      throw conflict(
        served.plural,
        name,
        `Precondition failed: UID in precondition: ${options.uid}, UID in object meta: ${metadata.uid}`,
      );
    }
    if (options.resourceVersion !== undefined && options.resourceVersion !== metadata.resourceVersion) {
      throw conflict(
        served.plural,
        name,
        `Precondition failed: ResourceVersion in precondition: ${options.resourceVersion}, ResourceVersion in object meta: ${metadata.resourceVersion}`,
      );
    }
    const grace = graceOf(served, object, options);
    const held = withPropagation(metadata, options);
    const waits = (held.finalizers ?? []).length > 0 || grace > 0 || hasContent(served, object);
    if (!waits) {
      if (options.dryRun !== true) store.commit({ actor, served, before: object, after: undefined });
      return { object, gone: true };
    }
    const at = metadata.deletionTimestamp;
    const ends = timestamp(time.now() + grace * 1000);
    const isFirst = at === undefined;
    const sooner = isFirst || (metadata.deletionGracePeriodSeconds ?? 0) > grace;
    const bump = isFirst && metadata.generation !== undefined ? { generation: metadata.generation + 1 } : {};
    const terminating = sooner ? { ...bump, deletionTimestamp: ends, deletionGracePeriodSeconds: grace } : {};
    const phase = served.kind === 'Namespace' ? { status: { ...fieldsIn(object.status), phase: 'Terminating' } } : {};
    const after: KubeObject = { ...object, ...phase, metadata: { ...held, ...terminating } as ObjectMeta };
    if (same(object, after)) return { object, gone: false };
    if (options.dryRun === true) return { object: after, gone: false };
    return { object: store.commit({ actor, served, before: object, after }), gone: false };
  }

  /** A namespace has its content as a finalizer, in its spec. */
  const hasContent = (served: Served, object: KubeObject): boolean =>
    served.kind === 'Namespace' && fieldsIn(object.spec).finalizers !== undefined;

  return { create, update, remove };
}

/** Its pods are found by its UID, which nobody knew before. */
function bornJob(object: KubeObject): KubeObject {
  const { name, uid = '' } = object.metadata;
  const template = fieldsIn(fieldsIn(object.spec).template);
  const metadata = fieldsIn(template.metadata);
  const mark = { 'batch.kubernetes.io/controller-uid': uid };
  const labels = {
    ...fieldsIn(metadata.labels),
    ...mark,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
  };
  return {
    ...object,
    spec: {
      ...fieldsIn(object.spec),
      selector: { matchLabels: mark },
      template: { ...template, metadata: { ...metadata, labels } },
    },
  };
}

/** Seconds. Only pods that run somewhere are given time. */
function graceOf(served: Served, object: KubeObject, options: DeleteOptions): number {
  if (served.kind !== 'Pod') return 0;
  const spec = fieldsIn(object.spec);
  const phase = fieldsIn(object.status).phase;
  if (spec.nodeName === undefined || phase === 'Succeeded' || phase === 'Failed') return 0;
  return options.gracePeriodSeconds ?? (spec.terminationGracePeriodSeconds as number | undefined) ?? 30;
}

function withPropagation(metadata: StoredMetadata, { propagation }: DeleteOptions): StoredMetadata {
  const finalizers = metadata.finalizers ?? [];
  const own = propagation === 'Orphan' ? 'orphan' : propagation === 'Foreground' ? 'foregroundDeletion' : undefined;
  if (metadata.deletionTimestamp !== undefined || own === undefined || finalizers.includes(own)) return metadata;
  return { ...metadata, finalizers: [...finalizers, own] };
}

/** Fields that a writer may leave out because the server knows them. */
function withFixedFields(served: Served, before: KubeObject, next: KubeObject): KubeObject {
  if (next.spec === before.spec) return next;
  const [was, is] = [fieldsIn(before.spec), fieldsIn(next.spec)];
  if (served.kind === 'Service' && is.clusterIP === undefined) {
    return { ...next, spec: { ...is, clusterIP: was.clusterIP, clusterIPs: was.clusterIPs } };
  }
  return next;
}

function withEntries(object: KubeObject, entries: readonly ManagedEntry[]): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata as StoredMetadata;
  return {
    ...object,
    metadata: (entries.length === 0 ? metadata : { ...metadata, managedFields: entries }) as ObjectMeta,
  };
}

/** Whether nothing but the time of an entry of the managed fields is different. */
function same(before: KubeObject, after: KubeObject): boolean {
  if (before === after) return true;
  const timeless = (object: KubeObject): readonly Fields[] =>
    managedEntries(object).map(({ time: _, ...entry }) => entry as unknown as Fields);
  const [was, is] = [before.metadata as StoredMetadata, after.metadata as StoredMetadata];
  if (was !== is) {
    const { managedFields: _, ...left } = was;
    const { managedFields: __, ...right } = is;
    if (!equal(left, right)) return false;
    if (was.managedFields !== is.managedFields && !equal(timeless(before), timeless(after))) return false;
  }
  return equal({ ...before, metadata: undefined }, { ...after, metadata: undefined });
}

/** Deleted, and nothing holds it any more. */
function isOver(object: KubeObject): boolean {
  const { deletionTimestamp, finalizers = [], deletionGracePeriodSeconds = 0 } = object.metadata as StoredMetadata;
  if (deletionTimestamp === undefined || finalizers.length > 0 || deletionGracePeriodSeconds > 0) return false;
  return object.kind !== 'Namespace' || fieldsIn(object.spec).finalizers === undefined;
}
