/**
 * The CEL rules of a schema, evaluated outside the API server with the same outcome.
 *
 * Rules may use the standard library plus `quantity(s)`, `compareTo` and `replace`; the API server stays the oracle, and
 * the tests hold the two against each other. Every rule is parsed once, when the first object of its kind comes by.
 */
import { Environment, type ParseResult } from '@marcbachmann/cel-js';
import { schemaOfKey } from './prune.ts';
import { thousandths } from './quantity.ts';
import { type CelRule, celName, type StructuralSchema } from './schema.ts';
import type { Path } from './violation.ts';

export interface BrokenRule {
  readonly path: Path;
  readonly rule: CelRule;
  /** What the API server answers. */
  readonly message: string;
  /** Set when the rule could not be evaluated, which also counts as broken. */
  readonly cause?: unknown;
}

class Quantity {
  readonly thousandths: bigint;
  constructor(amount: bigint) {
    this.thousandths = amount;
  }
}

const environment = new Environment()
  .registerVariable('self', 'dyn')
  .registerVariable('oldSelf', 'dyn')
  .registerType('Quantity', Quantity)
  .registerFunction('quantity(string): Quantity', (text: string) => new Quantity(thousandths(text)))
  .registerFunction('Quantity.compareTo(Quantity): int', (a: Quantity, b: Quantity) =>
    a.thousandths < b.thousandths ? -1n : a.thousandths > b.thousandths ? 1n : 0n,
  )
  .registerFunction('string.findAll(string): list<string>', (text: string, pattern: string) =>
    (text.match(new RegExp(pattern, 'gu')) ?? []).map(String),
  )
  .registerFunction('string.replace(string, string): string', (text: string, from: string, to: string) =>
    text.replaceAll(from, to),
  );

const parsed = new Map<string, ParseResult>();

function evaluate(rule: string, context: Record<string, unknown>): unknown {
  let run = parsed.get(rule);
  if (run === undefined) {
    run = environment.parse(rule);
    parsed.set(rule, run);
  }
  return run(context);
}

/** As the API server: an expression that fails, or that gives no text, counts as none. */
function messageOf({ message, messageExpression }: CelRule, context: Record<string, unknown>): string {
  if (messageExpression === undefined) return message;
  try {
    const said = evaluate(messageExpression, context);
    return typeof said === 'string' && said.trim() !== '' ? said : message;
  } catch {
    return message;
  }
}

/** CEL tells integers from doubles, JavaScript does not: the schema decides. */
function celValue(schema: StructuralSchema, value: unknown): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined ? value : value.map((item) => celValue(items, item));
  }
  if (typeof value === 'object' && value !== null) {
    return new Map(
      Object.entries(value).flatMap(([key, child]): [string, unknown][] => {
        const childSchema = schemaOfKey(schema, key);
        if (childSchema === undefined) return [];
        const name = schema.properties === undefined ? key : celName(key);
        return [[name, celValue(childSchema, child)]];
      }),
    );
  }
  const isInteger = schema.type === 'integer' || schema['x-kubernetes-int-or-string'] === true;
  return isInteger && typeof value === 'number' ? BigInt(value) : value;
}

const mentionsOldSelf = (rule: CelRule): boolean => /\boldSelf\b/.test(rule.rule);

/**
 * All rules that `value` breaks, given what it was before. Both must be defaulted and fit the schema.
 *
 * A rule on `oldSelf` runs only where the old object had that node too. Items of a list have no old value: ours are
 * atomic, so the API server cannot tell which item was which either.
 */
export function celViolations(schema: StructuralSchema, value: unknown, old?: unknown, path: Path = []): BrokenRule[] {
  const rules = schema['x-kubernetes-validations'] ?? [];
  const self = rules.length === 0 ? undefined : celValue(schema, value);
  const own = rules.flatMap((rule): BrokenRule[] => {
    const isTransition = mentionsOldSelf(rule);
    if (isTransition && old === undefined) return [];
    const context: Record<string, unknown> = { self };
    if (isTransition) context.oldSelf = celValue(schema, old);
    const at = [...path, ...(rule.fieldPath ?? '').split('.').filter((part) => part !== '')];
    try {
      return evaluate(rule.rule, context) === true ? [] : [{ path: at, rule, message: messageOf(rule, context) }];
    } catch (cause) {
      return [{ path: at, rule, message: rule.message, cause }];
    }
  });
  return [...own, ...brokenBelow(schema, value, old, path)];
}

function brokenBelow(schema: StructuralSchema, value: unknown, old: unknown, path: Path): BrokenRule[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return [];
    return value.flatMap((item, i) => celViolations(items, item, undefined, [...path, i]));
  }
  if (typeof value !== 'object' || value === null) return [];
  const before = typeof old === 'object' && old !== null ? (old as Readonly<Record<string, unknown>>) : {};
  return Object.entries(value).flatMap(([key, child]) => {
    const childSchema = schemaOfKey(schema, key);
    if (childSchema === undefined) return [];
    return celViolations(childSchema, child, Object.hasOwn(before, key) ? before[key] : undefined, [...path, key]);
  });
}
