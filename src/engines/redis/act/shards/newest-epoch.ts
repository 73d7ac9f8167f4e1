/**
 * Before a primary takes a slot, it has the newest epoch of all, and each of its replicas has heard of it.
 *
 * A primary that takes a slot with an older epoch gives itself the next one that it knows of, and asks nobody. If it is cut off then, nobody hears of
 * that. A replica that is elected in its place gets the same epoch, and acknowledges writes. Of two primaries with the same epoch, the smaller ID gets
 * a newer one when they meet, and with it all slots that it had: if that is the former primary, these writes are lost. A primary that has the newest epoch
 * already takes slots without another one, and whoever is elected later gets a newer one.
 *
 * The new epoch itself is such a step that nobody was asked for. So its replicas hear of another one before: see `replica-epochs.ts`. The primary may hear of that, too,
 * and takes the one after it. So it does so only while most primaries have just heard of it: then no replica of it is elected for some seconds. Within that
 * time most primaries and each replica have heard of it, or the replicas are told to count on from it.
 */
import type { EngineContext } from '../../../../engine/engine-context.ts';
import { within } from '../../../../engine/within.ts';
import { clusterNodes } from '../../client/cluster-nodes.ts';
import { dataPort } from '../../names.ts';
import { epochsOf } from './epochs.ts';
import { most } from './most.ts';
import { type Audience, countOn, outbid } from './replica-epochs.ts';
import { type ShardSession, type View, viewOf } from './shard-session.ts';

/** Who may be elected in the place of a primary, and who elects. */
export interface Electorate {
  readonly followers: readonly ShardSession[];
  /** The other primaries. */
  readonly voters: readonly ShardSession[];
  /** Some replicas of other shards. */
  readonly otherReplicas: readonly ShardSession[];
  /** `cluster-node-timeout`. */
  readonly nodeTimeoutMs: number;
}

/** Of `cluster-node-timeout`. Nodes ask each other at least every half of it; who has been heard of within this time is not taken for failed within the rest. */
const freshShare = 0.6;

const pollMs = 20;

/** @param prepare comes after the checks, and before the epoch */
export async function takeNewestEpoch(
  owner: ShardSession,
  { followers, voters, otherReplicas, nodeTimeoutMs }: Electorate,
  io: EngineContext,
  prepare: () => Promise<unknown> = () => Promise.resolve(),
): Promise<void> {
  const view = await viewOf(owner);
  requireReached(owner, view, followers);
  await Promise.all(followers.map(requireSame));
  const { own, newest } = await epochsOf(owner);
  const isBehind = own < newest;
  // The owner itself may not have heard yet of one that has just begun to follow. One that has failed may come back.
  const hasReplica = followers.length > 0 || view.nodes.some(({ primaryId }) => primaryId === view.myself.id);
  const areTold: Audience['areTold'] = async (knows) => {
    const [replicas, isMost] = await Promise.all([Promise.all(followers.map(knows)), areMost(view, voters, knows)]);
    return isMost && replicas.every(Boolean);
  };
  const audience = { replicas: followers, voters, areTold };
  if (isBehind && hasReplica) await outbid(audience, otherReplicas, newest, io);
  const endsAt = io.now() + nodeTimeoutMs * (1 - freshShare);
  const left = (): number => Math.max(endsAt - io.now(), 1);
  const isHeard = async (): Promise<void> => {
    if (await areMost(view, voters, (voter) => hasHeard(voter, view.myself.id, nodeTimeoutMs * freshShare))) return;
    throw new Error(`most primaries have not heard of ${owner.primary.pod} just now`);
  };
  if (hasReplica) await within(io, left(), 'most primaries (CLUSTER NODES)', isHeard);
  await prepare();
  if (io.now() >= endsAt) throw new Error(`${owner.primary.pod} takes no epoch: the checks before it took too long`);
  try {
    // It may stand still, and take the command when a replica of it has been elected.
    await within(io, left(), `${owner.primary.pod} (CLUSTER BUMPEPOCH)`, async () => {
      if (isBehind) await owner.command('CLUSTER', 'BUMPEPOCH');
    });
    if (hasReplica) await requireTold(owner, audience, { io, left });
  } catch (error) {
    await withReason(error, countOn(followers, otherReplicas, newest, io));
    throw error;
  }
}

/** A slot that it takes now gives it no other one. */
export async function hasNewestEpoch(owner: ShardSession): Promise<boolean> {
  const { own, newest } = await epochsOf(owner);
  return own === newest;
}

function requireReached(owner: ShardSession, { myself, nodes }: View, followers: readonly ShardSession[]): void {
  const missing = nodes.find(
    ({ id, primaryId, isFailed }) =>
      primaryId === myself.id && !isFailed && !followers.some(({ primary }) => primary.id === id),
  );
  if (missing === undefined) return;
  throw new Error(`a replica of ${owner.primary.pod} is not reached: ${missing.hostname ?? missing.address}`);
}

/** What is said to a node of another cluster cannot be taken back. */
async function requireSame({ command, primary }: ShardSession): Promise<void> {
  const id = await command('CLUSTER', 'MYID');
  if (id !== primary.id) throw new Error(`${primary.pod} is another node by now`);
}

/** Most of those that elect, with itself. */
function areMost(
  { myself, nodes }: View,
  voters: readonly ShardSession[],
  check: (voter: ShardSession) => Promise<boolean>,
): Promise<boolean> {
  const electing = nodes.filter(({ role, slots }) => role === 'primary' && slots.length > 0).length;
  const others = Math.floor(electing / 2) + 1 - (myself.slots.length > 0 ? 1 : 0);
  return most(voters.map(check), others);
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

/** Nodes tell each other at random, within seconds. One that is met is told at once. By the word of the owner itself: it reaches them. */
async function requireTold(
  owner: ShardSession,
  { replicas, voters, areTold }: Audience,
  { io, left }: { readonly io: EngineContext; readonly left: () => number },
): Promise<void> {
  await within(io, left(), `a replica of ${owner.primary.pod}, or most primaries (CLUSTER NODES)`, async (signal) => {
    const { own } = await epochsOf(owner);
    const knows = async (node: ShardSession): Promise<boolean> => (await epochAt(node, owner.primary.id)) >= own;
    if (await areTold(knows)) return;
    for (const { primary } of [...replicas, ...voters]) {
      await owner.command('CLUSTER', 'MEET', primary.address, String(dataPort));
    }
    while (!(await areTold(knows))) {
      if (left() <= 1) {
        throw new Error(`a replica of ${owner.primary.pod}, or most primaries, have not heard of its new epoch`);
      }
      await io.sleep(pollMs, signal);
    }
  });
}

async function epochAt({ command }: ShardSession, id: string): Promise<number> {
  return clusterNodes(await command('CLUSTER', 'NODES')).find((node) => node.id === id)?.epoch ?? 0;
}

/** The remedy of an error may fail, too. */
async function withReason(error: unknown, remedy: Promise<void>): Promise<void> {
  try {
    await remedy;
  } catch (second) {
    throw new Error(`${(error as Error).message}; ${(second as Error).message}`, { cause: error });
  }
}
