/** Settings that need memory follow from what every member starts with: a template with a larger limit may wait for its window. */
import type { Cluster } from '../../../api/cluster.ts';
import { compareQuantities } from '../../../api/quantity.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import type { Situation } from '../observe/situation.ts';

/** A server takes all of it when it starts. */
const sizing = 'shared_buffers';

/**
 * The cluster with the smallest memory limit of its spec and of the templates of its members. While that is less than the spec's, a value of the
 * user's stays as Patroni has it.
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
  const isKept = sizing in spec.parameters && typeof present === 'string';
  const parameters = isKept ? { ...spec.parameters, [sizing]: present } : spec.parameters;
  const resources = { ...spec.resources, limits: { ...limits, memory } };
  return { ...cluster, spec: { ...spec, parameters, resources } };
}

function parametersIn(config: Situation['observed']['config']): Readonly<Record<string, unknown>> {
  const { postgresql = {} } = (config ?? {}) as { readonly postgresql?: { readonly parameters?: object } };
  return (postgresql.parameters ?? {}) as Readonly<Record<string, unknown>>;
}
