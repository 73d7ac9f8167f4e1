/** Does something that interrupts the primary while the poolers hold their clients back. */
import type { Cluster } from '../../../api/cluster.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import type { Asked, Pause } from '../action.ts';
import { patroniTls } from '../client/credentials.ts';
import { callPatroni } from '../client/patroni.ts';
import { isPaused, pausePooler, resumePooler } from '../client/pooler.ts';
import { ServerError } from '../client/server-error.ts';
import type { PostgresSpec } from '../kind/schema.ts';

/** Time in which the new primary must say that it is one. */
const primaryTimeoutMs = 10_000;
const pollMs = 100;

/**
 * A pooler that cannot be paused does not stop `work`: the primary has to be interrupted, and without a pooler its clients would be as well.
 * It is told afterwards. Whatever happens, the poolers are resumed.
 */
export async function whilePaused(
  { poolers, primary }: Pause,
  cluster: Cluster<PostgresSpec>,
  io: EngineContext,
  work: () => Promise<void>,
): Promise<void> {
  const unpaused = await failuresOf(poolers, ({ address }) => pausePooler(cluster, address, io));
  let unresumed: string[] = [];
  try {
    await work();
    await untilPrimary(primary, cluster, io);
  } finally {
    unresumed = await failuresOf(poolers, ({ address }) => resumed(cluster, address, io));
  }
  io.signal.throwIfAborted();
  const failures = [...unpaused.map((why) => `not paused: ${why}`), ...unresumed.map((why) => `not resumed: ${why}`)];
  if (failures.length > 0) throw new Error(`some poolers were ${failures.join('; ')}`);
}

/** One that is not paused refuses: its pause was given up. */
export async function resumed(cluster: Cluster<PostgresSpec>, address: string, io: EngineContext): Promise<void> {
  try {
    await resumePooler(cluster, address, io);
  } catch (error) {
    if (error instanceof ServerError && !(await isPaused(cluster, address, io))) return;
    throw error;
  }
}

async function failuresOf(poolers: readonly Asked[], ask: (pooler: Asked) => Promise<void>): Promise<string[]> {
  const answers = await Promise.allSettled(poolers.map(ask));
  return answers.flatMap((answer, i) =>
    answer.status === 'rejected' ? [`${poolers[i]?.pod}: ${(answer.reason as Error).message}`] : [],
  );
}

/** Patroni answers a request for a switchover when the lock has moved; PostgreSQL takes writes a moment later. */
async function untilPrimary(address: string, cluster: Cluster<PostgresSpec>, io: EngineContext): Promise<void> {
  const tls = await patroniTls(cluster, io);
  const until = io.now() + primaryTimeoutMs;
  for (;;) {
    const answer = await callPatroni(io, address, { path: '/patroni', anyStatus: true }, tls).catch(() => undefined);
    io.signal.throwIfAborted();
    if (answer?.role === 'primary' && answer.state === 'running') return;
    if (io.now() >= until) throw new Error(`${address} is not primary ${primaryTimeoutMs} ms after it was to be`);
    await io.sleep(pollMs);
  }
}
