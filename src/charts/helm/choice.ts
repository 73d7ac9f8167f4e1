/**
 * Two templates as one, which is rendered as the first where a condition holds, and else as the second. What both have
 * is written once.
 */
import type { Entry, Guard, Item, Template } from './template.ts';

export function choose(condition: string, held: Template, otherwise: Template): Template {
  const both = { held: guarded(condition, true), otherwise: guarded(condition, false) };
  return merged(both, held, otherwise);
}

interface Sides {
  readonly held: <T extends Item>(item: T) => T;
  readonly otherwise: <T extends Item>(item: T) => T;
}

function guarded(condition: string, holds: boolean) {
  const guard: Guard = { type: 'if', condition, holds };
  return <T extends Item>(item: T): T => ({ ...item, guards: [guard, ...item.guards] });
}

function merged(sides: Sides, held: Template, otherwise: Template): Template {
  if (isSame(held, otherwise)) return held;
  if (held.type === 'list' && otherwise.type === 'list') {
    return { type: 'list', items: aligned(sides, held.items, otherwise.items, identityOf) };
  }
  if (held.type === 'map' && otherwise.type === 'map' && held.others === otherwise.others) {
    const entries = aligned<Entry>(sides, held.entries, otherwise.entries, ({ key, guards }) => json([key, guards]));
    return { ...held, entries };
  }
  throw new Error(`no place for a condition between ${json(held)} and ${json(otherwise)}`);
}

/** In the order of both: items that are the same thing on both sides are merged, others get a guard. */
function aligned<T extends Item>(
  sides: Sides,
  held: readonly T[],
  otherwise: readonly T[],
  identity: (item: T) => string,
): T[] {
  const [first, ...rest] = held;
  if (first === undefined) return otherwise.map(sides.otherwise);
  const place = otherwise.findIndex((item) => identity(item) === identity(first));
  const twin = otherwise[place];
  if (twin === undefined) return [sides.held(first), ...aligned(sides, rest, otherwise, identity)];
  const before = otherwise.slice(0, place).map(sides.otherwise);
  const after = aligned(sides, rest, otherwise.slice(place + 1), identity);
  if (canMerge(first.template, twin.template)) {
    return [...before, { ...first, template: merged(sides, first.template, twin.template) }, ...after];
  }
  return [...before, sides.held(first), sides.otherwise(twin), ...after];
}

function canMerge(held: Template, otherwise: Template): boolean {
  if (isSame(held, otherwise)) return true;
  if (held.type === 'map' && otherwise.type === 'map') return held.others === otherwise.others;
  return held.type === 'list' && otherwise.type === 'list';
}

/** Kubernetes objects by kind and name, entries of lists by their name, anything else by all that it is. */
function identityOf({ template, guards }: Item): string {
  const field = (of: Template | undefined, name: string): Template | undefined =>
    of?.type === 'map' ? of.entries.find(({ key }) => key === name)?.template : undefined;
  const metadata = field(template, 'metadata');
  const [kind, name] = [field(template, 'kind'), field(metadata ?? template, 'name')];
  if (name === undefined) return json([template, guards]);
  return json([kind, name, field(metadata, 'namespace'), guards]);
}

const json = (value: unknown): string => JSON.stringify(value);
const isSame = (a: Template, b: Template): boolean => json(a) === json(b);
