/**
 * Whether the sentinels name a node as the primary. Where a data node does not answer, it may have been elected, and the
 * primary that answers may not have learned of it: it lacks what the new one has acknowledged.
 *
 * Before an election a quorum of sentinels, which is more than half of them, finds the primary down; after it they learn of
 * the new one within two seconds. So a majority that sees the primary alive, and names it, says that nobody has replaced it.
 */
import { isIP } from 'node:net';
import type { Endpoint } from '../../../backup/members.ts';
import { placeOf } from '../../../engine/driver/connection.ts';
import { Failure } from '../../../engine/driver/failure.ts';
import type { RedisSource } from '../backup/schemas.ts';
import { pairs } from '../client/reply-fields.ts';
import { inRedisSession, ofThisCluster, type RedisAccess, type RedisLogin } from './session.ts';

/** An address without a name, and a port. */
interface Named {
  readonly address: string;
  readonly port: number;
}

interface Told {
  readonly endpoint: Endpoint;
  readonly login: RedisLogin;
  readonly primary: Named;
  /** It sees the primary alive, and takes part in no failover. */
  readonly isSettled: boolean;
}

/** @throws Failure SourceBroken where fewer than a majority of the sentinels name `primary`, or one names another */
export async function requireNamed(
  primary: Named,
  { name, members }: NonNullable<RedisSource['sentinels']>,
  access: RedisAccess,
): Promise<void> {
  const { signal, log } = access.context;
  const asked = await Promise.allSettled(members.map((endpoint) => ask(endpoint, name, access)));
  signal.throwIfAborted();
  for (const each of asked) {
    if (each.status === 'rejected') log.info({ err: each.reason as unknown }, 'a sentinel is left out');
  }
  const told = ofThisCluster(
    asked.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])),
    access,
  );
  const here = placeOf({ host: primary.address, port: primary.port });
  const other = told.find((each) => !isSame(each.primary, primary));
  if (other !== undefined) {
    const there = placeOf({ host: other.primary.address, port: other.primary.port });
    throw new Failure('SourceBroken', `the sentinel ${placeOf(other.endpoint)} names ${there} as primary, not ${here}`);
  }
  const settled = told.filter(({ isSettled }) => isSettled).length;
  if (settled * 2 > members.length) return;
  const why = 'not every data node answers, and another may have been elected';
  throw new Failure(
    'SourceBroken',
    `${settled} of ${members.length} sentinels name ${here} as primary and see it alive: ${why}`,
  );
}

const isSame = (a: Named, b: Named): boolean => a.address === b.address && a.port === b.port;

function ask(endpoint: Endpoint, name: string, access: RedisAccess): Promise<Told> {
  return inRedisSession(endpoint, access, async ({ connection, login }) => {
    const { ip = '', port, flags = '' } = pairs(await connection.command('SENTINEL', 'MASTER', name));
    // It goes into a message.
    const address = isIP(ip) === 0 ? 'no address' : ip;
    return { endpoint, login, primary: { address, port: Number(port) }, isSettled: !/down|failover/.test(flags) };
  });
}
