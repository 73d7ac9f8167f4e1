/** Changes with which passwords a process lets clients in. Only hashes are told. */
import type { Cluster } from '../../../api/cluster.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import type { Process, RedisAction } from '../action.ts';
import type { RedisConnection } from '../client/connection.ts';
import { type ClientPasswords, passwordSecret } from '../client/password.ts';
import { type Credentials, credentialsOf, withSession } from '../client/session.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { dataPort, sentinelPort } from '../names.ts';
import { type Accepted, acceptedBy, knowsAll } from '../observe/accepted.ts';

type PasswordAction = Extract<
  RedisAction,
  { type: 'redis.acceptPasswords' | 'redis.acceptAsWell' | 'redis.retirePasswords' }
>;

export async function changePasswords(
  action: PasswordAction,
  cluster: Cluster<RedisSpec>,
  credentials: Credentials,
  io: EngineContext,
): Promise<void> {
  const at = <T>({ address, part }: Process, talk: (connection: RedisConnection) => Promise<T>): Promise<T> =>
    withSession(io, { address, port: part === 'data' ? dataPort : sentinelPort, credentials }, talk);
  const { process } = action;
  switch (action.type) {
    case 'redis.acceptPasswords': {
      const { hashes } = usable(credentials, cluster);
      await at(process, (connection) => set(connection, process, hashes.map(added)));
      return;
    }
    case 'redis.acceptAsWell': {
      const { hashes } = await at(action.as, accepted);
      await at(process, (connection) => set(connection, process, hashes.map(added)));
      return;
    }
    case 'redis.retirePasswords': {
      // Somebody may have put the old password back since it was read.
      io.secretRefused(passwordSecret(cluster).name, 0);
      const { hashes } = usable(await credentialsOf(cluster, io), cluster);
      await at(process, async (connection) => {
        if (!knowsAll(await accepted(connection), hashes)) {
          throw new Error(`Secret ${passwordSecret(cluster).name} has changed meanwhile`);
        }
        await set(connection, process, ['resetpass', ...hashes.map(added)]);
      });
      return;
    }
    default:
      return action satisfies never;
  }
}

const added = (hash: string): string => `#${hash}`;

async function accepted(connection: RedisConnection): Promise<Accepted> {
  return acceptedBy(await connection.command('ACL', 'GETUSER', 'default'));
}

function usable({ clients }: Credentials, cluster: Cluster<RedisSpec>): ClientPasswords {
  if (clients === undefined || clients.unusable !== undefined || clients.hashes.length === 0) {
    throw new Error(`Secret ${passwordSecret(cluster).name} has no password that is of use`);
  }
  return clients;
}

/** A sentinel writes what it was told into its file, so that it knows it when its process restarts. */
async function set(connection: RedisConnection, { part }: Process, rules: readonly string[]): Promise<void> {
  if (rules.length === 0) return;
  await connection.command('ACL', 'SETUSER', 'default', ...rules);
  if (part === 'sentinel') await connection.command('SENTINEL', 'FLUSHCONFIG');
}
