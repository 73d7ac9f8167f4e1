/**
 * Before a primary takes a slot, it has the newest epoch of all, and each of its replicas has heard of it.
 *
 * A primary that takes a slot with an older epoch gives itself the next one that it knows of, and asks nobody. If it is cut off then, nobody hears of
 * that. A replica that is elected in its place gets the same epoch, and acknowledges writes. Of two primaries with the same epoch, the smaller ID gets
 * a newer one when they meet, and with it all slots that it had: if that is the former primary, these writes are lost. A primary that has the newest epoch
 * already takes slots without another one, and whoever is elected later gets a newer one.
 *
 * The new epoch itself is such a step that nobody was asked for. So it is made only while most primaries have just heard of this one: then no
 * replica of it is elected for some seconds. Within that time each replica has heard of it, or is told to count on from it.
 */
import type { EngineContext } from '../../../../engine/engine-context.ts';
import { within } from '../../../../engine/within.ts';
import { clusterNodes } from '../../client/cluster-nodes.ts';
import { infoFields } from '../../client/reply-fields.ts';
import { dataPort } from '../../names.ts';
import { type ShardSession, viewOf } from './shard-session.ts';

/** Who may be elected in the place of a primary, and who elects. */
export interface Electorate {
  readonly followers: readonly ShardSession[];
  /** The other primaries. */
  readonly voters: readonly ShardSession[];
  /** `cluster-node-timeout`. */
  readonly nodeTimeoutMs: number;
}

/** Of `cluster-node-timeout`. Nodes ask each other at least every half of it; who has been heard of within this time is not taken for failed within the rest. */
const freshShare = 0.6;

const pollMs = 20;

export async function takeNewestEpoch(
  owner: ShardSession,
  { followers, voters, nodeTimeoutMs }: Electorate,
  io: EngineContext,
): Promise<void> {
  const endsAt = io.now() + nodeTimeoutMs * (1 - freshShare);
  const left = (): number => Math.max(endsAt - io.now(), 1);
  const [view, told] = await Promise.all([viewOf(owner), epochsOf(owner)]);
  const missing = view.nodes.find(
    ({ id, primaryId, isFailed }) =>
      primaryId === view.myself.id && !isFailed && !followers.some(({ primary }) => primary.id === id),
  );
  if (missing !== undefined) {
    throw new Error(`a replica of ${owner.primary.pod} is not reached: ${missing.hostname ?? missing.address}`);
  }
  // The owner itself may not have heard yet of one that has just begun to follow.
  if (followers.length > 0) await requireHeard(owner, view, { voters, nodeTimeoutMs });
  await Promise.all(followers.map(requireSame));
  try {
    // It may stand still, and take the command when a replica of it has been elected.
    await within(io, left(), `${owner.primary.pod} (CLUSTER BUMPEPOCH)`, async () => {
      if (told.own < told.newest) await owner.command('CLUSTER', 'BUMPEPOCH');
    });
    await requireTold(owner, followers, { io, left });
  } catch (error) {
    // With the epoch that the owner may have by now, they ask for a newer one when they are elected.
    await Promise.allSettled(followers.map(({ command }) => command('CLUSTER', 'BUMPEPOCH')));
    throw error;
  }
}

/** A slot that it takes now gives it no other one. */
export async function hasNewestEpoch(owner: ShardSession): Promise<boolean> {
  const { own, newest } = await epochsOf(owner);
  return own === newest;
}

async function epochsOf({
  command,
  primary,
}: ShardSession): Promise<{ readonly own: number; readonly newest: number }> {
  const info = infoFields(String(await command('CLUSTER', 'INFO')));
  const [own, newest] = [Number(info.cluster_my_epoch), Number(info.cluster_current_epoch)];
  if (!Number.isSafeInteger(own) || !Number.isSafeInteger(newest)) throw new Error(`${primary.pod} tells no epoch`);
  return { own, newest };
}

/** What is said to a node of another cluster cannot be taken back. */
async function requireSame({ command, primary }: ShardSession): Promise<void> {
  const id = await command('CLUSTER', 'MYID');
  if (id !== primary.id) throw new Error(`${primary.pod} is another node by now`);
}

/** Most of those that elect, with itself. */
async function requireHeard(
  owner: ShardSession,
  { myself, nodes }: Awaited<ReturnType<typeof viewOf>>,
  { voters, nodeTimeoutMs }: Pick<Electorate, 'voters' | 'nodeTimeoutMs'>,
): Promise<void> {
  const electing = nodes.filter(({ role, slots }) => role === 'primary' && slots.length > 0);
  const heard = await Promise.all(voters.map((voter) => hasHeard(voter, myself.id, nodeTimeoutMs * freshShare)));
  const count = heard.filter(Boolean).length + (myself.slots.length > 0 ? 1 : 0);
  if (count * 2 > electing.length) return;
  throw new Error(`most primaries have not heard of ${owner.primary.pod} just now`);
}

/** By the clock of the voter. */
async function hasHeard({ command }: ShardSession, id: string, withinMs: number): Promise<boolean> {
  const [reply, time] = await Promise.all([command('CLUSTER', 'NODES'), command('TIME')]);
  const nodes = clusterNodes(reply);
  const now = Array.isArray(time) ? Number(time[0]) * 1000 + Math.floor(Number(time[1]) / 1000) : Number.NaN;
  const isVoter = nodes.some(({ isMyself, role, slots }) => isMyself && role === 'primary' && slots.length > 0);
  const seen = nodes.find((node) => node.id === id);
  if (!isVoter || seen === undefined || seen.isFailed || seen.isSuspected) return false;
  return now - seen.pongAt <= withinMs;
}

/** Nodes tell each other at random, within seconds. One that is met is told at once. */
async function requireTold(
  owner: ShardSession,
  followers: readonly ShardSession[],
  { io, left }: { readonly io: EngineContext; readonly left: () => number },
): Promise<void> {
  if (followers.length === 0) return;
  await within(io, left(), `a replica of ${owner.primary.pod} (CLUSTER INFO)`, async (signal) => {
    const { own } = await epochsOf(owner);
    const untold = async (): Promise<readonly ShardSession[]> => {
      const epochs = await Promise.all(followers.map(epochsOf));
      return followers.filter((_, i) => (epochs[i]?.newest ?? 0) < own);
    };
    for (const { primary } of await untold()) {
      await owner.command('CLUSTER', 'MEET', primary.address, String(dataPort));
    }
    while ((await untold()).length > 0) {
      if (left() <= 1) throw new Error(`a replica of ${owner.primary.pod} has not heard of its new epoch`);
      await io.sleep(pollMs, signal);
    }
  });
}
