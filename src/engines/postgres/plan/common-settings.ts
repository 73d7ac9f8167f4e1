/** Settings that need what a template brings, memory or libraries, follow from what every member starts with: a template may wait for its window. */
import type { Cluster } from '../../../api/cluster.ts';
import { compareQuantities } from '../../../api/quantity.ts';
import type { StatefulSet } from '../../../resources/children.ts';
import { libraryParameters } from '../kind/parameters.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import type { Situation } from '../observe/situation.ts';
import { postgresImage } from '../resources/pods.ts';

/** A server takes all of it when it starts. */
const sizing = 'shared_buffers';
/** PostgreSQL's documentation, "Parameter Names and Values". Without a unit it counts blocks. */
const units: Readonly<Record<string, number>> = {
  B: 1,
  kB: 1024,
  MB: 1024 ** 2,
  GB: 1024 ** 3,
  TB: 1024 ** 4,
  '': 8192,
};

type Facts = Pick<Situation, 'cluster' | 'sets' | 'observed'>;

/** The cluster with settings with which every member can start by the template that it has. */
export function withCommonSettings(facts: Facts): Cluster<PostgresSpec> {
  return withCommonMemory({ ...facts, cluster: withCommonLibraries(facts) });
}

/**
 * The smallest memory limit of the spec and of the templates of the members. While that is less than the spec's, a larger value
 * of the user's waits: it stays as Patroni has it.
 */
function withCommonMemory({ cluster, sets, observed }: Facts): Cluster<PostgresSpec> {
  const { spec } = cluster;
  const { limits } = spec.resources;
  const written = [...sets.values()].flatMap((set) => containerOf(set)?.resources?.limits?.memory ?? []);
  const memory = [limits.memory, ...written].reduce((a, b) => (compareQuantities(b, a) < 0 ? b : a));
  if (compareQuantities(memory, limits.memory) === 0) return cluster;
  const present = parametersIn(observed.config)[sizing];
  const wanted = spec.parameters[sizing];
  const isKept = wanted !== undefined && typeof present === 'string' && !isLess(wanted, present);
  const parameters = isKept ? { ...spec.parameters, [sizing]: present } : spec.parameters;
  const resources = { ...spec.resources, limits: { ...limits, memory } };
  return { ...cluster, spec: { ...spec, parameters, resources } };
}

/** What nobody can compare is no less. */
function isLess(wanted: string, present: string): boolean {
  return (bytesOf(wanted) ?? Number.POSITIVE_INFINITY) < (bytesOf(present) ?? 0);
}

function bytesOf(value: string): number | undefined {
  const [, number, unit = ''] = /^\s*(\d{1,15}(?:\.\d{1,15})?)\s*([kMGT]?B)?\s*$/.exec(value) ?? [];
  const size = units[unit];
  return number === undefined || size === undefined ? undefined : Number(number) * size;
}

/**
 * A server does not start without a library that it is to load, nor does a session. While a template has another image, no library is added;
 * one that is not wanted any more goes, since the other image may be without it.
 */
function withCommonLibraries({ cluster, sets, observed }: Facts): Cluster<PostgresSpec> {
  const { spec } = cluster;
  const image = postgresImage(cluster);
  if ([...sets.values()].every((set) => containerOf(set)?.image === image)) return cluster;
  const present = parametersIn(observed.config);
  const parameters = Object.entries(spec.parameters).flatMap(([name, value]): [string, string][] => {
    if (!libraryParameters.includes(name)) return [[name, value]];
    const kept = librariesIn(present[name]).filter((library) => librariesIn(value).includes(library));
    return kept.length === 0 ? [] : [[name, kept.join(',')]];
  });
  return { ...cluster, spec: { ...spec, parameters: Object.fromEntries(parameters) } };
}

/** Names without a path: see `parametersSchema`. */
function librariesIn(value: unknown): readonly string[] {
  return typeof value === 'string' ? value.split(',').map((name) => name.trim()) : [];
}

function containerOf(set: StatefulSet) {
  return set.spec?.template?.spec?.containers?.find(({ name }) => name === 'postgres');
}

function parametersIn(config: Situation['observed']['config']): Readonly<Record<string, unknown>> {
  const { postgresql = {} } = (config ?? {}) as { readonly postgresql?: { readonly parameters?: object } };
  return (postgresql.parameters ?? {}) as Readonly<Record<string, unknown>>;
}
