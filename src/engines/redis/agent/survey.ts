/**
 * Which node of a Redis cluster a backup is taken from: a replica that has what the primary had when it was asked, else
 * the primary. A replica counts as one that follows for up to a minute after nothing comes from its primary any more, so
 * without a primary that answers nobody tells what it lacks.
 */
import type { Endpoint } from '../../../backup/members.ts';
import type { AgentContext } from '../../../engine/driver/agent-context.ts';
import { placeOf } from '../../../engine/driver/connection.ts';
import { Failure, wordsOf } from '../../../engine/driver/failure.ts';
import { sleep } from '../../../system/clock.ts';
import type { RedisSource } from '../backup/schemas.ts';
import { type Server, serverIn } from '../kind/server.ts';
import { requireNamed } from './sentinels.ts';
import { inRedisSession, ofThisCluster, type RedisAccess, type RedisLogin, type RedisSession } from './session.ts';

/** What the primary has acknowledged is on its way for a moment. */
const behindMs = 200;
const attempts = 10;

export interface RedisNode {
  readonly endpoint: Endpoint;
  readonly address: string;
  readonly role: 'primary' | 'replica';
  readonly server: Server;
  /** Its replication id: a replica has that of its primary, and a node that is promoted takes another. */
  readonly history: string;
  readonly offset: number;
  readonly login: RedisLogin;
  /** Keys by number of the database. */
  readonly keys: Readonly<Record<string, number>>;
}

/** The one to take the data from, whom it copies, and how many answered at all. */
export interface RedisSurvey {
  readonly node: RedisNode;
  readonly primary: RedisNode;
  readonly answered: number;
}

/** Nodes of which one is primary. */
export interface RedisNodes extends Pick<RedisSource, 'sentinels'> {
  readonly members: readonly Endpoint[];
}

/** @throws Failure SourceUnreachable, SourceRefused, SourceBroken where nobody can give their data */
export async function surveyRedis(source: RedisNodes, access: RedisAccess): Promise<RedisSurvey> {
  const { context } = access;
  const again = (endpoint: Endpoint): Promise<Answer> =>
    inRedisSession(endpoint, access, (session) => talk(endpoint, session));
  const found = await Promise.allSettled(source.members.map(again));
  context.signal.throwIfAborted();
  const told = found.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const answers = ofThisCluster(told, access);
  const failures = found.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
  for (const error of failures) context.log.info({ err: error }, 'a node is left out');
  const nodes = answers.flatMap(({ node }) => (node === undefined ? [] : [node])).sort(better);
  requireOneHistory(nodes);
  const primary = nodes.find(({ role }) => role === 'primary');
  if (primary !== undefined) {
    const { address, endpoint } = primary;
    const isWhole = nodes.length === source.members.length;
    if (!isWhole && source.sentinels !== undefined) {
      await requireNamed({ address, port: endpoint.port }, source.sentinels, access);
    }
    return { node: await upToDate(nodes, primary, again, context), primary, answered: answers.length };
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
  { clock, signal, log }: AgentContext,
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

async function talk(endpoint: Endpoint, { connection, login, address }: RedisSession): Promise<Answer> {
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
      address,
      login,
      role,
      server: serverIn((field) => info.get(field)) ?? { engine: 'Redis', version: 'unknown' },
      history: info.get('master_replid') ?? '',
      offset: Number(info.get(role === 'replica' ? 'slave_repl_offset' : 'master_repl_offset') ?? 0),
      keys: Object.fromEntries(keys),
    },
  };
}
