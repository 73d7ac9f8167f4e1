/** Patches: JSON merge patch, JSON patch, and the merge of server-side apply. None changes its input. */

import { type FieldRule, hasItems, keyOfItem, ruleOfField, ruleOfItem } from './field-rules.ts';
import { equal, isFields } from './fields.ts';
import { badRequest, Refusal } from './refusal.ts';

/** RFC 7386. */
export function mergePatched(target: unknown, patch: unknown): unknown {
  if (!isFields(patch)) return patch;
  const result: Record<string, unknown> = isFields(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = mergePatched(result[key], value);
  }
  return result;
}

export interface JsonPatchStep {
  readonly op: string;
  readonly path: string;
  readonly value?: unknown;
}

/** RFC 6902, without `move` and `copy`. A test that fails, or a path that is not there, refuses the whole. */
export function jsonPatched(target: unknown, steps: readonly JsonPatchStep[]): unknown {
  return steps.reduce((value, step) => {
    const path = step.path
      .split('/')
      .slice(1)
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
    return patchedAt(value, path, step);
  }, target);
}

function patchedAt(value: unknown, path: readonly string[], step: JsonPatchStep): unknown {
  const [first, ...rest] = path;
  if (first === undefined) {
    if (step.op === 'test' && !equal(value, step.value)) throw failed(`testing value ${step.path} failed`);
    return step.op === 'test' ? value : step.value;
  }
  if (Array.isArray(value)) return patchedItem(value, first, rest, step);
  if (!isFields(value)) throw failed(`doc is missing path: ${step.path}`);
  const isLast = rest.length === 0;
  if (!(first in value) && !(isLast && (step.op === 'add' || (step.op === 'test' && step.value === null)))) {
    throw failed(`doc is missing path: ${step.path}`);
  }
  if (isLast && step.op === 'remove') {
    const { [first]: _, ...others } = value;
    return others;
  }
  return { ...value, [first]: patchedAt(value[first], rest, step) };
}

function patchedItem(list: readonly unknown[], key: string, rest: readonly string[], step: JsonPatchStep): unknown {
  const at = key === '-' ? list.length : Number(key);
  const isInsert = rest.length === 0 && step.op === 'add';
  if (!Number.isInteger(at) || at < 0 || at > list.length || (at === list.length && !isInsert)) {
    throw failed(`doc is missing path: ${step.path}`);
  }
  if (isInsert) return list.toSpliced(at, 0, step.value);
  if (rest.length === 0 && step.op === 'remove') return list.toSpliced(at, 1);
  return list.with(at, patchedAt(list[at], rest, step));
}

const failed = (why: string): Refusal =>
  new Refusal(422, 'Invalid', `the server rejected our request due to an error in our request: ${why}`);

/** What is applied over what is there: the applied value where there is one, item by item in lists with keys. */
export function mergedByFields(live: unknown, wanted: unknown, rule: FieldRule): unknown {
  if (live === undefined || rule.atomic === true) return wanted;
  if (isFields(live) && isFields(wanted)) {
    const result: Record<string, unknown> = { ...live };
    for (const name in wanted) {
      if (wanted[name] !== undefined) result[name] = mergedByFields(live[name], wanted[name], ruleOfField(rule, name));
    }
    return result;
  }
  if (Array.isArray(live) && Array.isArray(wanted) && hasItems(rule)) return mergedItems(live, wanted, rule);
  return wanted;
}

/** In the order of the wish; an item that only the live list has keeps its place behind those before it. */
function mergedItems(live: readonly unknown[], wanted: readonly unknown[], rule: FieldRule): unknown[] {
  const below = ruleOfItem(rule);
  const liveByKey = new Map(live.map((item) => [keyOfItem(rule, item), item]));
  const wantedByKey = new Map(wanted.map((item) => [keyOfItem(rule, item), item]));
  if (wantedByKey.size < wanted.length) {
    throw badRequest('failed to create typed patch object: duplicate entries for key');
  }
  const liveKeys = [...liveByKey.keys()];
  const result: unknown[] = [];
  let at = 0;
  const takeLiveOnly = (): void => {
    for (let key = liveKeys[at]; key !== undefined && !wantedByKey.has(key); key = liveKeys[++at]) {
      result.push(liveByKey.get(key));
    }
  };
  for (const [key, item] of wantedByKey) {
    takeLiveOnly();
    result.push(rule.set === true ? item : mergedByFields(liveByKey.get(key), item, below));
    if (liveByKey.has(key))
      while (at < liveKeys.length && liveKeys[at] !== key && wantedByKey.has(liveKeys[at] ?? '')) at++;
    if (liveKeys[at] === key) at++;
  }
  for (; at < liveKeys.length; at++) {
    const key = liveKeys[at] ?? '';
    if (!wantedByKey.has(key)) result.push(liveByKey.get(key));
  }
  return result;
}
