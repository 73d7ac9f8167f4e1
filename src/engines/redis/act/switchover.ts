/**
 * A planned change of primary without a lost write.
 *
 * Sentinel alone promotes a replica while the old primary still takes writes, and a second replica may acknowledge them
 * before it is told to follow the new one: acknowledged, then discarded. So writes are paused first, every replica in
 * sync catches up, Sentinel hears so and is asked, and the old primary follows whoever Sentinel promoted. The pause is short while
 * nobody has been asked, so that writes do not stand for long where the operator dies meanwhile. Once Sentinel was asked,
 * nobody ends the pause before Sentinel is done: it ends by itself, later than Sentinel may take. The pods do the same when
 * they are stopped (see the hand-over script).
 */
import type { Cluster } from '../../../api/cluster.ts';
import { durationMs } from '../../../api/duration.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import type { RedisAction, Target } from '../action.ts';
import { infoFields, pairs, rows } from '../client/reply-fields.ts';
import { RedisError } from '../client/resp.ts';
import { type Credentials, type Session, sessionsWith, withSession } from '../client/session.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { dataPort, sentinelPort } from '../names.ts';
import { timingOf } from '../resources/timing.ts';

/** For all that is waited for under the pause, however slowly everybody answers. */
const patienceMs = 8_000;
const catchUpMs = 2_000;
/** A paused server does not answer its sentinels either: they take it for down after three seconds. */
const hearMs = 1_000;
/** While replicas catch up: longer than they may take, one slow answer more. */
const firstPauseMs = 4_000;
const pollMs = 25;

type Switchover = Extract<RedisAction, { type: 'redis.handOver' }>;

export async function switchover(
  action: Switchover,
  cluster: Cluster<RedisSpec>,
  credentials: Credentials,
  io: EngineContext,
): Promise<void> {
  const open = sessionsWith(io, credentials);
  const patience = deadlineIn(patienceMs, io);
  try {
    const primary = await open(action.primary.address, dataPort);
    const replicas = await Promise.all(action.replicas.map((node) => open(node.address, dataPort)));
    const sentinel = await open(action.sentinel.address, sentinelPort);
    await mayBeAsked(sentinel, action, cluster.metadata.name);
    const pause = (ms: number): Promise<unknown> => primary.command('CLIENT', 'PAUSE', String(ms), 'WRITE');
    const { askWithinMs } = timingOf(cluster);
    const asking = deadlineIn(askWithinMs, io);
    await pause(firstPauseMs);
    try {
      await catchUp(primary, replicas, io);
      await pause(pauseMsFor(cluster));
      // The first pause may have ended before the second began, where this process stood still: what was written between
      // the two has to be everywhere, too. It takes one question.
      await catchUp(primary, replicas, io);
      await inform(sentinel, cluster, io);
      if (asking.hasPassed()) throw new Error(tooLate(askWithinMs));
      await askForFailover(sentinel, cluster.metadata.name);
    } catch (error) {
      if (!(error instanceof Unanswered)) await primary.command('CLIENT', 'UNPAUSE');
      throw error;
    } finally {
      asking.cancel();
    }
    // From here on a replica may take writes at any moment, and others still acknowledge the old primary's. So writes on
    // the old primary stay paused until it follows; where that cannot be reached, the pause ends by itself, never by us.
    const promoted = await whoeverIsPromoted(action.replicas, credentials, io, patience);
    if (promoted === undefined) {
      if (await hasGivenUp(sentinel, cluster.metadata.name, action.primary)) await primary.command('CLIENT', 'UNPAUSE');
      throw new Error(`Sentinel promoted nobody within ${patienceMs} ms; it will end the failover by itself`);
    }
    await primary.command('REPLICAOF', promoted.address, String(dataPort));
    await primary.command('CLIENT', 'UNPAUSE');
  } finally {
    patience.cancel();
    open.closeAll();
  }
}

/**
 * Since the plan was made, Sentinel may have elected another: a failover from that one would be without a pause. A sentinel whose
 * clock has jumped, or that stood still, acts on nothing for half a minute: it would fail over then.
 */
