/** The operator of slots alone: looks at the shards, plans, acts. It may be killed after any command that it sends. */
import type { Socket } from 'node:net';
import type { EngineContext } from '../../src/engine/engine-context.ts';
import { actSlots } from '../../src/engines/redis/act/shards/act-slots.ts';
import { myselfIn } from '../../src/engines/redis/client/cluster-nodes.ts';
import { sessionsWith } from '../../src/engines/redis/client/session.ts';
import { type SlotHolder, slotHolder } from '../../src/engines/redis/observe/shards/slot-holder.ts';
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

export async function holdersOf(stage: ShardStage, shards: Shards): Promise<readonly SlotHolder[]> {
  const open = sessionsWith(mortalContext(), credentials, { bytes: 2 ** 20, answerMs: 10_000 });
  try {
    return await Promise.all(
      Object.entries(shards).map(async ([shard, nodes]) => {
        const running = nodes.filter((node) => stage.isRunning(node));
        const views = await Promise.all(running.map((node) => stage.view(node).catch(() => undefined)));
        const primaries = running.filter((_, i) => {
          const view = views[i];
          return view !== undefined && myselfIn(view).role === 'primary';
        });
        const [node] = primaries;
        if (node === undefined || primaries.length > 1) throw new Error(`shard ${shard} has not one primary`);
        const address = stage.address(node);
        return slotHolder(await open(address, 6379), shard, { pod: `n${node}`, address });
      }),
    );
  } finally {
    open.closeAll();
  }
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
  const plan = planSlots(holders, wanted);
  try {
    for (const { action } of plan?.steps ?? []) await actSlots(action, credentials, io);
    return { plan };
  } catch (error) {
    return { plan, error };
  }
}
