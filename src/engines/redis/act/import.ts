/**
 * A node copies from a server elsewhere, and becomes a primary of its own.
 *
 * It is hidden from sentinels (`replica-announced`) and never elected: those of the source see each replica of their primary, and would tell it whom
 * to follow, also after the cut-over where they know the password of this cluster's clients. So clients may not say that either. The scripts of
 * the pod leave a hidden node alone.
 */
import type { Cluster } from '../../../api/cluster.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import type { RedisAction } from '../action.ts';
import type { RedisConnection } from '../client/connection.ts';
import { infoFields } from '../client/reply-fields.ts';
import { RedisError } from '../client/resp.ts';
import { type Credentials, sessionsWith, withSession } from '../client/session.ts';
import { type SourceLogin, sourceLogin, withSource } from '../client/source.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { type ImportSource, importSource } from '../kind/source.ts';
import { dataPort, termCarrier, unassigned } from '../names.ts';
import { clientRule } from '../resources/client-rule.ts';

type Asked = Pick<RedisConnection, 'command'>;
type Fields = Readonly<Record<string, string>>;
type CutOver = Extract<RedisAction, { type: 'redis.cutOver' }>;

/** Without a write at the source. */
const quietMs = 5000;
/** For what was written before. */
const catchUpMs = 2000;
const pollMs = 25;

export async function importFrom(
  { node, from, anew }: Extract<RedisAction, { type: 'redis.import' }>,
  cluster: Cluster<RedisSpec>,
  credentials: Credentials,
  io: EngineContext,
): Promise<void> {
  const login = await sourceLogin(sourceOf(cluster, from), io);
  await withSession(io, { address: node.address, port: dataPort, credentials }, async (c) => {
    const { role } = await info(c, 'replication');
    if (role !== 'slave') throw new Error(`${node.pod} has become primary meanwhile`);
    await c.command('ACL', 'SETUSER', 'default', ...clientRule);
    const hidden = ['replica-announced', 'no', 'replica-priority', '0'];
    await c.command('CONFIG', 'SET', ...hidden, 'masteruser', login.user, 'masterauth', login.password);
    // Of the same name it would stay where it is.
    if (anew) await c.command('REPLICAOF', unassigned.address, String(unassigned.port));
    await c.command('REPLICAOF', from.host, String(from.port));
  });
}

/** The spec cannot change, but the cluster may be another one of the name. */
function sourceOf(cluster: Cluster<RedisSpec>, from: { readonly host: string; readonly port: number }): ImportSource {
  const source = importSource(cluster);
  if (source?.host !== from.host || source.port !== from.port) throw new Error('the spec names another source');
  return source;
}

/**
 * All of it is checked on the servers themselves, whatever was seen before. Once the copy is a primary there is no way back, so the last
 * look at the source is just before.
 */
export async function cutOver(
  action: CutOver,
  cluster: Cluster<RedisSpec>,
  credentials: Credentials,
  io: EngineContext,
): Promise<void> {
  const { identity } = credentials;
  if (identity === undefined) throw new Error("the Secret with the cluster's identity is not there");
  const source = sourceOf(cluster, action.from);
  const login = await sourceLogin(source, io);
  const open = sessionsWith(io, credentials);
  try {
    const node = await open(action.node.address, dataPort);
    const promote = async (): Promise<void> => {
      // As a whole: a hidden primary would be left alone by its scripts, and one that logs in as somebody else by its cluster.
      await node.command('MULTI');
      await node.command('REPLICAOF', 'NO', 'ONE');
      const own = ['replica-announced', 'yes', 'masteruser', identity.user, 'masterauth', identity.password];
      await node.command('CONFIG', 'SET', termCarrier, `primary-${action.term}`, ...own);
      const answers = await node.command('EXEC');
      const refusal = Array.isArray(answers) ? answers.find((answer) => answer instanceof RedisError) : undefined;
      if (refusal instanceof RedisError) throw refusal;
    };
    if (action.givenUpAt !== undefined) {
      await requireGone(source, login, io);
      await requireCopy(node, action);
      const { slave_repl_offset: offset, master_link_status: link } = await info(node, 'replication');
      if (link === 'up') throw new Error('the copy has a link to the source');
      if (Number(offset) !== action.givenUpAt) throw new Error(`the copy ends at the offset ${offset}`);
      return await promote();
    }
    const writing = writeCommands(await node.command('ACL', 'CAT', 'write'));
    await withSource(io, source, login, async (at) => {
      const before = await look(at, writing);
      await io.sleep(quietMs);
      await requireCaughtUp(at, node, action, io);
      const after = await look(at, writing);
      requireQuiet(before, after);
      await promote();
      const last = await look(at, writing);
      if (last.writes !== before.writes) {
        throw new Error(
          `the source was written to while ${action.node.pod} became primary: what was written there at the last moment may not be here`,
        );
      }
    });
  } finally {
    open.closeAll();
  }
}

