/**
 * Has nodes forget others. A node refuses for a minute to learn of one that it was told to forget; after that whoever was not told tells it
 * again. So nobody is told before all of them are reached.
 */
import type { EngineContext } from '../../../../engine/engine-context.ts';
import type { RedisAction } from '../../action.ts';
import { clusterNodes } from '../../client/cluster-nodes.ts';
import { type Credentials, sessionsWith } from '../../client/session.ts';
import { dataPort } from '../../names.ts';
import { unless } from './migrate-slots.ts';

export async function forgetNodes(
  { nodes, ids }: Extract<RedisAction, { type: 'redis.forgetNodes' }>,
  credentials: Credentials,
  io: EngineContext,
): Promise<void> {
  const open = sessionsWith(io, credentials);
  try {
    const sessions = await Promise.all(
      nodes.map(async (node) => {
        const session = await open(node.address, dataPort);
        const view = clusterNodes(await session.command('CLUSTER', 'NODES'));
        const bound = view.find(({ id, isMyself, slots }) => ids.includes(id) && (isMyself || slots.length > 0));
        if (bound !== undefined) throw new Error(`${node.pod} says that ${bound.id} has slots, or is that itself`);
        return session;
      }),
    );
    await Promise.all(
      sessions.map((session) =>
        Promise.all(ids.map((id) => unless(/Unknown node/i, session.command('CLUSTER', 'FORGET', id)))),
      ),
    );
  } finally {
    open.closeAll();
  }
}
