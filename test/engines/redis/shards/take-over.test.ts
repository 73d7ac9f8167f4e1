import { describe, expect, it } from 'vitest';
import { takeOver } from '../../../../src/engines/redis/act/shards/take-over.ts';
import type { RedisConnection } from '../../../../src/engines/redis/client/connection.ts';
import { realContext } from '../../../support/real-context.ts';

const [id, primaryId] = ['a'.repeat(40), 'b'.repeat(40)];
const node = { pod: 'db-s0-1', address: '10.0.0.2', id };
const primary = { pod: 'db-s0-0', address: '10.0.0.1', id: primaryId };
const whole = {
  master_link_status: 'up',
  slave_priority: '100',
  aof_enabled: '1',
  aof_rewrite_in_progress: '0',
  aof_rewrite_scheduled: '0',
};

/** What is said to a replica that says this of itself. */
async function saidTo(info: Readonly<Record<string, string>>, flags = 'myself,slave'): Promise<string[]> {
  const said: string[] = [];
  const command: RedisConnection['command'] = (...args) => {
    const words = args.join(' ');
    said.push(words);
    if (words === 'ROLE') return Promise.resolve([said.includes('CLUSTER FAILOVER') ? 'master' : 'slave']);
    if (words === 'INFO')
      return Promise.resolve(
        Object.entries(info)
          .map((pair) => pair.join(':'))
          .join('\r\n'),
      );
    return Promise.resolve(`${id} 10.0.0.2:6379@16379 ${flags} ${primaryId} 0 1 1 connected\n`);
  };
  const connection = { command } as RedisConnection;
  await takeOver({ type: 'redis.takeOver', node, primary }, (_, talk) => talk(connection), realContext({}));
  return said;
}

describe('a planned failover', () => {
  it('is begun on a replica that has everything', async () => {
    expect(await saidTo(whole)).toContain('CLUSTER FAILOVER');
  });

  it('begins while writes are paused, and ends the pause', async () => {
    const said = await saidTo(whole);
    expect(said.filter((words) => /^CLIENT|FAILOVER/.test(words))).toEqual([
      'CLIENT PAUSE 3000 WRITE',
      'CLUSTER FAILOVER',
      'CLIENT UNPAUSE',
    ]);
  });

  it.each<readonly [change: Readonly<Record<string, string>>, why: RegExp]>([
    [{ master_link_status: 'down' }, /lost the link/],
    [{ slave_priority: '0' }, /may not be elected/],
    [{ aof_enabled: '0' }, /yet to write down/],
    [{ aof_rewrite_in_progress: '1' }, /yet to write down/],
    [{ aof_rewrite_scheduled: '1' }, /yet to write down/],
  ])('is not begun on one that says %o', async (change, why) => {
    await expect(saidTo({ ...whole, ...change })).rejects.toThrow(why);
  });

  it('asks what the pod has decided, not whether the last rewrite succeeded', async () => {
    expect(await saidTo({ ...whole, aof_last_bgrewrite_status: 'err' })).toContain('CLUSTER FAILOVER');
    await expect(saidTo(whole, 'myself,slave,nofailover')).rejects.toThrow('yet to hold what it has copied');
  });
});
