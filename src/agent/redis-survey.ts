/**
 * Which node of a Redis cluster a backup is taken from: a replica that has what the primary had when it was asked, else
 * the primary. A replica counts as one that follows for up to a minute after nothing comes from its primary any more, so
 * without a primary that answers nobody tells what it lacks.
 */
import type { Endpoint, RedisSource } from '../backup/source.ts';
import type { TlsMaterial } from '../engines/engine-io.ts';
import { type RedisConnection, redisConnection } from '../engines/redis/connection.ts';
import { RedisError } from '../engines/redis/resp.ts';
import { sleep } from '../runtime/clock.ts';
import { Failure, wordsOf } from './failure.ts';
import type { Surroundings } from './surroundings.ts';
import { inTime } from './wait.ts';
import { openWire, placeOf } from './wire.ts';

const answerMs = 5_000;

/** What the primary has acknowledged is on its way for a moment. */
const behindMs = 200;
const attempts = 10;

/** What follows `AUTH`; nothing where nobody asks for a password. */
export type RedisLogin = readonly string[];

/** The first one that a node takes counts; `own` are the cluster's alone. */
export interface RedisLogins {
  readonly own: readonly RedisLogin[];
  readonly shared: RedisLogin;
}

export interface RedisNode {
  readonly endpoint: Endpoint;
  readonly role: 'primary' | 'replica';
  readonly version: string;
  /** Its replication id: a replica has that of its primary, and a node that is promoted takes another. */
  readonly history: string;
  readonly offset: number;
  readonly login: RedisLogin;
  /** Keys by number of the database. */
  readonly keys: Readonly<Record<string, number>>;
}

/** The one to take the data from, and how many answered at all. */
export interface RedisSurvey {
  readonly node: RedisNode;
  readonly answered: number;
}

/** @throws Failure SourceUnreachable, SourceRefused, SourceBroken where nobody can give their data */
export async function surveyRedis(
  source: RedisSource,
  logins: RedisLogins,
  tls: TlsMaterial | undefined,
  surroundings: Surroundings,
): Promise<RedisSurvey> {
  const again = (endpoint: Endpoint): Promise<Answer> => ask(endpoint, logins, tls, surroundings);
  const found = await Promise.allSettled(source.members.map(again));
  surroundings.signal.throwIfAborted();
  const told = found.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  // Whoever does not know the cluster where others do may be of another one that has the same password.
  const knowing = told.filter(({ login }) => logins.own.includes(login));
  const answers = knowing.length > 0 ? knowing : told;
  for (const { endpoint } of told.filter((each) => !answers.includes(each))) {
    surroundings.log.info({ member: placeOf(endpoint) }, 'a node is left out that does not know the cluster');
  }
  const failures = found.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
  for (const error of failures) surroundings.log.info({ err: error }, 'a node is left out');
  const nodes = answers.flatMap(({ node }) => (node === undefined ? [] : [node])).sort(better);
  requireOneHistory(nodes);
  const primary = nodes.find(({ role }) => role === 'primary');
  if (primary !== undefined) {
    return { node: await upToDate(nodes, primary, again, surroundings), answered: answers.length };
  }
  const [first] = failures;
  if (nodes.length > 0) {
    const why = first === undefined ? '' : ` (${wordsOf(first)})`;
    throw new Failure('SourceBroken', `no primary answers that tells what it has acknowledged${why}`);
  }
  const refusal = failures.find((error) => error instanceof Failure && error.reason === 'SourceRefused');
  if (refusal !== undefined) throw refusal;
  if (answers.length === 0) throw new Failure('SourceUnreachable', `no node answers: ${wordsOf(first)}`);
  const states = answers.map(({ endpoint, why }) => `${placeOf(endpoint)} ${why}`).join(', ');
  throw new Failure('SourceBroken', `no node can give its data: ${states}`);
}

/** The best replica, once it has what the primary had; the primary where that takes too long. */
async function upToDate(
  nodes: readonly RedisNode[],
  primary: RedisNode,
  again: (endpoint: Endpoint) => Promise<Answer>,
  { clock, signal, log }: Surroundings,
): Promise<RedisNode> {
  const [best = primary] = nodes;
  try {
    let node: RedisNode | undefined = best;
    for (let attempt = 1; node !== undefined; attempt++) {
      if (node.history === primary.history && node.offset >= primary.offset) return node;
      if (attempt === attempts) break;
      await sleep(clock, behindMs, signal);
      ({ node } = await again(best.endpoint));
    }
    log.info({ member: placeOf(best.endpoint) }, 'a replica is left out that lacks what the primary has');
  } catch (error) {
    signal.throwIfAborted();
    log.info({ err: error, member: placeOf(best.endpoint) }, 'a replica is left out');
  }
  return primary;
}

