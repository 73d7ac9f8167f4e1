/** Changes with which passwords a process lets clients in. Only hashes are told. */
import type { Cluster } from '../../../api/cluster.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import type { Formers, Process, RedisAction } from '../action.ts';
import type { RedisConnection } from '../client/connection.ts';
import type { Identity } from '../client/identity.ts';
import { type ClientPasswords, clientPasswords, firstLine, passwordSecret } from '../client/password.ts';
import { type Credentials, withSession } from '../client/session.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { dataPort, redisNames, sentinelPort } from '../names.ts';
import { type Accepted, acceptedBy, formersIn, knowsAll } from '../observe/accepted.ts';

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
      const identity = identityIn(credentials, cluster);
      const { hashes } = await at(action.as, accepted);
      const wanted = hashes.filter((hash) => isAmong(formersIn([hash], [], identity), action.formers));
      await at(process, (connection) => set(connection, process, wanted.map(added)));
      return;
    }
    case 'redis.retirePasswords': {
      // Somebody may have edited it since it was read: what it named until a moment ago is no former password yet.
      const { name, key } = passwordSecret(cluster);
      const now = (await io.secretNow(name)) ?? {};
      const { hashes, hasUnusableOther } = clientPasswords(now, key);
      if (firstLine(now[key] ?? '') === '' || hasUnusableOther === true) throw new Error(noneOfUse(cluster));
      const identity = identityIn(credentials, cluster);
      await at(process, async (connection) => {
        const user = await accepted(connection);
        if (!knowsAll(user, hashes) || !isAmong(formersIn(user.hashes, hashes, identity), action.formers)) {
          throw new Error(`Secret ${name} has changed meanwhile, or the passwords of ${process.pod}`);
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

const noneOfUse = (cluster: Cluster<RedisSpec>): string =>
  `Secret ${passwordSecret(cluster).name} has no password that is of use`;

const isAmong = (some: Formers, all: Formers): boolean => some.every((former) => all.includes(former));

function identityIn({ identity }: Credentials, cluster: Cluster<RedisSpec>): Identity {
  if (identity === undefined) throw new Error(`Secret ${redisNames(cluster.metadata.name).internal} has no identity`);
  return identity;
}

async function accepted(connection: RedisConnection): Promise<Accepted> {
  return acceptedBy(await connection.command('ACL', 'GETUSER', 'default'));
}

function usable({ clients }: Credentials, cluster: Cluster<RedisSpec>): ClientPasswords {
  if (clients === undefined || clients.unusable !== undefined || clients.hashes.length === 0) {
    throw new Error(noneOfUse(cluster));
  }
  return clients;
}

/** A sentinel writes what it was told into its file, so that it knows it when its process restarts. */
async function set(connection: RedisConnection, { part }: Process, rules: readonly string[]): Promise<void> {
  if (rules.length === 0) return;
  await connection.command('ACL', 'SETUSER', 'default', ...rules);
  if (part === 'sentinel') await connection.command('SENTINEL', 'FLUSHCONFIG');
}
