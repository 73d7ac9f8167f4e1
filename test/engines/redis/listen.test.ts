import { describe, expect, it } from 'vitest';
import { RedisError } from '../../../src/engines/redis/client/resp.ts';
import { listenToRedis, listenToSentinel, redisEndpoints } from '../../../src/engines/redis/observe/listen.ts';
import { redisWorld } from '../../support/redis-situation.ts';
import { flat, hang, hangUp, info, type Process, scriptedNetwork } from '../../support/scripted-redis.ts';
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
    await turn();
    expect(heard.reports).toBe(2);
    network.push('s:26379', ['message', '-sdown', 'slave']);
    await network.clock.advance(100);
    await turn();
    expect(heard.reports).toBe(3);
    expect(network.asked[0]).toMatch(/^s:26379 SUBSCRIBE .*\+switch-master .*\+sdown -sdown/);
    network.abort();
    await end;
    expect(network.open()).toBe(0);
  });

  it('that never stops talking reads ten times a second, and reports as often', async () => {
    const { network, heard, end } = listen(subscribed);
    await turn();
    for (let ms = 0; ms < 1000; ms += 5) {
      for (let i = 0; i < 5; i++) network.push('s:26379', ['message', '+sdown', 'x'.repeat(1000)]);
      await network.clock.advance(5);
    }
    expect(heard.reports).toBeGreaterThan(8);
    expect(heard.reports).toBeLessThan(14);
    network.abort();
    await end;
    expect([network.open(), network.clock.pending]).toEqual([0, []]);
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
});

it('processes that run are listened to, by their addresses', () => {
  const { children } = redisWorld({
    nodes: { 2: 'gone' },
    sentinels: { 1: 'gone' },
    pods: { 'db-0': 'unschedulable', 'db-sentinel-2': 'unschedulable' },
  });
  expect(redisEndpoints(children)).toEqual(['data/10.0.0.1', '10.0.1.0']);
});

describe('asking a data node', () => {
  function ask(process: Process) {
    const network = scriptedNetwork({ processes: { 'd:6379': process } });
    const heard = { reports: 0 };
    const end = listenToRedis('data/d', cluster, network.io, () => {
      heard.reports++;
    });
    end.catch(() => undefined);
    return { network, heard, end };
  }

  it('reports an edit of the Secret with the password, and asks for it to be read anew before it is 40 s old', async () => {
    let secret = { password: 'pw' } as Readonly<Record<string, string>>;
    const refusals: unknown[] = [];
    const network = scriptedNetwork({ processes: { 'd:6379': () => 'OK' } });
    const io = {
      ...network.io,
      secret: async (name: string) => (name === 'db-auth' ? secret : undefined),
      secretOutdated: (...refusal: unknown[]) => void refusals.push(refusal),
    };
    let reports = 0;
    const end = listenToRedis('data/d', cluster, io, () => void reports++);
    end.catch(() => undefined);
    await network.clock.advance(12_000);
    expect([reports, refusals]).toEqual([
      0,
      [
        ['db-auth', 40_000],
        ['db-auth', 40_000],
      ],
    ]);
    secret = { password: 'pw', 'password-next': 'another' };
    await network.clock.advance(12_000);
    expect(reports).toBe(1);
    await network.clock.advance(12_000);
    expect(reports).toBe(1);
    network.abort();
  });

  it('reports within 30 s what has changed, once, and opens one short connection each time', async () => {
    let fields: Readonly<Record<string, string>> = { role: 'master', min_slaves_good_slaves: '1' };
    let ping = 'PONG' as string | RedisError;
    const { network, heard } = ask((command) => {
      if (command === 'PING') return ping;
      return command.startsWith('CONFIG') ? flat({ 'min-replicas-to-write': '1' }) : info(fields);
    });
    const reportsAfter = async (ms: number): Promise<number> => {
      await network.clock.advance(ms);
      return heard.reports;
    };
    expect(await reportsAfter(60_000)).toBe(0);
    expect(network.open()).toBe(0);
    ping = new RedisError('MISCONF Errors writing to the AOF file: No space left on device');
    expect(await reportsAfter(15_000)).toBe(1);
    expect(await reportsAfter(60_000)).toBe(1);
    ping = 'PONG';
    expect(await reportsAfter(15_000)).toBe(2);
    fields = { role: 'master', min_slaves_good_slaves: '0' };
    expect(await reportsAfter(15_000)).toBe(3);
    fields = { role: 'master', min_slaves_good_slaves: '1', aof_last_bgrewrite_status: 'err' };
    expect(await reportsAfter(15_000)).toBe(4);
  });

  it('ends when the node does not answer, and reports nothing: others tell of that', async () => {
    const { network, heard, end } = ask(() => hang);
    await network.clock.advance(2_000);
    await expect(end).rejects.toThrow('d:6379 did not answer within 1000 ms');
    expect([heard.reports, network.open()]).toEqual([0, 0]);
  });
});