async function mayBeAsked(sentinel: Session, action: Switchover, name: string): Promise<void> {
  const named = await sentinel.command('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name);
  const address = Array.isArray(named) ? String(named[0]) : 'nobody';
  if (address !== action.primary.address) {
    throw new Error(`${action.sentinel.pod} names ${address}, not ${action.primary.pod}`);
  }
  if (infoFields(String(await sentinel.command('INFO', 'sentinel'))).sentinel_tilt === '1') {
    throw new Error(`${action.sentinel.pod} is in TILT mode and acts on nothing; the primary stays`);
  }
}

/**
 * Sentinel elects by what it heard last, which may be from before the pause. So it asks all nodes that it does not take
 * for down. An election takes nobody whose answer is older than three of its periods, so that is put back.
 */
async function inform(sentinel: Session, cluster: Cluster<RedisSpec>, io: EngineContext): Promise<void> {
  const askEvery = (ms: number): Promise<unknown> => sentinel.command('SENTINEL', 'DEBUG', 'INFO-PERIOD', String(ms));
  const deadline = deadlineIn(hearMs, io);
  await askEvery(100);
  try {
    for (let passedMs = 0; !deadline.hasPassed(); passedMs += pollMs) {
      const replicas = rows(await sentinel.command('SENTINEL', 'REPLICAS', cluster.metadata.name));
      const late = replicas.filter(
        ({ flags = '', 'info-refresh': agoMs }) => !/down|disconnected/.test(flags) && Number(agoMs) >= passedMs,
      );
      if (late.length === 0) return;
      await io.sleep(pollMs);
    }
  } finally {
    deadline.cancel();
    await askEvery(timingOf(cluster).infoPeriodMs);
  }
  throw new Error(`Sentinel did not hear from every replica within ${hearMs} ms; the primary stays`);
}

function tooLate(ms: number): string {
  return `writes have been paused for more than ${ms} ms, and other sentinels may take the primary for down; it stays`;
}

/** Longer than Sentinel may take, or writes would go on while it still promotes. */
function pauseMsFor({ spec }: Cluster<RedisSpec>): number {
  return durationMs(spec.sentinel.failoverTimeout) + 5_000;
}

interface Deadline {
  readonly hasPassed: () => boolean;
  cancel(): void;
}

function deadlineIn(ms: number, io: EngineContext): Deadline {
  const cancelled = new AbortController();
  let passed = false;
  io.sleep(ms, cancelled.signal).then(
    () => {
      passed = true;
    },
    // Cancelled, or the process stops: then nothing else goes on either.
    () => undefined,
  );
  return { hasPassed: () => passed, cancel: () => cancelled.abort() };
}

async function catchUp(primary: Session, replicas: readonly Session[], io: EngineContext): Promise<void> {
  const wanted = Number(infoFields(String(await primary.command('INFO', 'replication'))).master_repl_offset);
  const deadline = deadlineIn(catchUpMs, io);
  try {
    while (!deadline.hasPassed()) {
      const offsets = await Promise.all(
        replicas.map(async (r) => Number(infoFields(String(await r.command('INFO', 'replication'))).slave_repl_offset)),
      );
      if (offsets.every((offset) => offset >= wanted)) return;
      await io.sleep(pollMs);
    }
  } finally {
    deadline.cancel();
  }
  throw new Error(`the replicas did not catch up within ${catchUpMs} ms; the primary stays`);
}

/** Sentinel was asked and did not answer: it may have begun. */
class Unanswered extends Error {
  override readonly name = 'Unanswered';
}

/** Rejects with Sentinel's own refusal, after which nothing happens, or with Unanswered. */
async function askForFailover(sentinel: Session, clusterName: string): Promise<void> {
  try {
    await sentinel.command('SENTINEL', 'FAILOVER', clusterName);
  } catch (cause) {
    if (!(cause instanceof RedisError)) throw new Unanswered('Sentinel did not say whether it fails over', { cause });
    // Somebody else has asked already: what follows is the same.
    if (cause.code !== 'INPROG') throw cause;
  }
}

/** Sentinel closes every client's connection to the node that it promotes, so each question has a connection of its own. */
async function whoeverIsPromoted(
  replicas: readonly Target[],
  credentials: Credentials,
  io: EngineContext,
  deadline: Deadline,
): Promise<Target | undefined> {
  while (!deadline.hasPassed()) {
    const roles = await Promise.all(replicas.map((node) => roleOf(node, credentials, io)));
    const promoted = replicas.find((_, i) => roles[i] === 'master');
    if (promoted !== undefined) return promoted;
    await io.sleep(pollMs);
  }
  return undefined;
}

/** The sentinel that was asked is at no failover any more, and names the primary of before: nobody will be promoted. */
async function hasGivenUp(sentinel: Session, name: string, primary: Target): Promise<boolean> {
  const { ip, flags = 'failover' } = pairs(await sentinel.command('SENTINEL', 'MASTER', name));
  return ip === primary.address && !flags.includes('failover');
}

/** Undefined for a node that does not answer now. */
async function roleOf({ address }: Target, credentials: Credentials, io: EngineContext): Promise<string | undefined> {
  try {
    const role = await withSession(io, { address, port: dataPort, credentials }, (c) => c.command('ROLE'));
    return Array.isArray(role) ? String(role[0]) : undefined;
  } catch {
    io.signal.throwIfAborted();
    // It is being promoted right now, or gone: both show at the next look.
    return undefined;
  }
}
