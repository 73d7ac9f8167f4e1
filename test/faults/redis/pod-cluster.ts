/** A cluster of simulated pods, brought up as the operator does, and a client that asks its members. */

import { redisConnection } from '../../../src/engines/redis/client/connection.ts';
import { RedisError, type Reply } from '../../../src/engines/redis/client/resp.ts';
import type { RedisSpecInput } from '../../../src/engines/redis/kind/schema.ts';
import { type PodStage, password, podStage } from './pod-stage.ts';

export const dataPods = ['db-0', 'db-1', 'db-2'] as const;
export const sentinelPods = ['db-sentinel-0', 'db-sentinel-1', 'db-sentinel-2'] as const;

/** Where the tests' own clients are. */
export const clientAddress = '10.9.9.9';

/** The replies to commands on one connection; errors are values. Rejects when the connection ends first. */
export async function say(stage: PodStage, pod: string, ...commands: readonly string[]): Promise<Reply[]> {
  const port = pod.includes('sentinel') ? 26_379 : 6379;
  const { signal } = new AbortController();
  const opened = stage.network.dial(clientAddress, stage.ip(pod), port, signal);
  let isOver = false;
  const work = opened.then(async (stream) => {
    const connection = redisConnection(stream);
    const replies = [`AUTH ${password}`, ...commands].map((line) =>
      connection.command(...line.split(' ')).catch((error: unknown): Reply => {
        if (error instanceof RedisError) return error;
        throw error;
      }),
    );
    const [, ...rest] = await Promise.all(replies);
    connection.close();
    return rest;
  });
  const over = (): void => {
    isOver = true;
  };
  work.then(over, over);
  if (!(await stage.time.advanceUntil(() => isOver, 20_000))) throw new Error(`${pod} does not answer: ${commands}`);
  return work;
}

/** One command; an error is its text. */
export async function ask(stage: PodStage, pod: string, command: string): Promise<Reply> {
  const [reply = null] = await say(stage, pod, command);
  return reply instanceof RedisError ? reply.message : reply;
}

export async function exec(stage: PodStage, pod: string, script: string, withinMs = 20_000): Promise<boolean> {
  const command = ['/bin/sh', `/etc/clusterwright/config/${script}`];
  let outcome: boolean | undefined;
  void stage
    .running(pod)
    .exec(command)
    .then((succeeded) => {
      outcome = succeeded;
    });
  if (!(await stage.time.advanceUntil(() => outcome !== undefined, withinMs))) throw new Error(`${script} hangs`);
  return outcome === true;
}

/** Three data nodes with the primary on `db-0`, three sentinels, everybody admitted. */
export async function podCluster(seed = 1, sentinel: RedisSpecInput['sentinel'] = {}): Promise<PodStage> {
  const stage = podStage({ sentinel: { downAfter: '3s', failoverTimeout: '10s', ...sentinel } }, seed);
  for (const pod of [...dataPods, ...sentinelPods]) stage.start(pod);
  await stage.time.advance(100);
  await ask(stage, 'db-0', 'REPLICAOF NO ONE');
  for (const pod of sentinelPods) await watch(stage, pod, 'db-0');
  for (const pod of ['db-1', 'db-2']) await ask(stage, pod, `REPLICAOF ${stage.ip('db-0')} 6379`);
  await stage.time.advance(5000);
  for (const pod of dataPods) await exec(stage, pod, 'admit.sh');
  // Sentinels ask for replicas and priorities every ten seconds.
  await stage.time.advance(12_000);
  for (const pod of dataPods) {
    if (!(await exec(stage, pod, 'admit.sh'))) throw new Error(`${pod} is not admitted`);
  }
  return stage;
}

export async function watch(stage: PodStage, sentinel: string, primary: string): Promise<void> {
  const settings = 'down-after-milliseconds 3000 failover-timeout 10000 parallel-syncs 2';
  await say(
    stage,
    sentinel,
    `SENTINEL MONITOR db ${stage.ip(primary)} 6379 2`,
    `SENTINEL SET db auth-pass ${password} ${settings}`,
  );
}

/** Pods whose server takes itself for primary. */
export function primaries(stage: PodStage): string[] {
  return dataPods.filter((pod) => stage.processes.data(stage.ip(pod))?.replication.isPrimary === true);
}

/** Whom all sentinels that run watch; undefined where they differ. */
export function watched(stage: PodStage): string | undefined {
  const all = sentinelPods.flatMap(
    (pod) => stage.processes.sentinel(stage.ip(pod))?.watches.get('db')?.primary.ip ?? [],
  );
  const [first] = all;
  return all.every((ip) => ip === first) ? dataPods.find((pod) => stage.ip(pod) === first) : undefined;
}

/** Whether exactly one primary is left, watched by all, with everybody else in sync. */
export function isWhole(stage: PodStage): boolean {
  const [primary, ...more] = primaries(stage);
  if (primary === undefined || more.length > 0 || watched(stage) !== primary) return false;
  return dataPods.every((pod) => pod === primary || stage.processes.data(stage.ip(pod))?.replication.isUp === true);
}
