/** Runs one action. Every one may be repeated: the second time it finds its work done. */
import type { Cluster } from '../../../api/cluster.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import { boundedAnswer, Refused } from '../../../engine/refused.ts';
import type { RedisAction } from '../action.ts';
import type { RedisConnection } from '../client/connection.ts';
import { aclRule, type Identity } from '../client/identity.ts';
import { pairs } from '../client/reply-fields.ts';
import { RedisError } from '../client/resp.ts';
import { type Credentials, credentialsOf, PasswordMissing, withSession } from '../client/session.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { dataPort, sentinelPort, termCarrier } from '../names.ts';
import { isNoSuchPrimary } from '../observe/observe.ts';
import { sentinelSettings } from '../resources/config.ts';
import { changeTls } from './certificates.ts';
import { cutOver, importFrom } from './import.ts';
import { changePasswords } from './passwords.ts';
import { actOnShards } from './shards/act.ts';
import { actSlots } from './shards/act-slots.ts';
import { switchover } from './switchover.ts';
import { removeUsers, setUsers } from './users.ts';

export async function actRedis(action: RedisAction, cluster: Cluster<RedisSpec>, io: EngineContext): Promise<void> {
  const { name } = cluster.metadata;
  const credentials = await credentialsOf(cluster, io);
  const at = (
    address: string,
    port: number,
    talk: (connection: RedisConnection) => Promise<unknown>,
  ): Promise<unknown> => withSession(io, { address, port, credentials }, talk);
  switch (action.type) {
    case 'redis.promote':
      await Promise.all(action.others.map((other) => at(other.address, dataPort, (c) => requireReplica(c, other.pod))));
      await at(action.node.address, dataPort, async (c) => {
        const { term } = action;
        if (term !== undefined) await c.command('CONFIG', 'SET', termCarrier, `primary-${term}`);
        await c.command('REPLICAOF', 'NO', 'ONE');
      });
      return;
    case 'redis.follow':
      await at(action.primary, dataPort, (c) => requirePrimary(c, action.primary));
      await at(action.node.address, dataPort, (c) => follow(c, action));
      return;
    case 'redis.monitor':
      await at(action.primary, dataPort, (c) => requirePrimary(c, action.primary));
      await at(action.sentinel.address, sentinelPort, async (c) => {
        const { quorum, ...settings } = sentinelSettings(cluster);
        if (action.instead !== undefined) await stopWatching(c, name, action);
        await c.command('SENTINEL', 'MONITOR', name, action.primary, String(dataPort), quorum);
        await tune(c, name, credentials, action.identity, settings);
      });
      return;
    case 'redis.tuneSentinel':
      await at(action.sentinel.address, sentinelPort, (c) =>
        tune(c, name, credentials, action.identity, action.settings),
      );
      return;
    case 'redis.import':
      return importFrom(action, cluster, credentials, io);
    case 'redis.cutOver':
      return cutOver(action, cluster, credentials, io);
    case 'redis.identify':
      await at(action.node.address, dataPort, (c) => c.command('ACL', 'SETUSER', ...aclRule(known(credentials))));
      return;
    case 'redis.replicateAs':
      await at(action.node.address, dataPort, (c) => {
        const { user, password } = known(credentials);
        return c.command('CONFIG', 'SET', 'masteruser', user, 'masterauth', password);
      });
      return;
    case 'redis.watchAs':
      await at(action.sentinel.address, sentinelPort, (c) => tune(c, name, credentials, true, {}));
      return;
    case 'redis.meetAs':
      await at(action.sentinel.address, sentinelPort, (c) => meetAs(c, known(credentials)));
      return;
    case 'redis.acceptPasswords':
    case 'redis.acceptAsWell':
    case 'redis.retirePasswords':
      return changePasswords(action, cluster, credentials, io);
    case 'redis.setUsers':
      return setUsers(action, cluster, credentials, io);
    case 'redis.removeUsers':
      return removeUsers(action, cluster, credentials, io);
    case 'redis.secure':
    case 'redis.closeTls':
      return changeTls(action, credentials, io);
    case 'redis.forget':
      await at(action.sentinel.address, sentinelPort, (c) => c.command('SENTINEL', 'RESET', name));
      return;
    case 'redis.failover':
      await at(action.sentinel.address, sentinelPort, (c) => failOver(c, name));
      return;
    case 'redis.configure':
      await at(action.node.address, dataPort, (c) => configure(c, action.node.pod, action.settings));
      return;
    case 'redis.handOver':
      return switchover(action, cluster, credentials, io);
    case 'redis.assignSlots':
    case 'redis.meet':
    case 'redis.replicate':
    case 'redis.forgetNode':
    case 'redis.takeOver':
      return actOnShards(action, credentials, io);
    case 'redis.moveSlots':
    case 'redis.migrateSlots':
    case 'redis.cancelMigrations':
    case 'redis.returnKeys':
    case 'redis.closeSlot':
      return actSlots(action, credentials, io);
    default:
      return action satisfies never;
  }
}

