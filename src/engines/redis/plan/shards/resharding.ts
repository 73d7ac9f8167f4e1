/** Slots that have to move, so that each shard that the spec wants has its share, and the others have none. */
import { type Plan, wait } from '../../../../plan/plan.ts';
import type { Member, RedisAction } from '../../action.ts';
import { replicasPerShardOf } from '../../kind/shards.ts';
import { hasNeverCome, isSurplus } from '../../observe/shards/distribution.ts';
import type { Shard, ShardsSituation } from '../../observe/shards/situation.ts';
import type { SlotHolder } from '../../observe/shards/slot-holder.ts';
import { absentNodes } from '../../observe/shards/views.ts';
import { dynamicSettings, restartSettings } from '../../resources/settings.ts';
import { planSlots } from './slot-steps.ts';
import { member } from './target.ts';

/** Between two looks, while somebody does not tell. */
const recheckMs = 1_000;

/**
 * While a key moves, its source and its target answer nobody, and after `cluster-node-timeout`, 5 s by default, the others take them for failed. 64 MiB
 * take well under a second.
 */
const mostKeyBytes = 2 ** 26;
const bytesPerMs = mostKeyBytes / 5_000;

export interface Resharding {
  readonly plan: Plan<RedisAction>;
  /** Slots are open, or keys are where their slot is not. That is finished whatever else there is to do. */
  readonly isBegun: boolean;
  /** Restarts first: a server does not read the keys of a newer one. */
  readonly renews?: Shard;
}

/** Undefined where every slot is where it should be, as far as anybody has to be asked. */
export function planResharding(situation: ShardsSituation): Resharding | undefined {
  const { observed, shards, cluster, spec } = situation;
  if (observed.holders === undefined) return undefined;
  const unknown = observed.holders.flatMap((held) => ('unknown' in held ? [held.unknown] : []));
  const holders = observed.holders.flatMap((held) => ('unknown' in held ? [] : [held]));
  const absent = shards.filter((shard) => {
    const isTold = observed.holders?.some((held) => held.shard === shard.set) === true;
    return !isTold && !(isSurplus(situation, shard) && hasNeverCome(situation, shard));
  });
  const missing = [...unknown, ...absent.map((shard) => withoutPrimary(situation, shard))];
  if (missing.length > 0) {
    const message = `no slot is moved before every primary has told which slots and keys it has: ${missing.join('; ')}`;
    return { plan: { steps: [], outcome: wait('MovingSlots', message, recheckMs) }, isBegun: false };
  }
  const wanted = shards.filter((shard) => !isSurplus(situation, shard)).map(({ set }) => set);
  const nodeTimeoutMs = Number(
    restartSettings(cluster)['cluster-node-timeout'] ?? dynamicSettings(cluster)['cluster-node-timeout'],
  );
  const plan = planSlots(holders, {
    shards: new Set(wanted),
    mostKeyBytes: Math.min(mostKeyBytes, bytesPerMs * nodeTimeoutMs),
    isReplicated: replicasPerShardOf(spec) > 0,
    unreplicated: new Set(shards.filter(({ size }) => size < 2).map(({ set }) => set)),
    nodeTimeoutMs,
    followers: followersIn(situation),
    awaited: awaitedNodes(situation),
    ...(spec.engine === 'Valkey' ? { incomplete: incompleteShards(situation) } : {}),
  });
  if (plan === undefined) return undefined;
  const renews = shards.find(({ nodes }) => nodes.some(({ pod }) => pod === plan.renews));
  return { plan, isBegun: holders.some(isOpen), ...(renews === undefined ? {} : { renews }) };
}

/** A shard that is to go may have keys without having slots: they move first. */
export function withoutPrimary(situation: ShardsSituation, shard: Shard): string {
  const { set, nodes } = shard;
  if (!isSurplus(situation, shard)) return `${set} has no primary`;
  const copies = nodes.filter(({ self, empty }) => self.role === 'replica' && !empty).map(({ pod }) => pod);
  const promote =
    copies.length === 0 ? '' : `run CLUSTER FAILOVER TAKEOVER on ${copies[0]} as the identity of the cluster, or `;
  return `${set}, which is to be removed, has no primary that answers, and may have keys: if that is lost for good, ${promote}delete the PersistentVolumeClaims and the pods of ${set}`;
}

const isOpen = ({ migrating, importing, strays, running }: SlotHolder): boolean =>
  migrating.length + importing.length + strays.length + running.length > 0;

function followersIn({ nodes }: ShardsSituation): ReadonlyMap<string, readonly Member[]> {
  const followers = new Map<string, readonly Member[]>();
  for (const node of nodes) {
    const { primaryId } = node.self;
    if (primaryId !== undefined) followers.set(primaryId, [...(followers.get(primaryId) ?? []), member(node)]);
  }
  return followers;
}

/** Somebody knows a node of it that does not answer. One that has a new volume is forgotten soon. */
function incompleteShards(situation: ShardsSituation): ReadonlySet<string> {
  const pods = absentNodes(situation).flatMap(({ pod }) => pod ?? []);
  return new Set(situation.shards.map(({ set }) => set).filter((set) => pods.some((pod) => pod.startsWith(`${set}-`))));
}

/** Until all others of its shard answer, nobody knows what has become of the keys that had moved to it. */
function awaitedNodes(situation: ShardsSituation): ReadonlyMap<string, string> {
  const { shards } = situation;
  const partial = shards.filter(({ pods, nodes, size }) => pods.length < size || nodes.length < pods.length);
  return new Map(
    absentNodes(situation).flatMap(({ id, pod }) =>
      pod !== undefined && partial.some(({ set }) => pod.startsWith(`${set}-`)) ? [[id, pod] as const] : [],
    ),
  );
}
