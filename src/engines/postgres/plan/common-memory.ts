/** Settings that follow from the memory of a member follow from what every member starts with: a larger template may wait for its window. */
import type { Cluster } from '../../../api/cluster.ts';
import { compareQuantities } from '../../../api/quantity.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import type { Situation } from '../observe/situation.ts';

/** The cluster with the smallest memory limit of its spec and of the templates of its members. */
export function withCommonMemory({ cluster, sets }: Pick<Situation, 'cluster' | 'sets'>): Cluster<PostgresSpec> {
  const { spec } = cluster;
  const { limits } = spec.resources;
  const written = [...sets.values()].flatMap((set) => {
    const containers = set.spec?.template?.spec?.containers ?? [];
    return containers.find(({ name }) => name === 'postgres')?.resources?.limits?.memory ?? [];
  });
  const memory = [limits.memory, ...written].reduce((a, b) => (compareQuantities(b, a) < 0 ? b : a));
  return { ...cluster, spec: { ...spec, resources: { ...spec.resources, limits: { ...limits, memory } } } };
}
