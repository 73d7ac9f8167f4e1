/**
 * Validation and defaulting of a custom resource outside the API server: at synth, in the CLI and in the controller.
 *
 * The verdict and the defaults are the API server's own, which a table of objects run through both holds true. The steps
 * are its steps too: metadata, unknown fields, nulls, defaults, the schema, and CEL only on what the schema accepts. One
 * thing is stricter: an update does not excuse a value that was already invalid before.
 */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { brokenRules } from './cel.ts';
import type { Cluster } from './cluster.ts';
import type { KindDefinition } from './kind.ts';
import { metadataViolations, tidyMetadata } from './metadata.ts';
import { apiVersionOf } from './object.ts';
import { prune } from './prune.ts';
import { displayPath, type Path, type Violation } from './violation.ts';

export type Verdict =
  | { readonly ok: true; readonly cluster: Cluster }
  | { readonly ok: false; readonly violations: readonly Violation[] };

export interface ValidateOptions {
  /** The object as it was before, for rules on what may change. */
  readonly old?: unknown;
  /** Unknown fields: refused, as by `kubectl apply`, or dropped, as the API server does by itself. Default `reject`. */
  readonly unknown?: 'reject' | 'prune';
  /** Where the object names no namespace. Default `default`. */
  readonly namespace?: string;
}

export function validateCluster(kind: KindDefinition, object: unknown, options: ValidateOptions = {}): Verdict {
  const { resource } = kind;
  if (!isRecord(object)) return refused('', 'type object', 'must be an object');
  if (object.apiVersion !== apiVersionOf(resource)) {
    return refused('apiVersion', 'enum', `must be ${apiVersionOf(resource)}`);
  }
  if (object.kind !== resource.kind) return refused('kind', 'enum', `must be ${resource.kind}`);

  const { value: candidate, unknown } = defaulted(kind, object, options.namespace ?? 'default');
  const violations: Violation[] = metadataViolations(object.metadata, options.unknown !== 'prune');
  if (options.unknown !== 'prune') {
    for (const path of unknown) {
      violations.push({ path: displayPath(path), rule: 'known field', message: 'unknown field' });
    }
  }
  violations.push(...schemaViolations(kind, candidate));
  if (violations.length === 0) {
    const old = isRecord(options.old) ? defaulted(kind, options.old, 'default').value : undefined;
    violations.push(...ruleViolations(kind, candidate, old));
  }
  return violations.length === 0
    ? { ok: true, cluster: candidate as unknown as Cluster }
    : { ok: false, violations: violations.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0)) };
}

const refused = (path: string, rule: string, message: string): Verdict => ({
  ok: false,
  violations: [{ path, rule, message }],
});

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A pruned copy with all defaults filled in. Whether it is valid is another question. */
function defaulted(
  kind: KindDefinition,
  object: Readonly<Record<string, unknown>>,
  namespace: string,
): { readonly value: Record<string, unknown>; readonly unknown: readonly Path[] } {
  const { apiVersion, kind: kindName, metadata, ...content } = object;
  const pruned = prune(kind.schema, content);
  const value = {
    apiVersion,
    kind: kindName,
    metadata: tidyMetadata(metadata, namespace),
    ...(pruned.value as Readonly<Record<string, unknown>>),
  };
  compiled(kind)(value);
  return { value, unknown: pruned.unknown };
}

const validators = new WeakMap<KindDefinition, ValidateFunction>();

/** Fills in defaults in place, then checks. Compiled when the first object of the kind comes by. */
function compiled(kind: KindDefinition): ValidateFunction {
  const known = validators.get(kind);
  if (known !== undefined) return known;
  const ajv = new Ajv({
    useDefaults: true,
    allErrors: true,
    // An int-or-string node has no type, yet a pattern.
    strictTypes: false,
    formats: { int64: true, 'date-time': true },
  });
  ajv.addVocabulary([
    'x-kubernetes-validations',
    'x-kubernetes-int-or-string',
    'x-kubernetes-list-type',
    'x-kubernetes-list-map-keys',
    'x-kubernetes-preserve-unknown-fields',
  ]);
  // The status is not the user's: the API server drops it from what they write.
  const { status: _, ...properties } = kind.schema.properties ?? {};
  const validate = ajv.compile({ ...kind.schema, properties });
  validators.set(kind, validate);
  return validate;
}

function schemaViolations(kind: KindDefinition, candidate: unknown): Violation[] {
  const validate = compiled(kind);
  if (validate(candidate)) return [];
  return (validate.errors ?? [])
    .filter((error) => !error.schemaPath.includes('/anyOf/'))
    .map((error) => ({ path: displayPath(pathOf(error, candidate)), ...wording(error) }));
}

/** ajv gives a JSON pointer; whether a part is a list position depends on the object. */
function pathOf(error: ErrorObject, root: unknown): Path {
  const path: (string | number)[] = [];
  let at: unknown = root;
  for (const raw of error.instancePath.split('/').slice(1)) {
    const key = raw.replaceAll('~1', '/').replaceAll('~0', '~');
    path.push(Array.isArray(at) ? Number(key) : key);
    at = (at as Readonly<Record<string, unknown>>)[key];
  }
  if (error.keyword === 'required') path.push(String(error.params.missingProperty));
  return path;
}

function wording(error: ErrorObject): { readonly rule: string; readonly message: string } {
  switch (error.keyword) {
    case 'required':
      return { rule: 'required', message: 'is required' };
    case 'enum': {
      const allowed = (error.params.allowedValues as readonly unknown[]).join(', ');
      return { rule: `enum ${allowed}`, message: `must be one of ${allowed}` };
    }
    case 'anyOf':
      return { rule: 'type integer or string', message: 'must be an integer or a string' };
    case 'type':
      return { rule: `type ${error.params.type}`, message: `must be of type ${error.params.type}` };
    case 'pattern':
      return { rule: `pattern ${error.params.pattern}`, message: `must match ${error.params.pattern}` };
    default: {
      const limit = error.params.limit === undefined ? '' : ` ${error.params.limit}`;
      return { rule: `${error.keyword}${limit}`, message: error.message ?? 'is invalid' };
    }
  }
}

function ruleViolations(kind: KindDefinition, candidate: unknown, old: unknown): Violation[] {
  return brokenRules(kind.schema, candidate, old).map(({ path, rule, cause }) => ({
    path: displayPath(path),
    rule: rule.rule,
    message: cause === undefined ? rule.message : `${rule.message} (${cause instanceof Error ? cause.message : cause})`,
  }));
}
