/**
 * Sets of fields as the API server writes them down (FieldsV1): a tree of `f:NAME`, `k:{KEYS}` and `v:VALUE`. A leaf is
 * a member; a node with children is one too when it has the child `.`.
 */

import { type FieldRule, hasItems, keyOfItem, ruleOfField, ruleOfItem } from './field-rules.ts';
import { equal, type Fields, isFields } from './fields.ts';

export interface FieldSet {
  readonly [element: string]: FieldSet;
}

export const leaf: FieldSet = {};
const itself = '.';

const isMember = (set: FieldSet): boolean => {
  for (const key in set) return key === itself || set[itself] !== undefined;
  return true;
};

/** Undefined when nothing is in it. */
function node(member: boolean, children: Record<string, FieldSet>): FieldSet | undefined {
  for (const _ in children) return member ? { [itself]: leaf, ...children } : children;
  return member ? leaf : undefined;
}

type Combine = (a: FieldSet | undefined, b: FieldSet | undefined) => FieldSet | undefined;

function combined(
  a: FieldSet | undefined,
  b: FieldSet | undefined,
  member: (a: boolean, b: boolean) => boolean,
  below: Combine,
): FieldSet | undefined {
  const children: Record<string, FieldSet> = {};
  for (const side of [a, b]) {
    for (const key in side) {
      if (key === itself || children[key] !== undefined) continue;
      const child = below(a?.[key], b?.[key]);
      if (child !== undefined) children[key] = child;
    }
  }
  return node(member(a !== undefined && isMember(a), b !== undefined && isMember(b)), children);
}

export const union: Combine = (a, b) => {
  if (a === undefined || b === undefined) return a ?? b;
  return combined(a, b, (inA, inB) => inA || inB, union);
};

export const difference: Combine = (a, b) => {
  if (a === undefined || b === undefined) return a;
  return combined(a, b, (inA, inB) => inA && !inB, difference);
};

/** Like a difference, but an element stays out of it also where the other set has only something inside of it. */
export const exclusive: Combine = (a, b) => {
  if (a === undefined || b === undefined) return a;
  return combined(a, b, () => false, exclusive);
};

export const intersection: Combine = (a, b) => {
  if (a === undefined || b === undefined) return undefined;
  return combined(a, b, (inA, inB) => inA && inB, intersection);
};

/** Every field of a value that can have an owner. */
export function fieldsOf(value: unknown, rule: FieldRule): FieldSet {
  if (rule.atomic === true) return leaf;
  const children: Record<string, FieldSet> = {};
  if (Array.isArray(value)) {
    if (!hasItems(rule)) return leaf;
    for (const item of value) {
      const below = rule.set === true ? leaf : fieldsOf(item, ruleOfItem(rule));
      children[keyOfItem(rule, item)] = rule.items?.atomic === true ? leaf : { [itself]: leaf, ...below };
    }
    if (rule.set === true) for (const key in children) children[key] = leaf;
  } else if (isFields(value)) {
    for (const name in value) {
      if (value[name] !== undefined) children[`f:${name}`] = fieldsOf(value[name], ruleOfField(rule, name));
    }
  }
  return children;
}

export interface Changes {
  /** Fields that are new or have another value. */
  readonly changed: FieldSet | undefined;
  readonly removed: FieldSet | undefined;
}

const noChanges: Changes = { changed: undefined, removed: undefined };

/** What makes a difference between two values of the same field. */
export function changesBetween(before: unknown, after: unknown, rule: FieldRule): Changes {
  if (before === after) return noChanges;
  if (rule.atomic !== true && isFields(before) && isFields(after)) {
    return changesBelow(elementsOfObject(before, rule), elementsOfObject(after, rule));
  }
  if (rule.atomic !== true && Array.isArray(before) && Array.isArray(after) && hasItems(rule)) {
    return changesBelow(elementsOfList(before, rule), elementsOfList(after, rule));
  }
  return equal(before, after) ? noChanges : { changed: leaf, removed: undefined };
}

interface Element {
  readonly value: unknown;
  readonly rule: FieldRule;
  /** An item of a list is a field itself, besides what is in it. */
  readonly item: boolean;
}

function elementsOfObject(value: Fields, rule: FieldRule): Map<string, Element> {
  const elements = new Map<string, Element>();
  for (const name in value) {
    if (value[name] === undefined) continue;
    elements.set(`f:${name}`, { value: value[name], rule: ruleOfField(rule, name), item: false });
  }
  return elements;
}

function elementsOfList(value: readonly unknown[], rule: FieldRule): Map<string, Element> {
  const below = rule.set === true ? { atomic: true } : ruleOfItem(rule);
  return new Map(value.map((item) => [keyOfItem(rule, item), { value: item, rule: below, item: true }]));
}

function wholeOf({ value, rule, item }: Element): FieldSet {
  const below = fieldsOf(value, rule);
  return item && rule.atomic !== true ? { [itself]: leaf, ...below } : below;
}

function changesBelow(before: Map<string, Element>, after: Map<string, Element>): Changes {
  const changed: Record<string, FieldSet> = {};
  const removed: Record<string, FieldSet> = {};
  for (const [key, element] of after) {
    const old = before.get(key);
    const below =
      old === undefined
        ? { changed: wholeOf(element), removed: undefined }
        : changesBetween(old.value, element.value, element.rule);
    if (below.changed !== undefined) changed[key] = below.changed;
    if (below.removed !== undefined) removed[key] = below.removed;
  }
  for (const [key, element] of before) if (!after.has(key)) removed[key] = wholeOf(element);
  return { changed: node(false, changed), removed: node(false, removed) };
}

/** The value without the members of a set. Undefined when nothing is left of it. */
export function withoutFields(value: unknown, set: FieldSet, rule: FieldRule): unknown {
  if (rule.atomic === true) return value;
  if (Array.isArray(value)) {
    if (!hasItems(rule)) return value;
    const rest = value.flatMap((item) => {
      const below = set[keyOfItem(rule, item)];
      if (below === undefined) return [item];
      return isMember(below) ? [] : [withoutFields(item, below, ruleOfItem(rule))];
    });
    return rest.length === 0 ? undefined : rest;
  }
  if (!isFields(value)) return value;
  const rest: Record<string, unknown> = {};
  for (const name in value) {
    const below = set[`f:${name}`];
    if (below === undefined) rest[name] = value[name];
    else if (!isMember(below)) {
      const left = withoutFields(value[name], below, ruleOfField(rule, name));
      if (left !== undefined) rest[name] = left;
    }
  }
  for (const _ in rest) return rest;
  return undefined;
}

/** `.spec.replicas`, `.spec.ports[port=6379]`: for messages. */
export function pathsOf(set: FieldSet, at = ''): string[] {
  const below = Object.entries(set).flatMap(([key, child]) => {
    if (key === itself) return [];
    return pathsOf(child, key.startsWith('f:') ? `${at}.${key.slice(2)}` : `${at}[${key.slice(2)}]`);
  });
  return isMember(set) ? [at, ...below] : below;
}
