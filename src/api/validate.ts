/**
 * Validation and defaulting of a custom resource outside the API server: at synth, in the CLI and in the controller.
 *
 * The verdict and the defaults are the API server's own, which a table of objects run through both holds true. The steps
 * are its steps too: metadata, unknown fields, nulls, defaults, the schema, and CEL only on what the schema accepts. Two
 * things are stricter: an update does not excuse a value that was already invalid before, and a value whose form the
 * schema leaves open (an affinity) has a bound on its length. One is not: of stored objects, defaults of earlier versions are accepted.
 */
import { celViolations } from './cel.ts';
import { schemaViolations, withDefaults } from './check.ts';
import type { Cluster } from './cluster.ts';
import { withoutEarlierDefaults } from './earlier-defaults.ts';
import type { KindDefinition } from './kind.ts';
import { metadataViolations, tidyMetadata } from './metadata.ts';
import { apiVersionOf } from './object.ts';
import { prune } from './prune.ts';
import type { StructuralSchema } from './schema.ts';
import { displayPath, type Path, type Violation } from './violation.ts';

export type Verdict =
  | { readonly ok: true; readonly cluster: Cluster }
  | { readonly ok: false; readonly violations: readonly Violation[] };

export interface ValidateOptions {
  /** The object as it was before, for rules on what may change. */
  readonly old?: unknown;
  /**
   * Unknown fields: refused, as by `kubectl apply`, or dropped, as the API server does by itself, from which such an object comes. Default
   * `reject`.
   */
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

  const { value: candidate, unknown } = defaulted(
    kind,
    options.unknown === 'prune' ? withoutEarlierDefaults(object) : object,
    options.namespace ?? 'default',
  );
  const violations: Violation[] = metadataViolations(object.metadata, options.unknown !== 'prune');
  if (options.unknown !== 'prune') {
    for (const path of unknown) {
      violations.push({ path: displayPath(path), rule: 'known field', message: 'unknown field' });
    }
  }
  violations.push(...kindViolations(kind, candidate));
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
    ...(withDefaults(withoutStatus(kind), pruned.value) as Readonly<Record<string, unknown>>),
  };
  return { value, unknown: pruned.unknown };
}

/** The status is not the user's: the API server drops it from what they write, and fills in its default when the object is read. */
function withoutStatus(kind: KindDefinition): StructuralSchema {
  const { status: _, ...properties } = kind.schema.properties ?? {};
  return { ...kind.schema, properties };
}

function kindViolations(kind: KindDefinition, candidate: unknown): Violation[] {
  return schemaViolations(withoutStatus(kind), candidate).map(({ path, rule, message }) => ({
    path: displayPath(path),
    rule,
    message,
  }));
}

function ruleViolations(kind: KindDefinition, candidate: unknown, old: unknown): Violation[] {
  return celViolations(kind.schema, candidate, old).map(({ path, rule, message, cause }) => ({
    path: displayPath(path),
    rule: rule.rule,
    message: cause === undefined ? message : `${message} (${cause instanceof Error ? cause.message : cause})`,
  }));
}
