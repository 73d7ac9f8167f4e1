/** The operator of slots alone: looks at the shards, plans, acts. It may be killed after any command that it sends. */
import type { Socket } from 'node:net';
import type { EngineContext } from '../../src/engine/engine-context.ts';
import { actOnShards } from '../../src/engines/redis/act/shards/act.ts';
import { actSlots } from '../../src/engines/redis/act/shards/act-slots.ts';
import type { Member } from '../../src/engines/redis/action.ts';
import { myselfIn } from '../../src/engines/redis/client/cluster-nodes.ts';
import { sessionsWith } from '../../src/engines/redis/client/session.ts';
import type { ShardNode } from '../../src/engines/redis/observe/shards/observed.ts';
import { servingIn } from '../../src/engines/redis/observe/shards/situation.ts';
import { type SlotHolder, slotHolder } from '../../src/engines/redis/observe/shards/slot-holder.ts';
import { holdsSomething } from '../../src/engines/redis/observe/shards/slots.ts';
import type { Wanted } from '../../src/engines/redis/plan/shards/moves.ts';
import { planSlots, type SlotPlan } from '../../src/engines/redis/plan/shards/slot-steps.ts';
import { realContext } from './real-context.ts';
import { identity, type ShardStage, shardSecrets } from './redis-shards.ts';

/** By name of the shard. */
export type Shards = Readonly<Record<string, readonly number[]>>;

const credentials = { identity };

/** Its connections end after so many commands; the last one is sent, and its answer is never read. */
export function mortalContext(commands = Number.POSITIVE_INFINITY): EngineContext {
  const real = realContext(shardSecrets);
  // Its patience is that of a machine under load.
  const io: EngineContext = { ...real, sleep: (ms, signal) => real.sleep(ms * 10, signal) };
  const sockets: Socket[] = [];
  let left = commands;
  return {
    ...io,
    async dial(host, port, signal) {
      const socket = (await io.dial(host, port, signal)) as Socket;
      sockets.push(socket);
      const write = socket.write.bind(socket) as (chunk: unknown) => boolean;
      socket.write = ((chunk: unknown) => {
        if (left <= 0) return false;
        left--;
        const isWritten = write(chunk);
        if (left <= 0) for (const each of sockets) each.destroySoon();
        return isWritten;
      }) as Socket['write'];
      if (left <= 0) socket.destroy();
      return socket;
    },
  };
}

interface Primary extends Pick<ShardNode, 'self' | 'empty'> {
  readonly node: number;
}

/** Those that say that they are, the one that serves the shard first. */
async function primariesOf(stage: ShardStage, nodes: readonly number[]): Promise<readonly Primary[]> {
  const asked = nodes.filter((node) => stage.isRunning(node));
  const found = await Promise.all(
    asked.map(async (node): Promise<readonly Primary[]> => {
      try {
        const self = myselfIn(await stage.view(node));
        return self.role === 'primary' ? [{ node, self, empty: (await stage.ask(node, 'DBSIZE')) === 0 }] : [];
      } catch {
        return [];
      }
    }),
  );
  const primaries = found.flat();
  const first = servingIn(primaries) ?? primaries[0];
  return first === undefined ? [] : [first, ...primaries.filter((each) => each !== first)];
}

const member = (stage: ShardStage, { node, self }: Primary): Member => ({
  pod: `n${node}`,
  address: stage.address(node),
  id: self.id,
});

export async function holdersOf(stage: ShardStage, shards: Shards): Promise<readonly SlotHolder[]> {
  const open = sessionsWith(mortalContext(), credentials, { bytes: 2 ** 20, answerMs: 10_000 });
  try {
    const held = await Promise.all(
      Object.entries(shards).map(async ([shard, nodes]) => {
        const [first, ...others] = await primariesOf(stage, nodes);
        if (first === undefined) throw new Error(`shard ${shard} has no primary`);
        return Promise.all(
          [first, ...others.filter(holdsSomething)].map(async (primary) => {
            const { pod, address } = member(stage, primary);
            const holder = await slotHolder(await open(address, 6379), shard, { pod, address });
            return primary === first ? holder : { ...holder, shard: `${shard} (${pod})`, isSecond: true as const };
          }),
        );
      }),
    );
    return held.flat();
  } finally {
    open.closeAll();
  }
}

/** Second primaries of shards become replicas, once they have nothing. */
export async function followPrimaries(stage: ShardStage, shards: Shards): Promise<void> {
  for (const nodes of Object.values(shards)) {
    const [first, ...others] = await primariesOf(stage, nodes);
    for (const other of others) {
      if (first === undefined || holdsSomething(other)) continue;
      const [node, primary] = [member(stage, other), member(stage, first)];
      await actOnShards({ type: 'redis.replicate', node, primary }, credentials, mortalContext());
    }
  }
}

/** Replicas, by the ID of their primary. */
export async function followersOf(stage: ShardStage, shards: Shards): Promise<ReadonlyMap<string, readonly Member[]>> {
  const followers = new Map<string, Member[]>();
  for (const node of Object.values(shards).flat().filter(stage.isRunning)) {
    const self = await stage.view(node).then(myselfIn, () => undefined);
    if (self?.primaryId === undefined) continue;
    const known = followers.get(self.primaryId) ?? [];
    followers.set(self.primaryId, [...known, member(stage, { node, self, empty: false })]);
  }
  return followers;
}

export interface Pass {
  /** Undefined where there is nothing to do; absent where somebody did not answer. */
  readonly plan?: SlotPlan | undefined;
  readonly error?: unknown;
}

/** One reconcile. Errors are part of it: the next one looks anew. */
export async function pass(stage: ShardStage, shards: Shards, wanted: Wanted, io = mortalContext()): Promise<Pass> {
  let holders: readonly SlotHolder[];
  try {
    holders = await holdersOf(stage, shards);
  } catch (error) {
    return { error };
  }
  const incomplete = Object.entries(shards).flatMap(([shard, nodes]) => (nodes.every(stage.isRunning) ? [] : [shard]));
  const followers = await followersOf(stage, shards);
  const plan = planSlots(holders, {
    ...wanted,
    followers,
    ...(stage.isValkey ? { incomplete: new Set(incomplete) } : {}),
  });
  try {
    for (const { action } of plan?.steps ?? []) await actSlots(action, credentials, io);
    return { plan };
  } catch (error) {
    return { plan, error };
  }
}
