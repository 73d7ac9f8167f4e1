/**
 * Who owns which fields: the account that the API server keeps in `metadata.managedFields`.
 *
 * A write that is not an apply gives the fields that it changes to an `Update` entry of its manager and takes them from
 * everybody else. An apply owns exactly what it names, and what it named before and names no more is removed unless
 * somebody else owns it too.
 */
import type { KubeObject } from '../../../src/api/object.ts';
import type { FieldRule } from './field-rules.ts';
import {
  changesBetween,
  difference,
  exclusive,
  type FieldSet,
  fieldsOf,
  intersection,
  pathsOf,
  union,
  withoutFields,
} from './field-set.ts';
import { equal, type Fields, fieldsIn } from './fields.ts';
import { mergedByFields } from './merge.ts';
import { Refusal } from './refusal.ts';

export interface ManagedEntry {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly time?: string;
  readonly fieldsType: 'FieldsV1';
  readonly fieldsV1: FieldSet;
  readonly subresource?: string;
}

/** A write, as far as ownership is concerned. */
export interface Authorship {
  readonly manager: string;
  /** `status`, or undefined for the object itself. */
  readonly subresource: string | undefined;
  /** RFC 3339, in seconds. */
  readonly time: string;
  /** Whether the resource has a status of its own: its fields are then nobody's in a write of the object. */
  readonly hasStatus: boolean;
  readonly rule: FieldRule;
}

export function managedEntries(object: { readonly metadata: object }): readonly ManagedEntry[] {
  return (object.metadata as { readonly managedFields?: readonly ManagedEntry[] }).managedFields ?? [];
}

const ownedMetadata = ['labels', 'annotations', 'ownerReferences', 'finalizers'];

/** The fields of an object that can have an owner in this write. */
function ownable(object: Fields, by: Authorship): Fields {
  if (by.subresource === 'status') return object.status === undefined ? {} : { status: object.status };
  const { apiVersion: _, kind: __, metadata, status, ...content } = object;
  const meta: Record<string, unknown> = {};
  for (const name of ownedMetadata) {
    const value = fieldsIn(metadata)[name];
    if (value !== undefined) meta[name] = value;
  }
  const withStatus = by.hasStatus || status === undefined ? content : { ...content, status };
  for (const __ in meta) return { metadata: meta, ...withStatus };
  return withStatus;
}

const nothing: Fields = {};

/** The entries after a write that is no apply. `entries` are those of the object before, or what the writer made of them. */
export function entriesAfterUpdate(
  entries: readonly ManagedEntry[],
  before: KubeObject | undefined,
  after: KubeObject,
  by: Authorship,
): readonly ManagedEntry[] {
  const { changed, removed } = changesBetween(
    before === undefined ? nothing : ownable(before, by),
    ownable(after, by),
    by.rule,
  );
  if (changed === undefined && removed === undefined) return entries;
  const gone = union(changed, removed);
  let own: ManagedEntry | undefined;
  const others: ManagedEntry[] = [];
  for (const entry of entries) {
    const isOwn =
      entry.operation === 'Update' &&
      entry.manager === by.manager &&
      (entry.subresource ?? '') === (by.subresource ?? '');
    if (isOwn) own = entry;
    else others.push(...reduced(entry, gone));
  }
  const fields = union(difference(own?.fieldsV1, removed), changed);
  if (fields === undefined || Object.keys(fields).length === 0) return others;
  return sorted([...others, entryOf('Update', after.apiVersion, fields, by)]);
}

function reduced(entry: ManagedEntry, gone: FieldSet | undefined): ManagedEntry[] {
  const fieldsV1 = difference(entry.fieldsV1, gone);
  return fieldsV1 === undefined ? [] : [equal(fieldsV1, entry.fieldsV1) ? entry : { ...entry, fieldsV1 }];
}

function entryOf(
  operation: ManagedEntry['operation'],
  apiVersion: string,
  fieldsV1: FieldSet,
  { manager, subresource, time }: Authorship,
): ManagedEntry {
  return {
    manager,
    operation,
    apiVersion,
    time,
    fieldsType: 'FieldsV1',
    fieldsV1,
    ...(subresource === undefined ? {} : { subresource }),
  };
}

function sorted(entries: readonly ManagedEntry[]): readonly ManagedEntry[] {
  const key = (entry: ManagedEntry): string => `${entry.operation} ${entry.time ?? ''} ${entry.manager}`;
  return [...entries].sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
}

export interface Applied {
  /** What the object is to become, before defaults and without its managed fields. */
  readonly object: Fields;
  readonly entries: readonly ManagedEntry[];
}

/** Throws the conflict, unless forced, when another manager owns a field that would change. */
export function applied(before: KubeObject | undefined, wanted: Fields, by: Authorship, force: boolean): Applied {
  const entries = before === undefined ? [] : managedEntries(before);
  const isOwn = (entry: ManagedEntry): boolean =>
    entry.operation === 'Apply' && entry.manager === by.manager && (entry.subresource ?? '') === (by.subresource ?? '');
  const own = entries.find(isOwn);
  const others = entries.filter((entry) => !isOwn(entry));
  const fields = fieldsOf(ownable(wanted, by), by.rule);
  const live: Fields = before ?? nothing;
  const merged = mergedByFields(live, ownableOnly(wanted, by), by.rule) as Fields;

  const dropped = exclusive(
    difference(own?.fieldsV1, fields),
    others.map((entry) => entry.fieldsV1).reduce<FieldSet | undefined>(union, undefined),
  );
  const object = dropped === undefined ? merged : ((withoutFields(merged, dropped, by.rule) ?? nothing) as Fields);
  const { changed, removed } = changesBetween(live, object, by.rule);
  const taken = others.flatMap((entry) => {
    const fieldsV1 = intersection(entry.fieldsV1, changed);
    return fieldsV1 === undefined ? [] : pathsOf(fieldsV1).map((field) => ({ manager: entry.manager, field }));
  });
  if (taken.length > 0 && !force) throw applyConflict(taken);
  const gone = union(changed, removed);
  const kept = before === undefined ? [] : others.flatMap((entry) => reduced(entry, gone));
  const unchanged = own !== undefined && equal(own.fieldsV1, fields);
  const mine = unchanged && gone === undefined ? own : entryOf('Apply', wanted.apiVersion as string, fields, by);
  return { object, entries: sorted([...kept, mine]) };
}

/** What of the wish this write is about: the status and nothing else, or everything else. */
function ownableOnly(wanted: Fields, by: Authorship): Fields {
  const { apiVersion, kind } = wanted;
  return { apiVersion, kind, ...ownable(wanted, by) };
}

function applyConflict(taken: readonly { readonly manager: string; readonly field: string }[]): Refusal {
  const causes = taken.map(({ manager, field }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${JSON.stringify(manager)}`,
    field,
  }));
  const list = taken.map(({ manager, field }) => `conflict with ${JSON.stringify(manager)}: ${field}`).join('\n');
  const count = taken.length === 1 ? '1 conflict' : `${taken.length} conflicts`;
  return new Refusal(409, 'Conflict', `Apply failed with ${count}: ${list}`, { causes });
}
