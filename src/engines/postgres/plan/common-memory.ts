/** Settings that need memory follow from what every member starts with: a template with a larger limit may wait for its window. */
import type { Cluster } from '../../../api/cluster.ts';
import { compareQuantities } from '../../../api/quantity.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import type { Situation } from '../observe/situation.ts';

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

/**
 * The cluster with the smallest memory limit of its spec and of the templates of its members. While that is less than the spec's, a larger value
 * of the user's waits: it stays as Patroni has it.
 */
export function withCommonMemory({
  cluster,
  sets,
  observed,
}: Pick<Situation, 'cluster' | 'sets' | 'observed'>): Cluster<PostgresSpec> {
  const { spec } = cluster;
  const { limits } = spec.resources;
  const written = [...sets.values()].flatMap((set) => {
    const containers = set.spec?.template?.spec?.containers ?? [];
    return containers.find(({ name }) => name === 'postgres')?.resources?.limits?.memory ?? [];
  });
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

function parametersIn(config: Situation['observed']['config']): Readonly<Record<string, unknown>> {
  const { postgresql = {} } = (config ?? {}) as { readonly postgresql?: { readonly parameters?: object } };
  return (postgresql.parameters ?? {}) as Readonly<Record<string, unknown>>;
}
