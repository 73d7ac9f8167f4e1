/** The users of a spec with the hashes of their passwords. A Secret that cannot be used holds up its own user alone. */
import type { Cluster } from '../../../api/cluster.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { clientPasswords, firstLine, secretAgeMs } from './password.ts';
import { wordsOf } from './user-record.ts';

export interface WantedUser {
  readonly name: string;
  readonly isAdmin: boolean;
  /** Hashes and rules, as in `UserRecord`. Absent where the Secret is of no use: then the user stays as it is. */
  readonly words?: readonly string[];
  /** Why the Secret is of no use. */
  readonly problem?: string;
}

export async function wantedUsers(
  { spec: { users = [] } }: Cluster<RedisSpec>,
  io: Pick<EngineContext, 'secret' | 'secretOutdated' | 'signal'>,
): Promise<WantedUser[]> {
  return Promise.all(
    users.map(async ({ name, secretRef, rules, admin }): Promise<WantedUser> => {
      const isAdmin = admin === true;
      const told = await hashesIn(secretRef, io);
      return typeof told === 'string'
        ? { name, isAdmin, problem: told }
        : { name, isAdmin, words: wordsOf(told, rules) };
    }),
  );
}

/** Or why there are none. */
async function hashesIn(
  { name, key = 'password' }: { readonly name: string; readonly key?: string },
  io: Pick<EngineContext, 'secret' | 'secretOutdated' | 'signal'>,
): Promise<readonly string[] | string> {
  io.secretOutdated(name, secretAgeMs);
  let values: Readonly<Record<string, string>> | undefined;
  try {
    values = await io.secret(name);
  } catch (error) {
    io.signal.throwIfAborted();
    return `Secret ${name} cannot be read: ${(error as Error).message}`;
  }
  const value = values?.[key];
  if (values === undefined || value === undefined) return `Secret ${name} with key ${key} does not exist`;
  if (firstLine(value) === '') return `Secret ${name} has no password in the first line of its key ${key}`;
  const { hashes, unusable } = clientPasswords(values, key);
  return unusable === undefined ? hashes : `Secret ${name} names a password that is of no use: ${unusable}`;
}