/** Steps before this one may have taken long, and Sentinel may have elected another meanwhile: then data would be lost. */
async function requirePrimary(connection: RedisConnection, address: string): Promise<void> {
  if ((await roleOf(connection)) !== 'master') throw new Error(`${address} is primary no more`);
}

async function requireReplica(connection: RedisConnection, pod: string): Promise<void> {
  if ((await roleOf(connection)) === 'master') throw new Error(`${pod} has become primary meanwhile`);
}

/** Not where the sentinel has gone over to another meanwhile: it may have been elected. */
async function stopWatching(
  connection: RedisConnection,
  name: string,
  { sentinel, primary, instead }: Extract<RedisAction, { type: 'redis.monitor' }>,
): Promise<void> {
  const now = await watchedBy(connection, name);
  if (now === undefined) return;
  if (now !== instead && now !== primary) throw new Error(`${sentinel.pod} watches ${now} meanwhile`);
  await connection.command('SENTINEL', 'REMOVE', name);
}

async function watchedBy(connection: RedisConnection, name: string): Promise<string | undefined> {
  try {
    return pairs(await connection.command('SENTINEL', 'MASTER', name)).ip;
  } catch (error) {
    if (error instanceof RedisError && isNoSuchPrimary(error)) return undefined;
    throw error;
  }
}

async function follow(
  connection: RedisConnection,
  { node, from, primary }: Extract<RedisAction, { type: 'redis.follow' }>,
): Promise<void> {
  if (from === 'replica') await requireReplica(connection, node.pod);
  await connection.command('REPLICAOF', primary, String(dataPort));
}

async function roleOf(connection: RedisConnection): Promise<string | undefined> {
  const role = await connection.command('ROLE');
  return Array.isArray(role) ? String(role[0]) : undefined;
}

/** CONFIG SET takes all or nothing: after a refusal each directive is set by itself, so that one holds up no other. */
async function configure(
  connection: RedisConnection,
  pod: string,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  const set = (pairs: readonly (readonly [string, string])[]): Promise<string | undefined> =>
    connection.command('CONFIG', 'SET', ...pairs.flat()).then(
      () => undefined,
      (error: unknown) => {
        if (!(error instanceof RedisError)) throw error;
        return error.message;
      },
    );
  const pairs = Object.entries(settings);
  const answer = await set(pairs);
  if (answer === undefined) return;
  const answers = pairs.length === 1 ? [answer] : await Promise.all(pairs.map((pair) => set([pair])));
  const refusals = pairs.flatMap(([name, value], i) =>
    answers[i] === undefined ? [] : [`${name} ${value}: ${boundedAnswer(answers[i])}`],
  );
  if (refusals.length > 0) throw new Refused('SettingsRefused', `${pod} refuses ${refusals.join(', ')}`);
}

async function failOver(connection: RedisConnection, name: string): Promise<void> {
  try {
    await connection.command('SENTINEL', 'FAILOVER', name);
  } catch (error) {
    // It was asked before, and is at it.
    if (!(error instanceof RedisError) || error.code !== 'INPROG') throw error;
  }
}

/**
 * That a sentinel knows the identity itself stands for its using it, since no sentinel tells whom it logs in as. So it
 * is told so last, and both go into its file together.
 */
async function tune(
  connection: RedisConnection,
  name: string,
  credentials: Credentials,
  asCluster: boolean,
  settings: Readonly<Partial<Record<string, string>>>,
): Promise<void> {
  const login = asCluster ? loginOf(known(credentials)) : ['auth-user', '', 'auth-pass', passwordOf(credentials)];
  await connection.command('SENTINEL', 'SET', name, ...login, ...Object.entries(settings).flatMap(words));
  if (!asCluster) return;
  await connection.command('ACL', 'SETUSER', ...aclRule(known(credentials)));
  await connection.command('SENTINEL', 'FLUSHCONFIG');
}

/** One after the other, as version 7.0 wants it. Each has the sentinel call the others anew. */
async function meetAs(connection: RedisConnection, { user, password }: Identity): Promise<void> {
  await connection.command('SENTINEL', 'CONFIG', 'SET', 'sentinel-pass', password);
  await connection.command('SENTINEL', 'CONFIG', 'SET', 'sentinel-user', user);
}

const words = ([name, value = '']: readonly [string, string | undefined]): string[] => [name, value];

const loginOf = ({ user, password }: Identity): string[] => ['auth-user', user, 'auth-pass', password];

function known({ identity }: Credentials): Identity {
  if (identity === undefined) throw new Error("the Secret with the cluster's identity is not there");
  return identity;
}

function passwordOf({ password, missing }: Credentials): string {
  if (password === undefined) throw new PasswordMissing(missing);
  return password;
}
