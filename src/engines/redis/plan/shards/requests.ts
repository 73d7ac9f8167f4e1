/** What a person asks for with an annotation: that a replica takes over its shard. */
import { switchoverAnnotation } from '../../../../api/maintenance.ts';
import { type Plan, wait } from '../../../../plan/plan.ts';
import type { RedisAction } from '../../action.ts';
import type { ShardsSituation } from '../../observe/shards/situation.ts';
import { dropRequest, refused } from '../requests.ts';
import { takeOverStep } from './turnover.ts';

const recheckMs = 500;

/** Undefined where nobody asks. The cluster is whole. */
export function planSwitchover(situation: ShardsSituation): Plan<RedisAction> | undefined {
  const wanted = situation.cluster.metadata.annotations?.[switchoverAnnotation];
  if (wanted === undefined) return undefined;
  const shard = situation.shards.find(({ nodes }) => nodes.some(({ pod }) => pod === wanted));
  if (shard?.primary === undefined) return refused(wanted, 'no node of this cluster');
  if (shard.primary.pod === wanted) {
    return { steps: dropRequest(situation), outcome: wait('SwitchingOver', `${wanted} is primary`, recheckMs) };
  }
  const message = `${shard.primary.pod} hands over to ${wanted}, as ${switchoverAnnotation} says`;
  const step = takeOverStep(shard, message, ({ pod }) => pod === wanted);
  if (step === undefined) return refused(wanted, 'which is no replica in sync');
  return { steps: [step], outcome: wait('SwitchingOver', message, recheckMs) };
}
