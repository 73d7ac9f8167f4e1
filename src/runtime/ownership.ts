/**
 * Which fields of an object are ours, as the API server keeps the account in `metadata.managedFields`.
 *
 * A field written by POST belongs to an `Update` entry of its manager, and a server-side apply by the same manager is a
 * different owner: fields that such an apply drops would stay. So before the first apply to an object that was created
 * by POST, its `Update` entry must be turned into an `Apply` entry, once.
 */
import type { KubeObject } from '../api/object.ts';

/** The one field manager of everything that the controller and the CLI write. */
export const FIELD_MANAGER = 'clusterwright';

interface ManagedFields {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly apiVersion?: string;
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: FieldSet;
}

/** FieldsV1: a tree whose keys are path elements (`f:spec`, `k:{...}`, `.`). */
interface FieldSet {
  readonly [element: string]: FieldSet;
}

export interface JsonPatchOperation {
  readonly op: 'add' | 'remove' | 'replace' | 'test';
  readonly path: string;
  readonly value?: unknown;
}

/** Whether fields of the main resource belong to an `Update` entry of ours. Needs the object as the server sent it. */
export function isPostOwned(object: KubeObject): boolean {
  return managedFieldsOf(object).some(isOurUpdate);
}

/**
 * The JSON patch that turns our `Update` entry into an `Apply` entry, or undefined when there is none. `live` must come
 * straight from the server. The patch fails with a conflict if the object has changed since.
 */
export function takeOverPatch(live: KubeObject): JsonPatchOperation[] | undefined {
  const entries = managedFieldsOf(live);
  const ours = entries.filter((entry) => isOurUpdate(entry) || isOurApply(entry));
  const [first] = ours;
  if (first === undefined || !ours.some(isOurUpdate)) return undefined;
  const merged: ManagedFields = {
    ...(ours.find(isOurApply) ?? first),
    operation: 'Apply',
    fieldsV1: ours.map((entry) => entry.fieldsV1 ?? {}).reduce(union),
  };
  const value = [...entries.filter((entry) => !ours.includes(entry)), merged];
  return [
    { op: 'test', path: '/metadata/resourceVersion', value: live.metadata.resourceVersion },
    { op: 'replace', path: '/metadata/managedFields', value },
  ];
}

/** The object without its managed fields, which are up to half of its bytes. Changes the object in place. */
export function stripManagedFields(object: KubeObject): KubeObject {
  delete (object.metadata as { managedFields?: unknown }).managedFields;
  return object;
}

function managedFieldsOf(object: KubeObject): readonly ManagedFields[] {
  return (object.metadata as { managedFields?: readonly ManagedFields[] }).managedFields ?? [];
}

function isOurUpdate(entry: ManagedFields): boolean {
  return entry.manager === FIELD_MANAGER && entry.operation === 'Update' && (entry.subresource ?? '') === '';
}

function isOurApply(entry: ManagedFields): boolean {
  return entry.manager === FIELD_MANAGER && entry.operation === 'Apply' && (entry.subresource ?? '') === '';
}

function union(a: FieldSet, b: FieldSet): FieldSet {
  const merged: Record<string, FieldSet> = { ...a };
  for (const [element, below] of Object.entries(b)) merged[element] = union(merged[element] ?? {}, below);
  return merged;
}
