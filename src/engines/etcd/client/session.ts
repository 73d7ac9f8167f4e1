/**
 * Calls to the members of one cluster, for one look or one action. Where a member wants to know who is asking, the root
 * user's password is exchanged for a token, which the other members take as well.
 */
import type { Cluster } from '../../../api/cluster.ts';
import { certificatesIn } from '../../../certificates/facts.ts';
import type { EngineContext, TlsMaterial } from '../../../engine/engine-context.ts';
import type { EtcdSpec } from '../kind/schema.ts';
import { certificateSecret, serverName } from '../names.ts';
import { type Answer, callEtcd, changeTimeoutMs, EtcdRefusal } from './gateway.ts';
import { passwordSecret, previousKey } from './password.ts';

export const rootUser = 'root';

/** A Secret, or a key of it, is not there, or what it says is refused: nobody can talk to the database. */
export class SecretUnusable extends Error {
  override readonly name = 'SecretUnusable';
}

interface Passwords {
  readonly present: string;
  /** What etcd may still have: without it nobody could tell etcd the present one. */
  readonly previous?: string;
}

async function passwordsOf(cluster: Cluster<EtcdSpec>, io: EngineContext): Promise<Passwords> {
  const { name, key } = passwordSecret(cluster);
  const values = await io.secret(name);
  const present = firstLine(values?.[key]);
  if (present === undefined) throw new SecretUnusable(`Secret ${name} with key ${key} does not exist`);
  // etcd accepts an empty password for root, and refuses every login with it from then on.
  if (present === '') throw new SecretUnusable(`Secret ${name} has no password in the first line of its key ${key}`);
  const previous = firstLine(values?.[previousKey(key)]);
  return { present, ...(previous === undefined || previous === '' ? {} : { previous }) };
}

/** A trailing newline in a Secret is an accident. */
function firstLine(value: string | undefined): string | undefined {
  return value?.split('\n', 1)[0];
}

/** The one that etcd shall have. */
export async function passwordOf(cluster: Cluster<EtcdSpec>, io: EngineContext): Promise<string> {
  return (await passwordsOf(cluster, io)).present;
}

/**
 * Each connection reads them anew, and nobody else is served meanwhile: for the 1,800 that a Secret has room for that is
 * seconds. A bundle of all public CAs is smaller.
 */
const mostCertificates = 200;

/** Undefined where connections are not secured. The members' own certificate serves the operator as well. */
async function tlsOf(cluster: Cluster<EtcdSpec>, io: EngineContext): Promise<TlsMaterial | undefined> {
  const name = certificateSecret(cluster, 'client');
  if (name === undefined) return undefined;
  const { 'ca.crt': ca, 'tls.crt': cert, 'tls.key': key } = (await io.secret(name)) ?? {};
  if (ca === undefined || cert === undefined || key === undefined) {
    throw new SecretUnusable(`Secret ${name} with the keys ca.crt, tls.crt and tls.key does not exist`);
  }
  if ([ca, cert].some((text) => certificatesIn(text).length > mostCertificates)) {
    throw new SecretUnusable(`Secret ${name} has more than ${mostCertificates} certificates in ca.crt or tls.crt`);
  }
  return { ca, cert, key, servername: serverName(cluster) };
}

export interface EtcdSession {
  call(address: string, path: string, body: object, timeoutMs?: number): Promise<Answer>;
  /** Whether etcd has refused the present password, and taken the one before. */
  readonly usedPreviousPassword: boolean;
}

/** A token that one member has made is taken by the others a moment later; to make one takes about as long. */
const spreadMs = 200;

/** Nobody has said who is asking. With a certificate that names no user, some calls call that a lack of permission. */
function isUnknown({ message }: EtcdRefusal, shown: string | undefined): boolean {
  return (
    /user name is empty|invalid auth token/.test(message) || (shown === undefined && /permission denied/.test(message))
  );
}

export function sessionOf(cluster: Cluster<EtcdSpec>, io: EngineContext): EtcdSession {
  let token: string | undefined;
  let usedPreviousPassword = false;

  async function send(
    address: string,
    path: string,
    body: object,
    timeoutMs?: number,
    shown?: string,
  ): Promise<Answer> {
    const tls = await tlsOf(cluster, io);
    const proof = { ...(shown === undefined ? {} : { token: shown }), ...(tls === undefined ? {} : { tls }) };
    try {
      return await callEtcd(io, address, path, body, timeoutMs, proof);
    } catch (error) {
      // It may have been renewed since it was read.
      const secret = certificateSecret(cluster, 'client');
      if (secret !== undefined && !(error instanceof EtcdRefusal)) io.secretRefused(secret);
      throw error;
    }
  }

  async function authenticate(address: string): Promise<string> {
    const { present, previous } = await passwordsOf(cluster, io);
    const found = await tokenFor(address, present);
    if (found !== undefined) return found;
    const { name, key } = passwordSecret(cluster);
    io.secretRefused(name);
    const old = previous === undefined ? undefined : await tokenFor(address, previous);
    if (old === undefined) {
      throw new SecretUnusable(
        previous === undefined
          ? `etcd refuses the password in Secret ${name}, and the one before is not in it, under ${previousKey(key)}`
          : `etcd refuses both passwords in Secret ${name}`,
      );
    }
    usedPreviousPassword = true;
    return old;
  }

  /** Undefined where it is the wrong password. */
  async function tokenFor(address: string, password: string): Promise<string | undefined> {
    try {
      const answer = await send(address, 'auth/authenticate', { name: rootUser, password }, changeTimeoutMs);
      return String(answer.token);
    } catch (error) {
      if (error instanceof EtcdRefusal && /invalid user ID or password/.test(error.message)) return undefined;
      throw error;
    }
  }

  /** Each member for itself: one that is cut off from the others, or has no vote, takes a token and can make none. */
  async function tokenFrom(address: string): Promise<string> {
    try {
      return await authenticate(address);
    } catch (error) {
      if (error instanceof SecretUnusable) throw error;
      await io.sleep(spreadMs);
      if (token === undefined) throw error;
      return token;
    }
  }

  return {
    get usedPreviousPassword() {
      return usedPreviousPassword;
    },
    async call(address, path, body, timeoutMs) {
      const shown = token;
      try {
        return await send(address, path, body, timeoutMs, shown);
      } catch (error) {
        if (!(error instanceof EtcdRefusal) || !isUnknown(error, shown)) throw error;
        if (shown !== undefined) await io.sleep(spreadMs);
        else token ??= await tokenFrom(address);
        return await send(address, path, body, timeoutMs, token);
      }
    },
  };
}
