/** Who is connected to a port: as `CLIENT LIST` of the servers says it. */
import { describe, expect, it } from 'vitest';
import { actRedis } from '../../../src/engines/redis/act/act.ts';
import { peersAt } from '../../../src/engines/redis/client/peers.ts';
import { RedisError, type Reply } from '../../../src/engines/redis/client/resp.ts';
import { observePeers } from '../../../src/engines/redis/observe/peers.ts';
import { redisCluster } from '../../support/redis-situation.ts';
import { scriptedNetwork } from '../../support/scripted-redis.ts';

const line = (laddr: string): string =>
  `id=3 addr=10.0.0.9:41000 laddr=${laddr} fd=8 name= age=0 user=default lib-ver=\n`;
const address = '10.0.0.0';

describe('clients of a port', () => {
  it.each<readonly [string, number]>([
    ['', 0],
    [line('10.0.0.0:6379'), 0],
    [line('10.0.0.0:6380'), 1],
    [line('[fd00::1]:6380'), 1],
    [line('10.0.0.0:16380'), 0],
    [line('10.0.0.0:63800'), 0],
    [`${line('10.0.0.0:6380')}${line('10.0.0.0:6379')}${line('[::1]:6380')}`, 2],
    ['id=1 addr=10.0.0.9:6380 fd=8\n', 0],
    ['id=1 addr=10.0.0.9:6380 laddr=10.0.0.0:6379 name=laddr=10.0.0.0:6380\n', 0],
  ])('%j: %i', (list, count) => expect(peersAt(list, 6380)).toBe(count));
});

describe('a server that is asked for them', () => {
  const network = (answer: Reply) => scriptedNetwork({ processes: { [`${address}:6379`]: () => answer } });
  const observed = (answer: Reply) => observePeers(address, 6380, { password: 'pw' }, network(answer).io);

  it('tells how many there are, also in an answer that is longer than any other', async () => {
    const many = line('10.0.0.0:6380').repeat(20_000);
    expect(await observed(many)).toEqual({ connected: 20_000 });
  });

  it('that says something else has an unknown number', async () => {
    expect(await observed(new RedisError('NOPERM no'))).toEqual({ unknown: 'NOPERM no' });
  });

  const close = { type: 'redis.closeTls', node: { pod: 'db-0', address } } as const;
  it('closes the port where there is none', async () => {
    const { io, asked } = network('');
    await actRedis(close, redisCluster(), io);
    expect(asked).toEqual([`${address}:6379 CLIENT LIST`, `${address}:6379 CONFIG SET tls-port 0`]);
  });

  it('keeps it where one has come since it was planned', async () => {
    const { io, asked } = network(line('10.0.0.0:6380'));
    await actRedis(close, redisCluster(), io);
    expect(asked).toEqual([`${address}:6379 CLIENT LIST`]);
  });
});

describe('a server that is told to show a certificate', () => {
  const secure = { type: 'redis.secure', node: { pod: 'db-0', address }, digest: '0123456789abcdef' } as const;
  const told = (answer: Reply) => scriptedNetwork({ processes: { [`${address}:6379`]: () => answer } });
  const folder = '/run/redis/tls/0123456789abcdef';

  it('is told everything at once', async () => {
    const { io, asked } = told('OK');
    await actRedis(secure, redisCluster(), io);
    expect(asked).toEqual([
      `${address}:6379 CONFIG SET tls-cert-file ${folder}/tls.crt tls-key-file ${folder}/tls.key tls-ca-cert-file ${folder}/ca.crt tls-auth-clients no tls-port 6380`,
    ]);
  });

  it('and may not have it yet', async () => {
    const answer =
      "ERR CONFIG SET failed (possibly related to argument 'tls-cert-file') - Unable to update TLS configuration. Check server logs.";
    await expect(actRedis(secure, redisCluster(), told(new RedisError(answer)).io)).resolves.toBeUndefined();
  });

  it('any other refusal is said', async () => {
    const refused = actRedis(secure, redisCluster(), told(new RedisError('ERR Unable to listen on this port')).io);
    await expect(refused).rejects.toThrow('Unable to listen');
  });
});
