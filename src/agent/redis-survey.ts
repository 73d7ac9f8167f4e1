/** Which node of a Redis cluster a backup is taken from: a replica that follows, else the primary. */
import type { Endpoint, RedisSource } from '../backup/source.ts';
import type { TlsMaterial } from '../engines/engine-io.ts';
import { type RedisConnection, redisConnection } from '../engines/redis/connection.ts';
import { RedisError } from '../engines/redis/resp.ts';
import { Failure, wordsOf } from './failure.ts';
import type { Surroundings } from './surroundings.ts';
import { inTime } from './wait.ts';
import { openWire, placeOf } from './wire.ts';

const answerMs = 5_000;

export interface RedisNode {
  readonly endpoint: Endpoint;
  readonly role: 'primary' | 'replica';
  readonly version: string;
  readonly offset: number;
  /** Keys by number of the database. */
  readonly keys: Readonly<Record<string, number>>;
}

/** Those that can give their data, the best one first, and how many answered at all. */
export interface RedisSurvey {
  readonly nodes: readonly RedisNode[];
  readonly answered: number;
}

/** @throws Failure SourceUnreachable, SourceRefused, SourceBroken where nobody can give their data */
export async function surveyRedis(
  source: RedisSource,
  password: string | undefined,
  tls: TlsMaterial | undefined,
  surroundings: Surroundings,
): Promise<RedisSurvey> {
  const found = await Promise.allSettled(source.members.map((endpoint) => ask(endpoint, password, tls, surroundings)));
  surroundings.signal.throwIfAborted();
  const answers = found.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const failures = found.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
  for (const error of failures) surroundings.log.info({ err: error }, 'a node is left out');
  const nodes = answers.flatMap(({ node }) => (node === undefined ? [] : [node])).sort(better);
  if (nodes.length > 0) return { nodes, answered: answers.length };
  const refusal = failures.find((error) => error instanceof Failure && error.reason === 'SourceRefused');
  if (refusal !== undefined) throw refusal;
  const [first] = failures;
  if (answers.length === 0) throw new Failure('SourceUnreachable', `no node answers: ${wordsOf(first)}`);
  const states = answers.map(({ endpoint, why }) => `${placeOf(endpoint)} ${why}`).join(', ');
  throw new Failure('SourceBroken', `no node can give its data: ${states}`);
}

function better(a: RedisNode, b: RedisNode): number {
  if (a.role !== b.role) return a.role === 'replica' ? -1 : 1;
  return b.offset - a.offset;
}

interface Answer {
  readonly endpoint: Endpoint;
  readonly node?: RedisNode;
  readonly why?: string;
}

async function ask(
  endpoint: Endpoint,
  password: string | undefined,
  tls: TlsMaterial | undefined,
  surroundings: Surroundings,
): Promise<Answer> {
  const connection = redisConnection(await openWire(endpoint, tls, surroundings));
  const patience = { ...surroundings, idleMs: Math.min(answerMs, surroundings.idleMs) };
  const late = (): Failure => new Failure('SourceUnreachable', `${placeOf(endpoint)} does not answer`);
  try {
    return await inTime(talk(endpoint, connection, password), patience, late);
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

async function talk(endpoint: Endpoint, connection: RedisConnection, password: string | undefined): Promise<Answer> {
  if (password !== undefined) await connection.command('AUTH', password);
  const info = new Map(
    String(await connection.command('INFO'))
      .split('\r\n')
      .map((line) => [line.split(':', 1)[0] ?? '', line.slice(line.indexOf(':') + 1)] as const),
  );
  const role = info.get('role') === 'master' ? 'primary' : 'replica';
  if (info.get('loading') === '1') return { endpoint, why: 'is loading its data' };
  if (role === 'replica' && info.get('master_link_status') !== 'up') return { endpoint, why: 'follows nobody' };
  const keys = [...info].flatMap(([name, value]): [string, number][] => {
    const [, number] = /^db(\d+)$/.exec(name) ?? [];
    return number === undefined ? [] : [[number, Number(/keys=(\d+)/.exec(value)?.[1] ?? 0)]];
  });
  return {
    endpoint,
    node: {
      endpoint,
      role,
      version: info.get('redis_version') ?? 'unknown',
      offset: Number(info.get(role === 'replica' ? 'slave_repl_offset' : 'master_repl_offset') ?? 0),
      keys: Object.fromEntries(keys),
    },
  };
}
