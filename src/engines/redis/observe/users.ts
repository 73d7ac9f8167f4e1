/**
 * Which users of a data node are not as the spec wants them. Asked by name, on connections of their own: what a server answers of one user
 * may be too long to read, and neither the other users nor the look at the node suffer from that.
 */
import type { EngineContext } from '../../../engine/engine-context.ts';
import { RedisError, type Reply } from '../client/resp.ts';
import { type Credentials, withSession } from '../client/session.ts';
import { digestOf, isOn, recordsIn, recordUser, trialUser, type UserRecord } from '../client/user-record.ts';
import type { WantedUser } from '../client/wanted-users.ts';
import { dataPort } from '../names.ts';
import type { KnownUsers, NodeUsers } from './observed.ts';

interface Place {
  readonly address: string;
  readonly credentials: Credentials;
}

/** The server's answer about a user cannot be read, for example because it is too long. The operator sets such a user again. */
const unreadable = Symbol();

export async function observeUsers(place: Place, wanted: readonly WantedUser[], io: EngineContext): Promise<NodeUsers> {
  try {
    const [record, trial] = await ask(place, [recordUser, trialUser], io);
    const records = recordsIn(record ?? null);
    if (records === undefined) return { unknown: 'what it tells of its users is no answer to ACL GETUSER' };
    const names = wanted.flatMap(({ name, words }) => (words === undefined ? [] : [name]));
    const found = names.length === 0 ? new Map() : await described(place, names, io);
    const { due, byHand, former } = usersOf(records, wanted, found);
    // An operator that was interrupted has left it.
    return { due, byHand, former: trial === null ? former : [...former, trialUser] };
  } catch (error) {
    io.signal.throwIfAborted();
    return { unknown: (error as Error).message };
  }
}

const getUser = ['ACL', 'GETUSER'] as const;

/** On one connection. */
function ask({ address, credentials }: Place, names: readonly string[], io: EngineContext): Promise<readonly Reply[]> {
  return withSession(io, { address, port: dataPort, credentials }, (connection) =>
    Promise.all(names.map((name) => connection.command(...getUser, name))),
  );
}

type Found = Reply | typeof unreadable;

/** Together; where that connection ends early, each name on one of its own. */
async function described(
  place: Place,
  names: readonly string[],
  io: EngineContext,
): Promise<ReadonlyMap<string, Found>> {
  try {
    const answers = await ask(place, names, io);
    return new Map(names.map((name, i) => [name, answers[i] ?? null]));
  } catch {
    io.signal.throwIfAborted();
    // The node answers, as the question before this one has shown: what cannot be read is one of the users.
    const found = new Map<string, Found>();
    for (const name of names) found.set(name, await askAlone(place, name, io));
    return found;
  }
}

async function askAlone(place: Place, name: string, io: EngineContext): Promise<Found> {
  try {
    const [answer] = await ask(place, [name], io);
    return answer ?? null;
  } catch (error) {
    io.signal.throwIfAborted();
    if (error instanceof RedisError) throw error;
    return unreadable;
  }
}

/** Pure, so that every odd answer can be a test row. */
export function usersOf(
  records: readonly UserRecord[],
  wanted: readonly WantedUser[],
  found: ReadonlyMap<string, Found>,
): KnownUsers {
  const recordOf = (name: string): UserRecord | undefined => records.find((record) => record.name === name);
  const isSet = ({ name, words }: WantedUser): boolean => {
    const record = recordOf(name);
    const answer = found.get(name);
    if (record === undefined || answer === undefined || typeof answer === 'symbol') return false;
    return record.words.join(';') === words?.join(';') && isOn(answer) && digestOf(answer) === record.digest;
  };
  const due = wanted.filter((user) => user.words !== undefined && !isSet(user));
  const isByHand = ({ name }: WantedUser): boolean =>
    recordOf(name) === undefined && (found.get(name) ?? null) !== null;
  const former = records.filter(({ name }) => !wanted.some((user) => user.name === name));
  return {
    due: due.map(({ name }) => name),
    byHand: due.filter(isByHand).map(({ name }) => name),
    former: former.map(({ name }) => name),
  };
}
