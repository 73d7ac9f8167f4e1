/** Who is connected to a port of a server, from what `CLIENT LIST` says. */
import type { RedisConnection } from './connection.ts';

/** Bytes of the answer that are read. 20,000 clients take seven million. A longer one cannot be read: then there are clients. */
export const longestListBytes = 8 * 1024 * 1024;

/** Clients whose end of the connection is this port of the server. */
export function peersAt(list: string, port: number): number {
  // An address of version 6 is in brackets.
  return list.split('\n').filter((line) => / laddr=\S*:(\d+) /.exec(line)?.[1] === String(port)).length;
}

export async function countPeers(connection: Pick<RedisConnection, 'command'>, port: number): Promise<number> {
  return peersAt(String(await connection.command('CLIENT', 'LIST')), port);
}