async function info(server: Asked, section: string): Promise<Fields> {
  return infoFields(String(await server.command('INFO', section)));
}

async function requireGone(source: ImportSource, login: SourceLogin, io: EngineContext): Promise<void> {
  let answer: string;
  try {
    answer = await withSource(io, source, login, async (at) => String(await at.command('PING')));
  } catch (error) {
    io.signal.throwIfAborted();
    if (!(error instanceof RedisError)) return;
    answer = error.message;
  }
  throw new Error(`the source answers: ${answer}`);
}

/** Whole, on its volume, and hidden: of this import. */
async function requireCopy(node: Asked, { node: { pod } }: CutOver): Promise<Fields> {
  const fields = { ...(await info(node, 'replication')), ...(await info(node, 'persistence')) };
  if (fields.role !== 'slave' || fields.replica_announced !== '0') throw new Error(`${pod} does not import any more`);
  if (fields.loading !== '0' || fields.master_sync_in_progress !== '0') throw new Error(`${pod} is copying`);
  const wasLinked = fields.master_link_status === 'up' || /^\d+$/.test(fields.master_link_down_since_seconds ?? '');
  if (!wasLinked) throw new Error(`${pod} has no whole copy`);
  const isWritten = [fields.aof_rewrite_in_progress, fields.aof_rewrite_scheduled].every((flag) => flag === '0');
  if (fields.aof_enabled !== '1' || !isWritten) throw new Error(`${pod} has not written its copy to the volume yet`);
  return fields;
}

interface Look {
  readonly replid: string;
  readonly offset: number;
  readonly writes: number;
}

async function look(source: Asked, writing: ReadonlySet<string>): Promise<Look> {
  const [replication, calls] = [await info(source, 'replication'), await info(source, 'commandstats')];
  const { role, master_replid: replid = '', master_repl_offset: offset } = replication;
  if (role !== 'master') throw new Error('the source has become a replica');
  return { replid, offset: Number(offset), writes: writesIn(calls, writing) };
}

/** Commands of clients, and those of their scripts and transactions. Keys that expire are none, and change nothing that a client could see. */
export function writesIn(stats: Fields, writing: ReadonlySet<string>): number {
  return Object.entries(stats).reduce((sum, [name, value]) => {
    const [, command = ''] = /^cmdstat_(.+)$/.exec(name) ?? [];
    const [, calls] = /^calls=(\d{1,15})/.exec(value) ?? [];
    return writing.has(command) && calls !== undefined ? sum + Number(calls) : sum;
  }, 0);
}

/** As the node has it, which is as late as the source. Servers before 7.0 count subcommands by their command. */
export function writeCommands(category: unknown): ReadonlySet<string> {
  const names = Array.isArray(category) ? category.map(String) : [];
  if (!names.includes('set')) throw new Error('the node does not say which commands write');
  return new Set(names.flatMap((name) => [name, name.split('|', 1)[0] ?? name]));
}

function requireQuiet(before: Look, after: Look): void {
  if (before.replid !== after.replid) throw new Error('the source has begun another history meanwhile');
  if (before.writes !== after.writes) {
    const count = after.writes - before.writes;
    const what = count > 0 ? `${count} writes` : 'writes that it does not count';
    throw new Error(`the source took ${what} within ${quietMs / 1000} s: stop its clients`);
  }
}

async function requireCaughtUp(source: Asked, node: Asked, action: CutOver, io: EngineContext): Promise<void> {
  const deadline = io.now() + catchUpMs;
  for (;;) {
    const { replid, offset } = await lookAtStream(source);
    const here = await requireCopy(node, action);
    if (here.master_link_status !== 'up') throw new Error('the copy has no link to the source');
    if (here.master_replid !== replid) throw new Error('the copy is of another server than the one that answers');
    const behind = offset - Number(here.slave_repl_offset);
    if (behind <= 0) return;
    if (io.now() > deadline) throw new Error(`the copy is ${behind} bytes behind after ${catchUpMs / 1000} s`);
    await io.sleep(pollMs);
  }
}

async function lookAtStream(source: Asked): Promise<Pick<Look, 'replid' | 'offset'>> {
  const { master_replid: replid = '', master_repl_offset: offset } = await info(source, 'replication');
  return { replid, offset: Number(offset) };
}
