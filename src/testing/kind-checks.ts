/** The kind of an engine, and its samples. */
import { isDeepStrictEqual } from 'node:util';
import { apiVersionOf } from '../api/object.ts';
import { unobservedStatus } from '../api/observed-generation.ts';
import { storageRules } from '../api/storage.ts';
import { validateCluster } from '../api/validate.ts';
import type { KindHandler } from '../engine/engine.ts';
import type { EngineCheck } from './check.ts';
import type { EngineSample } from './sample.ts';

export const kindChecks: readonly EngineCheck[] = [
  { name: 'there are samples, and each is a valid cluster of the kind with a UID', problems: invalid },
  { name: 'an empty spec is valid', problems: demanding },
  { name: 'the schema requires spec, without a default, and has a status', problems: misshapen },
  { name: 'the default of the status says that nobody has looked', problems: unmarked },
  { name: 'the kind offers no backup that cannot be taken', problems: promising },
  { name: 'a kind with spec.storage has storageRules', problems: unruled },
];

function verdictOn({ kind }: KindHandler, object: unknown): string[] {
  const verdict = validateCluster(kind, object);
  return verdict.ok ? [] : verdict.violations.map(({ path, message }) => `${path}: ${message}`);
}

function invalid(engine: KindHandler, samples: readonly EngineSample[]): string[] {
  if (samples.length === 0) return ['there is no sample'];
  return samples.flatMap(({ story, cluster }) => [
    ...verdictOn(engine, cluster).map((problem) => `${story}: ${problem}`),
    ...(cluster.metadata.uid === undefined ? [`${story}: metadata.uid is missing`] : []),
  ]);
}

function demanding(engine: KindHandler): string[] {
  const { resource } = engine.kind;
  const object = { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata: { name: 'sample' }, spec: {} };
  return verdictOn(engine, object);
}

function misshapen({ kind: { schema } }: KindHandler): string[] {
  const { spec, status } = schema.properties ?? {};
  return [
    ...(spec === undefined || status === undefined ? ['the schema has no spec or no status'] : []),
    ...(schema.required?.includes('spec') === true ? [] : ['`required` does not contain spec']),
    ...(spec?.default === undefined ? [] : ['spec has a default']),
  ];
}

function unmarked({ kind: { schema } }: KindHandler): string[] {
  const status = schema.properties?.status;
  if (status === undefined || isDeepStrictEqual(status.default, unobservedStatus)) return [];
  return [`status has no default ${JSON.stringify(unobservedStatus)}: Flux takes a new resource for one that is ready`];
}

function promising({ kind, backup }: KindHandler): string[] {
  const { deletionPolicy, bootstrap, backup: policy } = kind.schema.properties?.spec?.properties ?? {};
  if (backup !== undefined) return [];
  return [
    ...(deletionPolicy?.enum?.includes('Snapshot') === true
      ? ['spec.deletionPolicy has the value Snapshot, and the engine has no `backup`']
      : []),
    ...(bootstrap === undefined ? [] : ['there is spec.bootstrap, and the engine has no `backup`']),
    ...(policy === undefined ? [] : ['there is spec.backup, and the engine has no `backup`']),
  ];
}

function unruled({ kind: { schema } }: KindHandler): string[] {
  if (schema.properties?.spec?.properties?.storage === undefined) return [];
  const rules = schema['x-kubernetes-validations'] ?? [];
  const isThere = storageRules.every(({ rule }) => rules.some((each) => each.rule === rule));
  return isThere ? [] : ['`x-kubernetes-validations` of the whole object does not contain storageRules'];
}
