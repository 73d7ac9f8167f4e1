/**
 * Actions on nodes of a Redis Cluster. Each first asks whether the node is still the one that was seen, by its ID: addresses are used again, and what
 * is said to a node of another cluster cannot be taken back. All are said as the identity, which only nodes of this cluster take.
 */
import type { EngineContext } from '../../../../engine/engine-context.ts';
import type { Member, ShardAction } from '../../action.ts';
import { clusterNodes, longestViewBytes, myselfIn } from '../../client/cluster-nodes.ts';
import type { RedisConnection } from '../../client/connection.ts';
import { RedisError } from '../../client/resp.ts';
import { type Credentials, withSession } from '../../client/session.ts';
import { dataPort } from '../../names.ts';
import type { Ask } from './ask.ts';
import { assignSlots } from './assign-slots.ts';
import { takeOver } from './take-over.ts';

export async function actOnShards(action: ShardAction, credentials: Credentials, io: EngineContext): Promise<void> {
  const ask: Ask = (node, talk) =>
    withSession(
      io,
      { address: node.address, port: dataPort, credentials, longest: longestViewBytes },
      async (connection, login) => {
        if (login !== 'identity') throw new Error(`${node.pod} does not take the identity of this cluster`);
        const id = await connection.command('CLUSTER', 'MYID');
        if (id !== node.id) throw new Error(`${node.pod} is another node by now`);
        return talk(connection);
      },
    );
  switch (action.type) {
    case 'redis.assignSlots':
      return ask(action.node, (connection) => assignSlots(connection, action));
    case 'redis.meet': {
      const { node, other } = action;
      await ask(other, () => Promise.resolve());
      await ask(node, (connection) => connection.command('CLUSTER', 'MEET', other.address, String(dataPort)));
      return;
    }
    case 'redis.replicate': {
      const { node, primary } = action;
      const isFilled = await ask(primary, requirePrimary(primary));
      await ask(node, async (connection) => {
        await requireNothing(connection, node, { id: primary.id, isFilled });
        await connection.command('CLUSTER', 'REPLICATE', primary.id);
      });
      return;
    }
    case 'redis.forgetNode':
      return forget(action, ask);
    case 'redis.takeOver':
      return takeOver(action, ask, io);
    default:
      return action satisfies never;
  }
}

/** Whether it has slots or keys. */
function requirePrimary({ pod }: Member) {
  return async (connection: RedisConnection): Promise<boolean> => {
    const self = myselfIn(clusterNodes(await connection.command('CLUSTER', 'NODES')));
    if (self.role !== 'primary') throw new Error(`${pod} is primary no more`);
    return self.slots.length > 0 || (await connection.command('DBSIZE')) !== 0;
  };
}

/**
 * What it has would be replaced. A replica has nothing of its own, but for keys that have moved to a shard without slots whose primary is gone. A primary that has keys
 * in such a shard has been made primary by a person.
 */
async function requireNothing(
  connection: RedisConnection,
  { pod }: Member,
  primary: { readonly id: string; readonly isFilled: boolean },
): Promise<void> {
  const self = myselfIn(clusterNodes(await connection.command('CLUSTER', 'NODES')));
  const isCopy = self.role === 'replica' && (primary.isFilled || self.primaryId === primary.id);
  const isEmpty = isCopy || (await connection.command('DBSIZE')) === 0;
  if (self.slots.length > 0 || !isEmpty) throw new Error(`${pod} has slots or keys by now`);
}

/** All are there before the first forgets: one that still knew it would tell the others of it after a minute. */
async function forget({ id, nodes }: Extract<ShardAction, { type: 'redis.forgetNode' }>, ask: Ask): Promise<void> {
  await Promise.all(nodes.map((node) => ask(node, (connection) => requireNoUse(connection, id, node))));
  await Promise.all(
    nodes.map((node) =>
      ask(node, async (connection) => {
        try {
          await connection.command('CLUSTER', 'FORGET', id);
        } catch (error) {
          if (!(error instanceof RedisError) || !/Unknown node/i.test(error.message)) throw error;
        }
      }),
    ),
  );
}

async function requireNoUse(connection: RedisConnection, id: string, { pod }: Member): Promise<void> {
  const view = clusterNodes(await connection.command('CLUSTER', 'NODES'));
  const gone = view.find((node) => node.id === id);
  if ((gone?.slots.length ?? 0) > 0) throw new Error(`${pod} says that ${id} serves slots by now`);
  if (myselfIn(view).primaryId === id) throw new Error(`${pod} copies from ${id}`);
}
