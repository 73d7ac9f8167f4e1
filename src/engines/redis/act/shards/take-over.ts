/**
 * A planned failover in a shard. The primary pauses writes first, so that nobody takes a slot from it meanwhile: see `take-slot.ts`. `CLUSTER FAILOVER` has the primary pause its writes until the replica has all of them, and a majority of the
 * primaries agree; nothing that was acknowledged is lost. Never with FORCE or TAKEOVER, which do without one or the other.
 */
import type { EngineContext } from '../../../../engine/engine-context.ts';
import type { ShardAction } from '../../action.ts';
import { clusterNodes, myselfIn } from '../../client/cluster-nodes.ts';
import type { RedisConnection } from '../../client/connection.ts';
import { infoFields } from '../../client/reply-fields.ts';
import type { Ask } from './ask.ts';

/** The server gives up after five seconds by itself. */
const patienceMs = 8_000;
const pollMs = 50;

/** Longer than the target of a slot has to take it: `mostTakeMs` of `take-slot.ts`. */
const pauseFirstMs = 200;
/** It ends by itself where nobody ends it. */
const pauseMs = 3_000;

type TakeOver = Extract<ShardAction, { type: 'redis.takeOver' }>;

export async function takeOver({ node, primary }: TakeOver, ask: Ask, io: EngineContext): Promise<void> {
  await ask(primary, () => Promise.resolve());
  const isDone = await ask(node, async (connection) => {
    if ((await roleOf(connection)) === 'master') return true;
    await requireAble(connection, { node, primary });
    return false;
  });
  if (isDone) return;
  try {
    await ask(primary, (connection) => connection.command('CLIENT', 'PAUSE', String(pauseMs), 'WRITE'));
    await io.sleep(pauseFirstMs);
    await ask(node, (connection) => connection.command('CLUSTER', 'FAILOVER'));
    for (let passedMs = 0; passedMs < patienceMs; passedMs += pollMs) {
      await io.sleep(pollMs);
      if ((await ask(node, roleOf)) === 'master') return;
    }
  } finally {
    await ask(primary, (connection) => connection.command('CLIENT', 'UNPAUSE'));
  }
  throw new Error(`${node.pod} did not take over within ${patienceMs} ms; ${primary.pod} stays primary`);
}

async function roleOf(connection: RedisConnection): Promise<string> {
  const role = await connection.command('ROLE');
  return Array.isArray(role) ? String(role[0]) : '';
}

/** As primary, it must not lose on its next start what it has copied. */
async function requireAble(connection: RedisConnection, { node, primary }: Omit<TakeOver, 'type'>): Promise<void> {
  const self = myselfIn(clusterNodes(await connection.command('CLUSTER', 'NODES')));
  const info = infoFields(String(await connection.command('INFO')));
  const isWritten =
    info.aof_enabled === '1' && info.aof_rewrite_in_progress === '0' && info.aof_rewrite_scheduled === '0';
  if (self.primaryId !== primary.id) throw new Error(`${node.pod} is no replica of ${primary.pod} any more`);
  if (info.master_link_status !== 'up') throw new Error(`${node.pod} has lost the link to ${primary.pod}`);
  // A failover by hand does not ask for it.
  if (Number(info.slave_priority ?? 0) === 0) throw new Error(`${node.pod} may not be elected: its priority is 0`);
  // What its pod says: an append-only file that could not be rewritten once may hold everything all the same.
  if (self.isBarred) throw new Error(`${node.pod} may not be elected: its volume has yet to hold what it has copied`);
  if (!isWritten) throw new Error(`${node.pod} has yet to write down what it has copied`);
}
