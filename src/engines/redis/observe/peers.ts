/** Counts who is connected to the port of a node that is to be closed. On a connection of its own, since the answer may be long. */
import type { EngineContext } from '../../../engine/engine-context.ts';
import { countPeers, longestListBytes } from '../client/peers.ts';
import { type Credentials, withSession } from '../client/session.ts';
import { dataPort } from '../names.ts';
import type { PortPeers } from './observed.ts';

export async function observePeers(
  address: string,
  closing: number,
  credentials: Credentials,
  io: EngineContext,
): Promise<PortPeers> {
  const target = { address, port: dataPort, credentials, longest: longestListBytes };
  try {
    return { connected: await withSession(io, target, (connection) => countPeers(connection, closing)) };
  } catch (error) {
    io.signal.throwIfAborted();
    return { unknown: (error as Error).message };
  }
}
