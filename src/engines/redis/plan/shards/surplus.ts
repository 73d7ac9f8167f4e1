/** Shards that the spec does not want any more. They go once they have neither slots nor keys, and nobody knows them. */
import { statefulSets } from '../../../../api/resource.ts';
import type { Plan, Step } from '../../../../plan/plan.ts';
import { wait } from '../../../../plan/plan.ts';
import { refOf } from '../../../../plan/ref.ts';
import type { RedisAction } from '../../action.ts';
import { formedAnnotation } from '../../names.ts';
import { hasNeverCome, isSurplus } from '../../observe/shards/distribution.ts';
import { isLeaving, type ShardsSituation } from '../../observe/shards/situation.ts';
import { absentNodes } from '../../observe/shards/views.ts';
import { placeOf } from '../../resources/shards/names.ts';
import { annotationSteps } from '../annotations.ts';
import { nextLeavingStep } from './leaving.ts';
import { isGone, mayHaveKeys } from './membership.ts';
import { member } from './target.ts';

export interface Removal {
  readonly plan: Plan<RedisAction>;
  /** How many shards there are after this pass. */
  readonly shards: number;
}

const recheckMs = 500;

/** Undefined where there are no more shards than the spec wants. Asked where no slot has to move. */
export function planSurplusShards(situation: ShardsSituation): Removal | undefined {
  const { shards, nodes, observed, dataPods, cluster } = situation;
  const surplus = shards.filter((shard) => isSurplus(situation, shard));
  if (surplus.length === 0) return undefined;
  const { name } = cluster.metadata;
  const isOfSurplus = (pod: string): boolean => surplus.some(({ index }) => placeOf(name, pod)?.shard === index);
  const waiting = (message: string, steps: readonly Step<RedisAction>[] = []): Removal => ({
    plan: { steps, outcome: wait('ScalingIn', message, recheckMs) },
    shards: shards.length,
  });
  const held = observed.holders ?? [];
  const unasked = surplus.find(({ set }) => !held.some((one) => one.shard === set && !('unknown' in one)));
  // A set whose pods never came, or are gone, has nobody to ask; its nodes are forgotten all the same.
  if (unasked !== undefined && unasked.pods.length > 0 && !hasNeverCome(situation, unasked)) {
    return waiting(`the primary of ${unasked.set} has yet to tell whether it has keys`);
  }
  const witnesses = nodes.filter(({ pod }) => !isOfSurplus(pod));
  const silent = dataPods
    .map(({ metadata }) => metadata.name)
    .filter((pod) => !isLeaving(situation, pod) && !nodes.some((node) => node.pod === pod));
  const absent = absentNodes(situation).filter(({ pod }) => pod !== undefined && isOfSurplus(pod));
  const unheard = absent.find((one) => !isGone(situation, one) && mayHaveKeys(situation, one));
  if (unheard !== undefined && dataPods.some(({ metadata }) => metadata.name === unheard.pod)) {
    return waiting(
      `${unheard.pod} does not answer, and may have keys: if it is lost for good, delete its PersistentVolumeClaim and its pod`,
    );
  }
  const gone = absent.flatMap(({ id, pod }) => (pod === undefined ? [] : [{ id, pod }]));
  const step = nextLeavingStep({
    holders: held.flatMap((one) => ('unknown' in one || !surplus.some(({ set }) => set === one.shard) ? [] : [one])),
    members: [...nodes.filter(({ pod }) => isOfSurplus(pod)).map(({ id, pod }) => ({ id, pod })), ...gone],
    witnesses: witnesses.map((node) => ({ node: member(node), nodes: node.view })),
    silent,
  });
  const names = surplus.map(({ set }) => set).join(', ');
  switch (step.does) {
    case 'await':
      return waiting(step.message);
    case 'forget':
      return waiting(
        `all other nodes forget those of ${names}`,
        step.actions.map((action) => ({
          type: 'act',
          action,
          summary: `have all other nodes forget ${action.pod}, whose shard is to be removed`,
        })),
      );
    case 'remove':
      return removal(
        situation,
        surplus.map(({ set }) => set),
        isOfSurplus,
      );
    default:
      return step satisfies never;
  }
}

/** The claims first: one that is marked would count as a shard that somebody has taken away. */
function removal(
  { children, shards, cluster }: ShardsSituation,
  sets: readonly string[],
  isOfSurplus: (pod: string) => boolean,
): Removal {
  const claims = children.claims.filter(({ metadata }) => isOfSurplus(metadata.name.replace(/^data-/, '')));
  const marks = claims.flatMap((claim) => annotationSteps(claim, { [formedAnnotation]: null }));
  const outcome = wait('ScalingIn', `${sets.join(', ')} is removed; its volumes stay`, recheckMs);
  if (marks.length > 0) return { plan: { steps: marks, outcome }, shards: shards.length };
  const steps = sets.flatMap((set): Step<RedisAction>[] => {
    const live = children.statefulSet(set);
    const ref = live === undefined ? undefined : refOf(live, statefulSets);
    if (ref === undefined) return [];
    return [
      {
        type: 'delete',
        ref,
        reason: `RedisCluster ${cluster.metadata.name} has fewer shards, and this one has no slots`,
      },
    ];
  });
  return { plan: { steps, outcome }, shards: shards.length - sets.length };
}
