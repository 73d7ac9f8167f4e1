/**
 * The version that the data of a cluster has. The spec may name a later one already: until the data is upgraded, every
 * template keeps the old version and the image that runs it, so that a pod that starts again starts what its data is fit for.
 */
import type { Cluster } from '../../../api/cluster.ts';
import type { Claim, StatefulSet } from '../../../resources/children.ts';
import type { Major, PostgresSpec } from '../kind/schema.ts';
import { versionAnnotation } from '../names.ts';
import { majorOf, type ReadRecord, readVersion } from '../resources/upgrade-record.ts';

export interface WrittenDown {
  /** Data of the roster's ConfigMap. */
  readonly written: Readonly<Record<string, string>>;
  readonly upgrade: ReadRecord;
  readonly sets: readonly StatefulSet[];
  /** Those that are not retired. */
  readonly claims: readonly Claim[];
}

const versionLabel = 'app.kubernetes.io/version';

export function runningCluster(wanted: Cluster<PostgresSpec>, down: WrittenDown): Cluster<PostgresSpec> {
  const version = dataVersion(down) ?? wanted.spec.version;
  if (version === wanted.spec.version) return wanted;
  const image = imageOf(down, version);
  return { ...wanted, spec: { ...wanted.spec, version, ...(image === undefined ? {} : { image }) } };
}

/** The roster says it. Where somebody has deleted that, templates and volumes do. */
function dataVersion({ written, sets, claims }: WrittenDown): Major | undefined {
  const said = readVersion(written);
  if (said !== undefined) return said;
  const others = [
    ...sets.map((set) => majorOf(set.metadata.labels?.[versionLabel])),
    ...claims.map((claim) => majorOf(claim.metadata.annotations?.[versionAnnotation])),
  ];
  return others.flatMap((major) => major ?? []).sort()[0];
}

/** Undefined: nothing runs that has told, so it is as the spec says. */
function imageOf({ sets, upgrade }: WrittenDown, version: Major): string | undefined {
  if (upgrade.state === 'read' && upgrade.record.to === version) return upgrade.record.image;
  const set = sets.find(({ metadata }) => majorOf(metadata.labels?.[versionLabel]) === version);
  return set?.spec?.template?.spec?.containers?.find(({ name }) => name === 'postgres')?.image;
}