/**
 * A primary that has been replaced, and does not know it yet, lacks what the new one has acknowledged, and so do the replicas
 * that still follow it. Nothing here tells which one it is.
 */
function requireOneHistory([first, ...others]: readonly RedisNode[]): void {
  const other = others.find(({ history }) => history !== first?.history);
  if (first === undefined || other === undefined) return;
  const [one, another] = [first, other].map(({ endpoint, role }) => `${placeOf(endpoint)} (${role})`);
  throw new Failure(
    'SourceBroken',
    `${one} and ${another} do not replicate from the same primary: one of them may lack what the other has acknowledged`,
  );
}

function better(a: RedisNode, b: RedisNode): number {
  if (a.role !== b.role) return a.role === 'replica' ? -1 : 1;
  return b.offset - a.offset;
}

interface Answer {
  readonly endpoint: Endpoint;
  readonly login: RedisLogin;
  readonly node?: RedisNode;
  readonly why?: string;
}

async function ask(
  endpoint: Endpoint,
  logins: RedisLogins,
  tls: TlsMaterial | undefined,
  surroundings: Surroundings,
): Promise<Answer> {
  const connection = redisConnection(await openWire(endpoint, tls, surroundings));
  const patience = { ...surroundings, idleMs: Math.min(answerMs, surroundings.idleMs) };
  const late = (): Failure => new Failure('SourceUnreachable', `${placeOf(endpoint)} does not answer`);
  try {
    return await inTime(talk(endpoint, connection, logins), patience, late);
  } catch (error) {
    throw redisFailure(error, endpoint);
  } finally {
    connection.close();
  }
}

/** `LOADING` and the like pass by themselves; a wrong password does not. */
export function redisFailure(error: unknown, endpoint: Endpoint): unknown {
  if (!(error instanceof RedisError)) return error;
  const isRefusal = ['WRONGPASS', 'NOAUTH', 'NOPERM', 'ERR', 'DENIED'].includes(error.code.replace(/^-/, ''));
  return new Failure(isRefusal ? 'SourceRefused' : 'SourceBroken', `${placeOf(endpoint)} refuses`, { cause: error });
}

async function logIn(connection: RedisConnection, { own, shared }: RedisLogins): Promise<RedisLogin> {
  for (const login of own) {
    try {
      await connection.command('AUTH', ...login);
      return login;
    } catch (error) {
      if (!(error instanceof RedisError) || error.code !== 'WRONGPASS') throw error;
    }
  }
  if (shared.length > 0) await connection.command('AUTH', ...shared);
  return shared;
}

async function talk(endpoint: Endpoint, connection: RedisConnection, logins: RedisLogins): Promise<Answer> {
  const login = await logIn(connection, logins);
  const info = new Map(
    String(await connection.command('INFO'))
      .split('\r\n')
      .map((line) => [line.split(':', 1)[0] ?? '', line.slice(line.indexOf(':') + 1)] as const),
  );
  const role = info.get('role') === 'master' ? 'primary' : 'replica';
  if (info.get('loading') === '1') return { endpoint, login, why: 'is loading its data' };
  if (role === 'replica' && info.get('master_link_status') !== 'up') return { endpoint, login, why: 'follows nobody' };
  const keys = [...info].flatMap(([name, value]): [string, number][] => {
    const [, number] = /^db(\d+)$/.exec(name) ?? [];
    return number === undefined ? [] : [[number, Number(/keys=(\d+)/.exec(value)?.[1] ?? 0)]];
  });
  return {
    endpoint,
    login,
    node: {
      endpoint,
      login,
      role,
      version: info.get('redis_version') ?? 'unknown',
      history: info.get('master_replid') ?? '',
      offset: Number(info.get(role === 'replica' ? 'slave_repl_offset' : 'master_repl_offset') ?? 0),
      keys: Object.fromEntries(keys),
    },
  };
}
