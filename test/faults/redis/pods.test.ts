import { describe, expect, it } from 'vitest';
import { redisConnection } from '../../../src/engines/redis/connection.ts';
import type { Reply } from '../../../src/engines/redis/resp.ts';
import { type PodStage, password, podStage } from './pod-stage.ts';

const data = ['db-0', 'db-1', 'db-2'];
const sentinels = ['db-sentinel-0', 'db-sentinel-1', 'db-sentinel-2'];

/** Asks on a connection of its own; the reply to the last command. */
async function ask(stage: PodStage, pod: string, ...commands: readonly string[][]): Promise<Reply> {
  const port = pod.includes('sentinel') ? 26_379 : 6379;
  const opened = stage.network.dial('10.9.9.9', stage.ip(pod), port, new AbortController().signal);
  await stage.time.advance(5);
  const connection = redisConnection(await opened);
  const replies = [['AUTH', password], ...commands].map((args) => connection.command(...args));
  await stage.time.advance(5);
  const all = await Promise.all(replies);
  connection.close();
  return all.at(-1) ?? null;
}

async function createdCluster(seed = 1): Promise<PodStage> {
  const stage = podStage({}, seed);
  for (const pod of [...data, ...sentinels]) stage.start(pod);
  await stage.time.advance(100);
  await ask(stage, 'db-0', ['REPLICAOF', 'NO', 'ONE']);
  const settings = ['down-after-milliseconds', '3000', 'failover-timeout', '10000', 'parallel-syncs', '2'];
  for (const pod of sentinels) {
    await ask(
      stage,
      pod,
      ['SENTINEL', 'MONITOR', 'db', stage.ip('db-0'), '6379', '2'],
      ['SENTINEL', 'SET', 'db', 'auth-pass', password, ...settings],
    );
  }
  for (const pod of ['db-1', 'db-2']) await ask(stage, pod, ['REPLICAOF', stage.ip('db-0'), '6379']);
  await stage.time.advance(5000);
  for (const pod of data) {
    const admitted = stage.running(pod).exec(['/bin/sh', '/etc/clusterwright/config/admit.sh']);
    await stage.time.advance(100);
    expect(await admitted).toBe(true);
  }
  return stage;
}

const primaries = (stage: PodStage): string[] =>
  data.filter((pod) => stage.processes.data(stage.ip(pod))?.replication.isPrimary === true);

describe('a cluster of simulated pods', () => {
  it('comes up, fails over when the primary is killed, and takes it back as a replica', async () => {
    const stage = await createdCluster();
    await stage.time.advance(10_000);
    stage.running('db-0').kill();
    expect(await stage.time.advanceUntil(() => primaries(stage).length === 1, 20_000)).toBe(true);
    await stage.time.advance(5000);
    stage.start('db-0');
    const isBack = (): boolean => stage.processes.data(stage.ip('db-0'))?.replication.isUp === true;
    expect(await stage.time.advanceUntil(isBack, 5000)).toBe(true);
    expect(primaries(stage)).toHaveLength(1);
  });
});
