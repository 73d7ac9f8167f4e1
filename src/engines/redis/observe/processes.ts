/** Asks every process of a cluster at once, each within a second, with whatever the operator may log in with. Reads only. */
import type { Cluster } from '../../../api/cluster.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import type { Children, Pod } from '../../../resources/children.ts';
import type { RedisConnection } from '../client/connection.ts';
import { type Identity, identityOf } from '../client/identity.ts';
import { isBindableBy, passwordSecret, secretAgeMs } from '../client/password.ts';
import { RedisError } from '../client/resp.ts';
import { type Credentials, credentialsOf, type Login, PasswordMissing, withSession } from '../client/session.ts';
import { wantedUsers } from '../client/wanted-users.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { dataPort, redisNames, sentinelPort } from '../names.ts';
import { isDataPod, isSentinelPod } from '../resources/members.ts';
import { acceptedBy, knowsAll, withFormers } from './accepted.ts';
import type { DataNode, Lack, RedisObserved, SentinelNode, SilentNode } from './observed.ts';
import { observeUsers } from './users.ts';

type Talk<T> = (connection: RedisConnection, at: Place, told: Told) => Promise<T | Unready>;

/** It answers, and what it says means nothing yet. */
export type Unready = SilentNode & { readonly lacks?: never };

export interface Talks<N extends DataNode> {
  readonly data: Talk<N>;
  readonly sentinel: Talk<SentinelNode>;
  /** Answer in bytes that is read of a data node. */
  readonly longest?: number;
  /** What else is asked of a data node that answers, on other connections. */
  readonly more?: (node: N, credentials: Credentials) => Promise<Partial<N>>;
}

/** `talks`: what is asked of each. A mode without sentinels asks none. */
export async function observeProcesses<N extends DataNode>(
  cluster: Cluster<RedisSpec>,
  children: Children,
  io: EngineContext,
  talks: Talks<N>,
): Promise<RedisObserved<N>> {
  const data = children.pods.filter(isDataPod);
  const sentinels = children.pods.filter(isSentinelPod);
  const nobody = { data: data.map(silentPod), sentinels: sentinels.map(silentPod) };
  // Pods wait for the Secret, too: it is made whether or not one of them runs.
  const identity = await identityOf(cluster, io);
  const missing = typeof identity === 'string' ? { identity } : {};
  if (!children.pods.some(hasProcess)) return { ...nobody, ...missing };
  io.secretOutdated(passwordSecret(cluster).name, secretAgeMs);
  let credentials: Credentials;
  try {
    credentials = await credentialsOf(cluster, io);
  } catch (error) {
    if (!(error instanceof PasswordMissing)) throw error;
    return { ...nobody, ...missing, credentialsProblem: error.message, isBindable: false };
  }
  // Before anybody refuses what the Secret says: all of this look rests on one reading of it.
  const isBindable = await isBindableBy(cluster, io);
  const wanted = await wantedUsers(cluster, io);
  // Secrets are read anew before long where somebody refuses what they said.
  const refused = (lacks: readonly Lack[]): void => {
    if (lacks.includes('identity') && credentials.identity !== undefined) {
      io.secretRefused(redisNames(cluster.metadata.name).internal);
    }
    if (lacks.includes('password')) io.secretRefused(passwordSecret(cluster).name);
  };
  const longest = talks.longest === undefined ? {} : { longest: talks.longest };
  const accepted = new Map<string, readonly string[]>();
  const ask = <T extends { readonly lacks?: readonly Lack[] }>(
    port: number,
    talk: (connection: RedisConnection, at: Place, told: Told) => Promise<T>,
  ) => {
    return async (pod: Pod): Promise<T | SilentNode> => {
      const address = pod.status?.podIP;
      if (address === undefined || !hasProcess(pod)) return silentPod(pod);
      try {
        const at = { pod: pod.metadata.name, address };
        const found = await withSession(io, { address, port, credentials, ...longest }, async (connection, login) => {
          const told = await toldTo(connection, login, credentials);
          accepted.set(at.pod, told.accepts ?? []);
          return talk(connection, at, told);
        });
        refused(found.lacks ?? []);
        return found;
      } catch (error) {
        const why = (error as Error).message;
        const isRefusal = error instanceof RedisError && error.code === 'WRONGPASS';
        if (isRefusal) refused(['identity', 'password']);
        const silent: SilentNode = { state: 'silent', pod: pod.metadata.name, address, why };
        return isRefusal ? { ...silent, refusal: why } : silent;
      }
    };
  };
  const [dataNodes, sentinelNodes] = await Promise.all([
    Promise.all(
      data.map(async (pod) => {
        const node = await ask(dataPort, talks.data)(pod);
        // A node that does not answer is not asked twice.
        if (node.state !== 'answering') return node;
        const users = await observeUsers({ address: node.address, credentials }, wanted, io);
        return { ...node, users, ...(await talks.more?.(node, credentials)) };
      }),
    ),
    Promise.all(sentinels.map(ask(sentinelPort, talks.sentinel))),
  ]);
  const userProblems = wanted.flatMap(({ name, problem }) => (problem === undefined ? [] : [`${name}: ${problem}`]));
  const { hashes: named = [], unusable, hasUnusableOther } = credentials.clients ?? {};
  return {
    data: withFormers(dataNodes, accepted, named, credentials.identity),
    sentinels: withFormers(sentinelNodes, accepted, named, credentials.identity),
    at: io.now(),
    ...(userProblems.length === 0 ? {} : { userProblems }),
    ...(named.length === 0 ? {} : { namedPasswords: named.length }),
    ...(unusable === undefined ? {} : { unusablePassword: unusable }),
    ...(hasUnusableOther === undefined ? {} : { hasUnusableOther }),
    isBindable,
    ...missing,
    ...(credentials.missing === undefined ? {} : { passwordMissing: credentials.missing }),
  };
}

/** Who a process knows, and what it is held against. */
export interface Told {
  readonly lacks: readonly Lack[];
  readonly identity?: Identity;
  /** With which passwords it lets clients in. Absent where it was not asked. */
  readonly accepts?: readonly string[];
}

/** Asks for no more than the hashes that it keeps: a password that it does not know would be one more failed login. */
async function toldTo(connection: RedisConnection, login: Login, credentials: Credentials): Promise<Told> {
  const { identity, clients } = credentials;
  const known = identity === undefined ? {} : { identity };
  const lacks: readonly Lack[] = identity === undefined || login === 'identity' ? [] : ['identity'];
  if (login === 'password' || clients === undefined) return { lacks, ...known };
  const user = acceptedBy(await connection.command('ACL', 'GETUSER', 'default'));
  const isTold = knowsAll(user, clients.hashes);
  return { lacks: isTold ? lacks : [...lacks, 'password'], ...known, accepts: user.hashes };
}

export interface Place {
  readonly pod: string;
  readonly address: string;
}

function hasProcess(pod: Pod): boolean {
  return pod.status?.podIP !== undefined && pod.status.phase === 'Running';
}

function silentPod(pod: Pod): SilentNode {
  const address = pod.status?.podIP;
  return {
    state: 'silent',
    pod: pod.metadata.name,
    ...(address === undefined ? {} : { address }),
    why: `the pod is ${pod.status?.phase ?? 'not scheduled'}`,
  };
}
