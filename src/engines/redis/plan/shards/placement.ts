/** On which machines the primaries are: chosen for a new cluster, told of later ones. */
import type { Pod } from '../../../../resources/children.ts';
import type { ShardsSituation } from '../../observe/shards/situation.ts';

export type Placement = 'Optimal' | 'BestEffort';

const machineOf = ({ spec, metadata }: Pod): string => spec?.nodeName ?? metadata.name;

/** A pod of each shard, in the order of the shards, so that no machine has more than it must. */
export function spreadPrimaries(shards: readonly (readonly Pod[])[]): Pod[] {
  const taken = new Map<string, number>();
  return shards.flatMap((pods) => {
    const [first, ...others] = pods;
    if (first === undefined) return [];
    const load = (pod: Pod): number => taken.get(machineOf(pod)) ?? 0;
    const chosen = others.reduce((best, pod) => (load(pod) < load(best) ? pod : best), first);
    taken.set(machineOf(chosen), load(chosen) + 1);
    return [chosen];
  });
}

/** Undefined while a shard has no primary. */
export function placementOf({ shards, dataPods }: ShardsSituation): Placement | undefined {
  const primaries = shards.flatMap(
    ({ primary, pods }) => pods.find(({ metadata }) => metadata.name === primary?.pod) ?? [],
  );
  if (primaries.length < shards.length) return undefined;
  const machines = new Set(dataPods.map(machineOf)).size;
  const counts = new Map<string, number>();
  for (const pod of primaries) counts.set(machineOf(pod), (counts.get(machineOf(pod)) ?? 0) + 1);
  const isEven = Math.max(...counts.values()) <= Math.ceil(shards.length / machines);
  const isApart = shards.every(({ pods, primary }) => {
    const own = pods.find(({ metadata }) => metadata.name === primary?.pod);
    return own === undefined || !pods.some((pod) => pod !== own && machineOf(pod) === machineOf(own));
  });
  return isEven && isApart ? 'Optimal' : 'BestEffort';
}
