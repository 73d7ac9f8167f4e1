/**
 * A planned change of primary without a lost write.
 *
 * Sentinel alone promotes a replica while the old primary still takes writes, and a second replica may acknowledge them
 * before it is told to follow the new one: acknowledged, then discarded. So writes are paused first, every replica in
 * sync catches up, Sentinel is asked, and the old primary follows whoever Sentinel promoted. The pause ends by itself:
 * a controller that dies in between leaves a failover like any other. The pods do the same when they are stopped
 * (see the hand-over script).
 */
import type { ActStep } from '../../plan/plan.ts';
import type { EngineIO } from '../engine.ts';
import type { RedisAction, Target } from './action.ts';
import { dataPort, sentinelPort } from './names.ts';
import { infoFields } from './observe.ts';
import type { DataNode } from './observed.ts';
import { target } from './repair.ts';
import { RedisError } from './resp.ts';
import { type Session, sessionsWith } from './session.ts';
import type { Situation } from './situation.ts';

const pauseMs = 10_000;
/** For all that must happen under the pause, however slowly everybody answers; then the pause is given up. */
const patienceMs = 8_000;
const catchUpMs = 2_000;
const pollMs = 25;

/** Undefined when there is nobody to hand over to or to ask. */
export function handOverStep(
  { nodes, topology }: Situation,
  primary: DataNode,
  why: string,
): ActStep<RedisAction> | undefined {
  const replicas = nodes.filter((node) => primary.replicas.includes(node.address)).map(target);
  const sentinel = topology.watching.find((s) => s.watches.primary === primary.address);
  if (replicas.length === 0 || sentinel === undefined) return undefined;
  return {
    type: 'act',
    action: { type: 'redis.handOver', primary: target(primary), replicas, sentinel: target(sentinel) },
    summary: `ask Sentinel for a failover: ${why}`,
  };
}

type HandOver = Extract<RedisAction, { type: 'redis.handOver' }>;

export async function handOver(action: HandOver, clusterName: string, password: string, io: EngineIO): Promise<void> {
  const open = sessionsWith(io, password);
  const primary = await open(action.primary.address, dataPort);
  try {
    const replicas = await Promise.all(
      action.replicas.map(async (node) => ({ node, session: await open(node.address, dataPort) })),
    );
    const patience = deadlineIn(patienceMs, io);
    await primary.command('CLIENT', 'PAUSE', String(pauseMs), 'WRITE');
    try {
      await catchUp(
        primary,
        replicas.map((replica) => replica.session),
        io,
      );
      const sentinel = await open(action.sentinel.address, sentinelPort);
      await askForFailover(sentinel, clusterName);
      const promoted = await whoeverIsPromoted(replicas, io, patience);
      await primary.command('REPLICAOF', promoted.address, String(dataPort));
    } finally {
      patience.cancel();
      await primary.command('CLIENT', 'UNPAUSE');
    }
  } finally {
    open.closeAll();
  }
}

interface Deadline {
  readonly hasPassed: () => boolean;
  cancel(): void;
}

function deadlineIn(ms: number, io: EngineIO): Deadline {
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

async function catchUp(primary: Session, replicas: readonly Session[], io: EngineIO): Promise<void> {
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

async function askForFailover(sentinel: Session, clusterName: string): Promise<void> {
  try {
    await sentinel.command('SENTINEL', 'FAILOVER', clusterName);
  } catch (error) {
    // Somebody else has asked already: what follows is the same.
    if (!(error instanceof RedisError && error.code === 'INPROG')) throw error;
  }
}

async function whoeverIsPromoted(
  replicas: readonly { readonly node: Target; readonly session: Session }[],
  io: EngineIO,
  deadline: Deadline,
): Promise<Target> {
  while (!deadline.hasPassed()) {
    for (const { node, session } of replicas) {
      const role = await session.command('ROLE');
      if (Array.isArray(role) && role[0] === 'master') return node;
    }
    await io.sleep(pollMs);
  }
  throw new Error(`Sentinel promoted nobody within ${patienceMs} ms; it will end the failover by itself`);
}
