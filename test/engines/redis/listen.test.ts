import { describe, expect, it } from 'vitest';
import { listenToSentinel, sentinelEndpoints } from '../../../src/engines/redis/listen.ts';
import { RedisError } from '../../../src/engines/redis/resp.ts';
import { redisWorld } from '../../support/redis-situation.ts';
import { hangUp, type Process, scriptedNetwork } from '../../support/scripted-redis.ts';
import { turn } from '../../support/virtual-clock.ts';

const { cluster } = redisWorld();

function listen(process: Process) {
  const network = scriptedNetwork({ processes: { 's:26379': process } });
  const heard = { reports: 0 };
  const end = listenToSentinel('s', cluster, network.io, () => {
    heard.reports++;
  });
  return { network, heard, end };
}

const subscribed: Process = (command) => (command.startsWith('SUBSCRIBE') ? ['subscribe', '+switch-master', 1] : 'OK');

describe('listening to a sentinel', () => {
  it('reports once when it begins, since something may have happened before, and then every message', async () => {
    const { network, heard, end } = listen(subscribed);
    await turn();
    await turn();
    network.push('s:26379', ['subscribe', '-sdown', 2]);
    await turn();
    expect(heard.reports).toBe(1);
    network.push('s:26379', ['message', '+switch-master', 'db 10.0.0.0 6379 10.0.0.1 6379']);
    network.push('s:26379', ['message', '-sdown', 'slave']);
    await turn();
    expect(heard.reports).toBe(3);
    expect(network.asked[0]).toMatch(/^s:26379 SUBSCRIBE .*\+switch-master .*\+sdown -sdown/);
    network.abort();
    await end;
    expect(network.open()).toBe(0);
  });

  it('ends when the sentinel does', async () => {
    const { end, network } = listen((command) => (command.startsWith('SUBSCRIBE') ? hangUp : 'OK'));
    await expect(end).rejects.toThrow('the connection to Redis has ended');
    expect(network.open()).toBe(0);
  });

  it('fails where it may not', async () => {
    const { end, network, heard } = listen(() => new RedisError('NOPERM no channel'));
    await expect(end).rejects.toThrow('NOPERM');
    expect([heard.reports, network.open()]).toEqual([0, 0]);
  });

  it('is for sentinels that run, by their addresses', () => {
    const { children } = redisWorld({ sentinels: { 1: 'gone' }, pods: { 'db-sentinel-2': 'unschedulable' } });
    expect(sentinelEndpoints(children)).toEqual(['10.0.1.0']);
  });
});
