/** A hole in the proxy: one sentinel gets two votes where the address of one that is gone is another's by now. Red until it is mended. */
import type { ChildProcess } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { proxyUser } from '../../../src/engines/redis/resources/haproxy-config.ts';
import { haproxyPrograms } from '../../support/haproxy-program.ts';
import { type LoopbackHosts, loopbackHosts } from '../../support/loopback-hosts.ts';
import { open, startProxy, statusOf } from '../../support/proxy-under-test.ts';
import { serverPrograms } from '../../support/redis-program.ts';
import { redisCluster } from '../../support/redis-situation.ts';
import { until } from '../../support/until.ts';

const password = 'secret';
const data = [1, 2, 3];
const sentinels = [11, 12, 13];
const proxies = [21];
const cluster = redisCluster({ proxy: {} });
// The pod of the first sentinel is gone, and the second one has got its address. HAProxy keeps what the name server no longer says for an hour.
const names = new Map([
  ['db-sentinel-0', 12],
  ['db-sentinel-1', 12],
  ['db-sentinel-2', 13],
]);
const noPassword = [proxyUser(cluster), 'reset', 'on', 'nopass', '+sentinel|get-master-addr-by-name'];

const pairs = haproxyPrograms
  .slice(-1)
  .flatMap((haproxy) =>
    serverPrograms
      .slice(0, 1)
      .map((server) => ({ title: `haproxy ${haproxy.name} before ${server.name}`, haproxy, server })),
  );

describe.skipIf(pairs.length === 0).each(pairs)('$title', ({ haproxy, server: { server } }) => {
  let hosts: LoopbackHosts;
  let servers: Map<number, ChildProcess>;

  async function ask(host: number, ...command: readonly string[]): Promise<unknown> {
    const connection = await open(hosts.address(host), host > 10 ? 26379 : 6379, password);
    try {
      return await connection.command(...command);
    } finally {
      connection.close();
    }
  }
  const ready = (host: number): Promise<void> =>
    until(`proxy ${host} has a primary`, async () => expect(await statusOf(hosts, host, '/ready')).toBe(200));

  beforeEach(async () => {
    hosts = loopbackHosts();
    servers = new Map();
    const secured = [`requirepass ${password}`, `masterauth ${password}`, 'repl-diskless-sync-delay 0'];
    for (const host of data) {
      const follows = host === 1 ? [] : [`replicaof ${hosts.address(1)} 6379`];
      const announced = `replica-announce-ip ${hosts.address(host)}`;
      servers.set(host, hosts.redis(server, host, [...secured, announced, ...follows]));
    }
    const watched = [
      `requirepass ${password}`,
      `sentinel sentinel-pass ${password}`,
      `sentinel monitor db ${hosts.address(1)} 6379 2`,
      `sentinel auth-pass db ${password}`,
      'sentinel down-after-milliseconds db 3000',
      'sentinel failover-timeout db 15000',
    ];
    for (const host of sentinels) {
      servers.set(host, hosts.redis(server, host, [`sentinel announce-ip ${hosts.address(host)}`, ...watched], true));
    }
    await until('they know each other', async () => {
      for (const host of sentinels) {
        const row = String(await ask(host, 'SENTINEL', 'MASTER', 'db'));
        expect(row).toContain('num-slaves,2,num-other-sentinels,2');
        await ask(host, 'ACL', 'SETUSER', ...noPassword);
        await ask(host, 'SENTINEL', 'DEBUG', 'INFO-PERIOD', '2000');
      }
    });
    const port = await hosts.names(names);
    await Promise.all(
      proxies.map(async (host) => {
        servers.set(host, await startProxy({ hosts, program: haproxy, cluster, host, names: port }));
        await ready(host);
      }),
    );
  }, 60_000);
  afterEach(async () => {
    await hosts.close();
  });

  it('one sentinel of three is left: it is no majority, and clients are led to nobody', async () => {
    for (const host of [11, 13]) servers.get(host)?.kill('SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 4000));
    expect(await statusOf(hosts, 21, '/ready')).toBe(503);
    expect(data).toHaveLength(3);
  });
});
