/**
 * Calls to the members of one cluster, for one look or one action. Where a member wants to know who is asking, the root
 * user's password is exchanged for a token, which the other members take as well.
 */
import type { Cluster } from '../../api/cluster.ts';
import type { EtcdSpec } from '../../api/etcd.ts';
import type { EngineIO } from '../engine.ts';
import { type Answer, callEtcd, changeTimeoutMs, EtcdRefusal } from './gateway.ts';
import { etcdNames } from './names.ts';

export const rootUser = 'root';

/** The Secret, or its key, is not there, or what it says is refused: nobody can talk to the database. */
export class PasswordUnusable extends Error {
  override readonly name = 'PasswordUnusable';
}

/** Name and key of the Secret that holds the root user's password: the user's, or the one that is generated. */
export function passwordSecret({ metadata, spec }: Cluster<EtcdSpec>): { readonly name: string; readonly key: string } {
  return spec.auth.secretRef ?? { name: etcdNames(metadata.name).root, key: 'password' };
}

export async function passwordOf(cluster: Cluster<EtcdSpec>, io: EngineIO): Promise<string> {
  const { name, key } = passwordSecret(cluster);
  const value = (await io.secret(name))?.[key];
  if (value === undefined) throw new PasswordUnusable(`Secret ${name} with key ${key} does not exist`);
  // A trailing newline in a Secret is an accident.
  return value.split('\n', 1)[0] ?? '';
}

export interface EtcdSession {
  call(address: string, path: string, body: object, timeoutMs?: number): Promise<Answer>;
  /** Whether a member has asked who is asking. */
  readonly isAsked: () => boolean;
}

/** A token that one member has made is taken by the others a moment later; to make one takes about as long. */
const spreadMs = 200;

export function sessionOf(cluster: Cluster<EtcdSpec>, io: EngineIO): EtcdSession {
  let asked = false;
  let token: string | undefined;

  async function authenticate(address: string): Promise<string> {
    const password = await passwordOf(cluster, io);
    try {
      const answer = await callEtcd(io, address, 'auth/authenticate', { name: rootUser, password }, changeTimeoutMs);
      return String(answer.token);
    } catch (cause) {
      if (!(cause instanceof EtcdRefusal) || !/invalid user ID or password/.test(cause.message)) throw cause;
      const { name } = passwordSecret(cluster);
      io.secretRefused(name);
      throw new PasswordUnusable(`etcd refuses the password in Secret ${name}`, { cause });
    }
  }

  /** Each member for itself: one that is cut off from the others, or has no vote, takes a token and can make none. */
  async function tokenFrom(address: string): Promise<string> {
    try {
      return await authenticate(address);
    } catch (error) {
      if (error instanceof PasswordUnusable) throw error;
      await io.sleep(spreadMs);
      if (token === undefined) throw error;
      return token;
    }
  }

  return {
    isAsked: () => asked,
    async call(address, path, body, timeoutMs) {
      const shown = token;
      try {
        return await callEtcd(io, address, path, body, timeoutMs, shown);
      } catch (error) {
        if (!(error instanceof EtcdRefusal) || !/user name is empty|invalid auth token/.test(error.message))
          throw error;
        asked = true;
        if (shown !== undefined) await io.sleep(spreadMs);
        else token ??= await tokenFrom(address);
        return await callEtcd(io, address, path, body, timeoutMs, token);
      }
    },
  };
}
