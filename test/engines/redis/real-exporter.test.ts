/**
 * The script of the sidecar with the real redis_exporter beside real servers. Needs redis-server, and the image of the exporter in the cache of
 * the sandbox: `sandbox load redis-exporter:1.86` makes it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aclRule } from '../../../src/engines/redis/client/identity.ts';
import { redisAlerts } from '../../../src/engines/redis/monitoring/alerts.ts';
import { redisPanels } from '../../../src/engines/redis/monitoring/panels.ts';
import { texts } from '../../../src/engines/redis/resources/shell/texts.ts';
import { freePort } from '../../support/free-port.ts';
import { unpackedImage } from '../../support/image-layer.ts';
import { serverPrograms } from '../../support/redis-program.ts';
import { until } from '../../support/until.ts';

const program = join(unpackedImage('redis-exporter:1.86') ?? '', 'usr/bin/prometheus-redis-exporter');
const identity = 'clusterwright/shop/cache';

interface Exporter {
  readonly child: ChildProcess;
  readonly base: string;
  metrics(): Promise<string>;
}

describe.skipIf(!existsSync(program)).each([...serverPrograms])('redis_exporter beside $name', ({ server }) => {
  let directory = '';
  const at = (name: string): string => join(directory, name);
  const children: ChildProcess[] = [];
  let [primary, replica, sentinel]: Exporter[] = [];

  /** Ends with the test file. */
  function run(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
    const child = spawn(command, args, { env: { PATH: process.env.PATH, ...env }, stdio: 'ignore', cwd: directory });
    children.push(child);
    return child;
  }

  const rule = (password: string): string => `user ${aclRule({ user: identity, password }).join(' ')}\n`;

  async function exporterOf(name: string, port: number): Promise<Exporter> {
    const own = await freePort();
    mkdirSync(at(`run-${name}`));
    writeFileSync(
      at(`${name}.sh`),
      texts['exporter.sh'].replaceAll('/run/exporter', at(`run-${name}`)).replace('sleep 5', 'sleep 0.2'),
    );
    const child = run('/bin/sh', [at(`${name}.sh`)], {
      PATH: `${dirname(program)}:${process.env.PATH}`,
      IDENTITY: identity,
      IDENTITY_FILE: at('password'),
      REDIS_PORT: String(port),
      METRICS_PORT: String(own),
    });
    const base = `http://127.0.0.1:${own}`;
    const metrics = async (): Promise<string> => await (await fetch(`${base}/metrics`)).text();
    return { child, base, metrics };
  }

  const answering = async ({ metrics }: Exporter): Promise<string> =>
    await until('the exporter logs in', async () => {
      const text = await metrics();
      if (!text.includes('\nredis_up 1\n')) throw new Error(/redis_up \d/.exec(text)?.[0] ?? 'no answer');
      return text;
    });

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'real-exporter-'));
    const [first, second, third] = [await freePort(), await freePort(), await freePort()];
    writeFileSync(at('password'), 'pw-Alpha1\n');
    const config = `save ""\nappendonly yes\nbind 127.0.0.1\nuser default off\n${rule('pw-Alpha1')}masteruser ${identity}\nmasterauth pw-Alpha1\n`;
    writeFileSync(at('primary.conf'), `${config}port ${first}\nappenddirname primary\n`);
    writeFileSync(at('replica.conf'), `${config}port ${second}\nappenddirname replica\nreplicaof 127.0.0.1 ${first}\n`);
    writeFileSync(
      at('sentinel.conf'),
      `port ${third}\n${rule('pw-Alpha1')}sentinel monitor cache 127.0.0.1 ${first} 1\nsentinel auth-user cache ${identity}\nsentinel auth-pass cache pw-Alpha1\n`,
    );
    const [command, ...words] = server;
    for (const args of [['primary.conf'], ['replica.conf'], ['sentinel.conf', '--sentinel']])
      run(command, [...words, ...args]);
    primary = await exporterOf('primary', first);
    replica = await exporterOf('replica', second);
    sentinel = await exporterOf('sentinel', third);
  });
  afterAll(async () => {
    for (const child of children) child.kill('SIGTERM');
    await until('all have ended', () => {
      if (children.some(({ exitCode, signalCode }) => exitCode === null && signalCode === null)) throw new Error('no');
    });
    rmSync(directory, { recursive: true });
  });

  it('logs in to nodes and sentinels, and has every metric that alerts and panels use', async () => {
    const texts = await until('the replica follows', async () => {
      const all = await Promise.all([primary, replica, sentinel].map((one) => answering(one as Exporter)));
      if (!all.join().includes('redis_connected_slave_lag_seconds{')) throw new Error('not yet');
      return all;
    });
    const served = new Set(texts.flatMap((text) => [...text.matchAll(/^(redis_\w+)/gm)].map(([, name]) => name)));
    const queries = [...redisAlerts, ...redisPanels.flatMap((panel) => panel.queries)].map(({ expr }) => expr);
    const used = new Set(queries.flatMap((expr) => expr.match(/\bredis_\w+/g) ?? []));
    expect([...used].filter((name) => !served.has(name))).toEqual([]);
    expect(used.size).toBeGreaterThan(20);
    expect(texts.join()).toMatch(/redis_instance_info\{[^}]*role="master"/);
    expect(texts.join()).toMatch(/redis_sentinel_master_status\{[^}]*master_status="ok"/);
  });

  it('serves nothing that is no metric, and asks no other server', async () => {
    const { base, metrics } = primary as Exporter;
    const target = `target=${encodeURIComponent((replica as Exporter).base.replace('http', 'redis'))}`;
    expect((await fetch(`${base}/scrape?${target}`)).status).toBe(404);
    expect(await metrics()).not.toContain('pw-Alpha1');
  });

  it('has the password in no argument and no environment', async () => {
    const pids = processesBelow((primary as Exporter).child.pid ?? 0);
    const texts = pids.flatMap((pid) =>
      ['cmdline', 'environ'].map((name) => readFileSync(`/proc/${pid}/${name}`, 'utf8')),
    );
    expect(texts.join().includes('disable-scrape-endpoint')).toBe(true);
    expect(texts.join()).not.toMatch(/pw-Alpha1/);
  });

  it('starts again when it is killed', async () => {
    const { child } = primary as Exporter;
    const pid = programOf(child);
    process.kill(pid, 'SIGKILL');
    await until('it is gone', () => {
      if (existsSync(`/proc/${pid}/environ`) && readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== '')
        throw new Error('no');
    });
    await answering(primary as Exporter);
    expect(child.exitCode).toBeNull();
  });

  it('has room for few connections, so that strangers cannot fill the memory of its container', async () => {
    const { child, base } = primary as Exporter;
    const pid = programOf(child);
    const most = (): number =>
      Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
    const limit = 64;
    const head = `GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${`X-A: ${'a'.repeat(4000)}\r\n`.repeat(230)}`;
    const sockets = Array.from({ length: 120 }, () => connect(Number(new URL(base).port), '127.0.0.1'));
    const closed = sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve).resume()));
    for (const socket of sockets) socket.once('error', () => socket.destroy()).write(head);
    await until('it accepts no more, or has taken too much', () => {
      if (readdirSync(`/proc/${pid}/fd`).length < 20 && most() < limit) throw new Error('not yet');
    });
    for (const socket of sockets) socket.end('\r\n');
    await Promise.all(closed);
    expect(most()).toBeLessThan(limit);
    await answering(primary as Exporter);
  });

  it('takes another password', async () => {
    const { metrics } = primary as Exporter;
    writeFileSync(at('password'), 'pw-Beta2\n');
    await until('it is refused', async () => expect(await metrics()).toContain('\nredis_up 0\n'));
    writeFileSync(at('password'), 'pw-Alpha1\n');
    await answering(primary as Exporter);
  });
});

/** The exporter that a shell has started. */
function programOf({ pid = 0 }: ChildProcess): number {
  const program = processesBelow(pid).find((each) => readFileSync(`/proc/${each}/comm`, 'utf8').startsWith('prom'));
  if (program === undefined) throw new Error('there is none');
  return program;
}

/** The process and whatever it has started. */
function processesBelow(root: number): readonly number[] {
  const parentOf = (pid: string): number => {
    try {
      return Number(/^\d+ \(.*\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]);
    } catch {
      return 0;
    }
  };
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return [root, ...pids.filter((pid) => parentOf(pid) === root).map(Number)];
}
