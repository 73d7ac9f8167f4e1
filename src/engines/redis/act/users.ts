/**
 * Sets and removes ACL users of a data node. The server's record of a user (`client/user-record.ts`) is there before the user, and goes after
 * it: whenever the operator is interrupted, the record tells what there is to remove.
 */
import type { Cluster } from '../../../api/cluster.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import { boundedAnswer, Refused } from '../../../engine/refused.ts';
import type { RedisAction } from '../action.ts';
import type { RedisConnection } from '../client/connection.ts';
import { RedisError } from '../client/resp.ts';
import { type Credentials, withSession } from '../client/session.ts';
import { digestOf, recordRule, recordsIn, recordUser, trialUser, type UserRecord } from '../client/user-record.ts';
import { type WantedUser, wantedUsers } from '../client/wanted-users.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { dataPort } from '../names.ts';
import { adminCommands, type CommandShape, dangersOf } from './dangerous-rules.ts';

type SetUsers = Extract<RedisAction, { type: 'redis.setUsers' }>;
type RemoveUsers = Extract<RedisAction, { type: 'redis.removeUsers' }>;

/** Known, since its Secret is of use. */
type Settable = WantedUser & Required<Pick<WantedUser, 'words'>>;

export async function setUsers(
  { node, users }: SetUsers,
  cluster: Cluster<RedisSpec>,
  credentials: Credentials,
  io: EngineContext,
): Promise<void> {
  const wanted = (await wantedUsers(cluster, io)).filter(
    (user): user is Settable => users.includes(user.name) && user.words !== undefined,
  );
  await withSession(io, { address: node.address, port: dataPort, credentials }, async (connection) => {
    let records = await recordsOf(connection, node.pod);
    const commands = wanted.every(({ isAdmin }) => isAdmin) ? [] : await adminCommands(connection);
    const refusals: string[] = [];
    for (const user of wanted) {
      const tried = await tryOut(connection, user, commands);
      await connection.command('ACL', 'DELUSER', trialUser);
      if ('refused' in tried) {
        refusals.push(`${user.name}: ${tried.refused}`);
        continue;
      }
      const record = { name: user.name, digest: tried.digest, words: user.words };
      records = [...records.filter(({ name }) => name !== user.name), record];
      await connection.command('ACL', 'SETUSER', ...recordRule(records));
      await connection.command('ACL', 'SETUSER', user.name, 'reset', 'on', ...user.words);
    }
    if (refusals.length > 0) throw new Refused('UserRefused', `${node.pod} refuses ${refusals.join('; ')}`);
  });
}

export async function removeUsers(
  { node, users }: RemoveUsers,
  { spec }: Cluster<RedisSpec>,
  credentials: Credentials,
  io: EngineContext,
): Promise<void> {
  await withSession(io, { address: node.address, port: dataPort, credentials }, async (connection) => {
    const records = await recordsOf(connection, node.pod);
    const going = records.filter(
      ({ name }) => users.includes(name) && spec.users?.some((user) => user.name === name) !== true,
    );
    const names = [...going.map(({ name }) => name), ...users.filter((name) => name === trialUser)];
    if (names.length === 0) return;
    await connection.command('ACL', 'DELUSER', ...names);
    if (going.length === 0) return;
    const staying = records.filter((record) => !going.includes(record));
    await (staying.length === 0
      ? connection.command('ACL', 'DELUSER', recordUser)
      : connection.command('ACL', 'SETUSER', ...recordRule(staying)));
  });
}

async function recordsOf(connection: RedisConnection, pod: string): Promise<UserRecord[]> {
  const records = recordsIn(await connection.command('ACL', 'GETUSER', recordUser));
  if (records === undefined) throw new Error(`what ${pod} tells of its users is no answer to ACL GETUSER`);
  return records;
}

/** The name that is tried on is off: nobody logs in as it. */
async function tryOut(
  connection: RedisConnection,
  { words, isAdmin }: Settable,
  commands: readonly CommandShape[],
): Promise<{ readonly digest: string } | { readonly refused: string }> {
  try {
    await connection.command('ACL', 'SETUSER', trialUser, 'reset', 'off', ...words);
  } catch (error) {
    // An error that is not about the rules, such as full memory, is reported like any other failure.
    if (!(error instanceof RedisError) || !isAboutRules.test(error.message)) throw error;
    return { refused: boundedAnswer(error.message) };
  }
  const dangers = isAdmin ? [] : await dangersOf(connection, words, commands);
  if (dangers.length > 0) {
    return { refused: boundedAnswer(`the rules allow ${dangers.join(', ')}, which needs admin: true`) };
  }
  return { digest: digestOf(await connection.command('ACL', 'GETUSER', trialUser)) };
}

const isAboutRules = /^ERR .*(ACL SETUSER modifier|acl selector)/i;
