/** A session with the primary of a shard, and what it says of the cluster. It is refused where it is another node than was planned for. */
import type { Member } from '../../action.ts';
import { type ClusterNode, clusterNodes, myselfIn } from '../../client/cluster-nodes.ts';
import type { OpenSession, Session } from '../../client/session.ts';
import { dataPort } from '../../names.ts';

export interface ShardSession extends Session {
  readonly primary: Member;
}

/** Functions and values that are compared may be this long. */
export const longestReply = 32 * 1024 * 1024;

/** Of a move. */
export interface Sides {
  readonly source: ShardSession;
  readonly target: ShardSession;
  readonly others: readonly ShardSession[];
}

export interface View {
  readonly myself: ClusterNode;
  readonly nodes: readonly ClusterNode[];
}

export async function shardSession(open: OpenSession, primary: Member): Promise<ShardSession> {
  const { command } = await open(primary.address, dataPort);
  return { command, primary };
}

/** Those that are reached. */
export async function reachedOf(open: OpenSession, members: readonly Member[]): Promise<readonly ShardSession[]> {
  const results = await Promise.allSettled(members.map((member) => shardSession(open, member)));
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
}

/** @throws where it is another node, or its primary is another one since */
export async function viewOf({ command, primary }: ShardSession): Promise<View> {
  const nodes = clusterNodes(await command('CLUSTER', 'NODES'));
  const myself = myselfIn(nodes);
  if (myself.id !== primary.id) throw new Error(`${primary.pod} is another node of the cluster than it was`);
  if (myself.role !== 'primary') throw new Error(`${primary.pod} is primary no more`);
  return { myself, nodes };
}

/**
 * A primary that most others do not reach says so before a replica of it is elected. Who is sure of the others knows who
 * has the slots.
 */
export async function requireQuorum({ command, primary }: ShardSession): Promise<void> {
  const info = String(await command('CLUSTER', 'INFO'));
  if (!/^cluster_state:ok\r?$/m.test(info)) throw new Error(`${primary.pod} does not reach most of the cluster`);
}

/** Asks for keys of a slot that the server does not have, and that is open there. */
export function asking<T extends Session>({ command, ...rest }: T): T {
  const ask: Session['command'] = async (...args) => {
    const [, reply] = await Promise.all([command('ASKING'), command(...args)]);
    return reply;
  };
  return { ...rest, command: ask } as T;
}

/** `SETSLOT`, with what it is set to. */
export function setSlot({ command }: ShardSession, slot: number, ...to: readonly string[]): Promise<unknown> {
  return command('CLUSTER', 'SETSLOT', String(slot), ...to);
}
