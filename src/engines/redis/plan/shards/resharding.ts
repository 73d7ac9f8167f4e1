/** Another number of shards than there are. Asked of a cluster that is whole, before anybody restarts. */
import { blocked, type Plan } from '../../../../plan/plan.ts';
import type { RedisAction } from '../../action.ts';
import { shardsOf } from '../../kind/shards.ts';
import type { ShardsSituation } from '../../observe/shards/situation.ts';

/** The moves of slots are planned here. Until then the shards stay as many as they are, and the status says so. */
export function planResharding({ spec, shards }: ShardsSituation): Plan<RedisAction> | undefined {
  const wanted = shardsOf(spec);
  if (wanted === shards.length) return undefined;
  const message = `shards is ${wanted}, and the cluster has ${shards.length}: their number cannot change yet, and nothing is changed`;
  return { steps: [], outcome: blocked('ShardsUnchangeable', message) };
}
