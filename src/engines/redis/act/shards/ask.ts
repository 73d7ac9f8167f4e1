/** Asks a node, after it has proven to be the one that was seen. */
import type { Member } from '../../action.ts';
import type { RedisConnection } from '../../client/connection.ts';

export type Ask = <T>(node: Member, talk: (connection: RedisConnection) => Promise<T>) => Promise<T>;
