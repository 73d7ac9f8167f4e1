/**
 * What still counts of a spec that is not valid: the fields that are read alone, with defaults for the others. One among
 * them that is not valid itself makes all of them illegible.
 */
import type { Cluster, CommonSpec } from '../api/cluster.ts';
import type { KindDefinition } from '../api/kind.ts';
import type { KubeObject } from '../api/object.ts';
import { validateCluster } from '../api/validate.ts';
import type { Violation } from '../api/violation.ts';
import type { KindHandler } from '../engine/engine.ts';
import type { Outcome } from '../plan/plan.ts';

/** Undefined where one of the fields is not valid. Fields that a kind does not know are left out. */
export function parsePartial(
  kind: KindDefinition,
  object: KubeObject,
  fields: readonly string[],
): Cluster<CommonSpec> | undefined {
  const written = (object.spec ?? {}) as Readonly<Record<string, unknown>>;
  const spec = Object.fromEntries(
    fields.flatMap((field) => (written[field] === undefined ? [] : [[field, written[field]]])),
  );
  const verdict = validateCluster(kind, { ...object, spec }, { unknown: 'prune' });
  return verdict.ok ? (verdict.cluster as Cluster<CommonSpec>) : undefined;
}

/**
 * Of a cluster that is deleted: whether its data goes, whether that is its own, what its last backup needs, and which
 * Secrets are its own. Where not even that can be read, the data stays. Otherwise it could never end.
 */
export function deletionSpec(kind: KindDefinition, object: KubeObject): Cluster<CommonSpec> | undefined {
  const fields = ['deletionPolicy', 'storage', 'bootstrap', 'auth', 'tls', 'backup', 'cluster', 'name', 'owner'];
  // A backup asks other processes than there are where these are not known.
  const shape = ['mode', 'replicas'];
  // While it is waited for, certificates are renewed, with the names that clients connect by.
  const names = ['access', 'pooler'];
  const withNames = [[...shape, ...names], names, [...shape, 'access'], ['access'], [...shape, 'pooler'], ['pooler']];
  const tries = [...[...withNames, shape, []].map((more) => [...fields, ...more]), []];
  for (const legible of tries) {
    const spec = parsePartial(kind, object, legible);
    if (spec !== undefined) return spec;
  }
  return undefined;
}

/** What goes on all the same rests on this; undefined where that is not valid either, or nothing is to be changed. */
export function maintenanceSpec(
  { kind, maintenance }: Pick<KindHandler, 'kind' | 'maintenance'>,
  object: KubeObject,
): Cluster<CommonSpec> | undefined {
  const legible = parsePartial(kind, object, [...(maintenance?.fields ?? []), 'paused']);
  return legible?.spec.paused === true ? undefined : legible;
}

/** What is said of such a spec: every rule that it breaks. */
export function invalidSpec(violations: readonly Violation[]): Extract<Outcome, { state: 'blocked' }> {
  const message = violations.map(({ path, message }) => `${path}: ${message}`).join('; ');
  return { state: 'blocked', reason: 'InvalidSpec', message };
}
