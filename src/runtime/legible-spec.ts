/**
 * What still counts of a spec that is not valid: the fields that are read alone, with defaults for the others. One among
 * them that is not valid itself makes all of them illegible.
 */
import type { Cluster, CommonSpec } from '../api/cluster.ts';
import type { KindDefinition } from '../api/kind.ts';
import type { KubeObject } from '../api/object.ts';
import { validateCluster } from '../api/validate.ts';

/** Undefined where one of the fields is not valid. Fields that a kind does not know are left out. */
export function readAlone(
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
 * Of a cluster that is deleted: whether its data goes, what its last backup needs, and which Secrets are its own. Where
 * not even that can be read, the data stays. Otherwise it could never end.
 */
export function lastWill(kind: KindDefinition, object: KubeObject): Cluster<CommonSpec> | undefined {
  return readAlone(kind, object, ['deletionPolicy', 'auth', 'tls', 'backup']) ?? readAlone(kind, object, []);
}
