/** Backups of real Redis servers: taken while somebody writes, put back, compared. */

import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hashOf } from '../../src/engines/redis/client/identity.ts';
import { systemClock } from '../../src/system/clock.ts';
import { agentContext, expectResult, runAgent } from '../support/agent-context.ts';
import { stateOf } from '../support/backup-state.ts';
import { type RedisProcess, startRedis } from '../support/redis-process.ts';
import { serverPrograms } from '../support/redis-program.ts';

const password = 'correct horse battery staple'.replaceAll(' ', '-');
const cluster = { namespace: 'apps', kind: 'RedisCluster', name: 'cache', uid: 'uid-1' };
/** As shipped. */
const persistent = ['appendonly yes', 'aof-use-rdb-preamble yes', 'repl-diskless-sync-delay 0'];

let home: string;
let started: RedisProcess[];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'agent-redis-'));
  started = [];
  writeFileSync(join(home, 'password'), `${password}\n`);
  writeFileSync(join(home, 'key'), `${Buffer.alloc(32, 1).toString('base64')}\n`);
});
afterEach(async () => {
  await Promise.all(started.map((server) => server.stop()));
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
});

const target = () => ({ type: 'claim', directory: home, prefix: 'backups' });

function takeTask(members: readonly RedisProcess[], more: object = {}): object {
  return {
    task: 'take',
    cluster,
    purpose: { type: 'backup', name: 'now' },
    source: {
      engine: 'redis',
      members: members.map(({ port }) => ({ host: '127.0.0.1', port })),
      passwordFile: join(home, 'password'),
    },
    target: target(),
    encryptionKeyFile: join(home, 'key'),
    ...more,
  };
}

/** A way to a port of the loopback, on which nothing comes back for as long as it is held. */
async function openLink(to: number) {
  const pairs: { readonly asking: Socket; readonly answering: Socket }[] = [];
  const server = createServer((asking) => {
    const answering = connect(to, '127.0.0.1');
    for (const socket of [asking, answering]) socket.on('error', () => undefined);
    pairs.push({ asking, answering });
    answering.pipe(asking).pipe(answering);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    hold(): void {
      for (const { asking, answering } of pairs) answering.unpipe(asking).pause();
    },
    goOn(): void {
      for (const { asking, answering } of pairs) answering.pipe(asking);
    },
    close(): void {
      for (const socket of pairs.flatMap(({ asking, answering }) => [asking, answering])) socket.destroy();
      server.close();
    },
  };
}

const fetchTask = (directory: string): object => ({
  task: 'fetch',
  target: target(),
  encryptionKeyFile: join(home, 'key'),
  which: {},
  destination: { engine: 'redis', directory },
});

describe.skipIf(serverPrograms.length === 0).each([...serverPrograms])('$name', ({ engine, server: program }) => {
  async function start(config: readonly string[] = [], directory?: string): Promise<RedisProcess> {
    const server = await startRedis({
      program,
      password,
      config: [...persistent, 'enable-debug-command yes', ...config],
      ...(directory === undefined ? {} : { directory }),
    });
    started.push(server);
    return server;
  }

  async function following(primary: RedisProcess): Promise<RedisProcess> {
    const replica = await start([`replicaof 127.0.0.1 ${primary.port}`]);
    await expect
      .poll(async () => String(await replica.command('INFO', 'replication')))
      .toContain('master_link_status:up');
    return replica;
  }

  describe('that knows the cluster by its own name', () => {
    const user = 'clusterwright/apps/cache';
    const knowing = (own: string): string => `user ${user} on #${hashOf(own)} ~* &* +@all`;
    const identified = (file = 'identity', own = 'own'): object => {
      writeFileSync(join(home, file), own);
      return { identity: { user, passwordFile: join(home, file) } };
    };
    const from = (members: readonly RedisProcess[], more: object): object => {
      const { source, ...task } = takeTask(members) as { readonly source: object };
      return { ...task, source: { ...source, ...more } };
    };

    it('gives its data although the password in the Secret is another', async () => {
      const server = await start([knowing('own')]);
      await server.command('SET', 'a', '1');
      writeFileSync(join(home, 'password'), 'another');
      const taken = expectResult(await runAgent(from([server], identified())), 'taken');
      expect(stateOf(home, taken.backup)).toMatchObject({ firstDatabase: { keys: 1 } });
    });

    it('is asked, and not one of another cluster that has the same password', async () => {
      const [own, stranger] = [await start([knowing('own')]), await start([knowing('theirs')])];
      await own.command('SET', 'a', '1');
      await stranger.command('DEBUG', 'POPULATE', '50');
      for (const members of [
        [stranger, own],
        [own, stranger],
      ]) {
        const taken = expectResult(await runAgent(from(members, identified())), 'taken');
        expect(stateOf(home, taken.backup)).toMatchObject({ firstDatabase: { keys: 1 } });
      }
    });

    it('is asked by the password where nobody has been told yet, or where there is no such Secret', async () => {
      const server = await start();
      expectResult(await runAgent(from([server], identified())), 'taken');
      const none = { identity: { user, passwordFile: join(home, 'nowhere') } };
      expectResult(await runAgent(from([server], none)), 'taken');
    });
  });

  it('gives back every key, of every type and database', async () => {
    const primary = await start();
    await primary.command('DEBUG', 'POPULATE', '20000', 'key', '100');
    await primary.command('XADD', 'stream', '*', 'field', 'value');
    await primary.command('ZADD', 'scores', '1', 'a', '2', 'b');
    await primary.command('SET', 'brief', 'x', 'EX', '1000');
    await primary.command('FUNCTION', 'LOAD', "#!lua name=lib\nredis.register_function('f', function() return 1 end)");
    await primary.command('SELECT', '3');
    await primary.command('HSET', 'hash', 'a', '1');
    const digest = await primary.command('DEBUG', 'DIGEST');

    const taken = expectResult(await runAgent(takeTask([primary])), 'taken');
    expect(taken.backup).toMatchObject({ engine: 'redis', encrypted: true, cluster });
    expect(taken.backup.engineVersion).toMatch(engine === 'Redis' ? /^\d/ : /^Valkey \d/);
    expect(stateOf(home, taken.backup)).toMatchObject({ approximateKeys: { 0: 20003, 3: 1 } });

    const volume = join(home, 'volume');
    await expect(runAgent(fetchTask(volume))).resolves.toMatchObject({ reason: 'BadTask' });
    mkdirSync(volume);
    expectResult(await runAgent(fetchTask(volume)), 'fetched');
    expect(readdirSync(volume).sort()).toEqual(['appendonlydir', 'initialised', 'restored-from.json']);
    const restored = await start([], volume);
    expect(await restored.command('DEBUG', 'DIGEST')).toBe(digest);
    expect(await restored.command('FCALL', 'f', '0')).toBe(1);
    expect(existsSync(join(volume, 'initialised'))).toBe(true);
  });

  it('is let in with the password of the new cluster once it is restored, and with no other', async () => {
    const primary = await start();
    await primary.command('SET', 'a', 'b');
    expectResult(await runAgent(takeTask([primary])), 'taken');
    const volume = join(home, 'volume');
    mkdirSync(volume);
    expectResult(await runAgent(fetchTask(volume)), 'fetched');
    const restored = await startRedis({
      program,
      password: 'of-the-new-cluster',
      config: persistent,
      directory: volume,
    });
    started.push(restored);
    expect(await restored.command('GET', 'a')).toBe('b');
    await expect(restored.command('AUTH', password)).rejects.toThrow(/WRONGPASS/);
  });

  it('that has lost nearly all of its one key is said to hold suddenly little', async () => {
    const primary = await start(['rdbcompression no']);
    const purpose = { type: 'schedule', name: 'nightly' };
    for (let i = 0; i < 20; i++) await primary.command('HSET', 'hash', `field-${i}`, 'x'.repeat(100_000));
    const before = expectResult(await runAgent(takeTask([primary], { purpose })), 'taken');
    await primary.command('HDEL', 'hash', ...Array.from({ length: 19 }, (_, i) => `field-${i}`));
    const after = expectResult(await runAgent(takeTask([primary], { purpose })), 'taken');
    expect(stateOf(home, after.backup)).toMatchObject({ approximateKeys: { 0: 1 } });
    expect(after.suddenLoss).toBe(
      `it has ${after.backup.plainBytes} bytes, and ${before.backup.id} had ${before.backup.plainBytes}`,
    );
  });

  it('takes from a replica that follows, while everybody writes, and loses nothing that was acknowledged', async () => {
    const primary = await start();
    await primary.command('DEBUG', 'POPULATE', '50000', 'key', '100');
    const replica = await following(primary);
    const stray = await start(['replicaof 127.0.0.1 1']);
    let isOver = false;
    let acknowledged = 0;
    const writer = (async () => {
      while (!isOver) acknowledged = Number(await primary.command('INCR', 'ledger'));
    })();
    // What fails before it is waited for is told then.
    writer.catch(() => undefined);
    await expect.poll(() => acknowledged).toBeGreaterThan(10);
    // Replication to this one is asynchronous: what it has is what counts.
    const before = Number(await replica.command('GET', 'ledger'));
    const context = agentContext();
    const { backup } = expectResult(await runAgent(takeTask([stray, primary, replica]), context), 'taken');
    isOver = true;
    await writer;
    expect(context.lines.join('')).toContain(`"source":"127.0.0.1:${replica.port}","role":"replica"`);
    expect(context.lines.join('')).not.toContain(password);
    expect(stateOf(home, backup)).toMatchObject({ firstDatabase: { number: 0, keys: 50_001, expiring: 0 } });
    const volume = join(home, 'volume');
    mkdirSync(volume);
    expectResult(await runAgent(fetchTask(volume)), 'fetched');
    const restored = await start([], volume);
    expect(await restored.command('DBSIZE')).toBe(50_001);
    expect(Number(await restored.command('GET', 'ledger'))).toBeGreaterThanOrEqual(before);
  });

  it('is not asked for its data while two primaries have replicas: one of them has been replaced', async () => {
    const replaced = await start();
    const stale = await following(replaced);
    const primary = await start();
    const current = await following(primary);
    await primary.command('SET', 'acknowledged', '1');
    const differing = {
      result: 'failed',
      reason: 'SourceBroken',
      isTransient: true,
      message: expect.stringMatching(
        /127\.0\.0\.1:\d+ \(\w+\) and 127\.0\.0\.1:\d+ \(\w+\) do not replicate from the same/,
      ),
    };
    for (const answering of [
      [replaced, stale, primary, current],
      [stale, primary],
      [stale, current],
      [replaced, primary],
    ]) {
      expect(await runAgent(takeTask(answering))).toMatchObject(differing);
    }
    await replaced.stop();
    const taken = expectResult(await runAgent(takeTask([replaced, stale, primary])), 'taken');
    expect(stateOf(home, taken.backup)).toMatchObject({ firstDatabase: { keys: 1 } });
  });

  it('is asked for the data of a primary alone where a majority of the sentinels names it', async () => {
    const primary = await start();
    await following(primary);
    const sentinels = await Promise.all(
      [1, 2, 3].map(async () => {
        const config = [
          `requirepass ${password}`,
          `sentinel monitor cache 127.0.0.1 ${primary.port} 2`,
          `sentinel auth-pass cache ${password}`,
        ];
        const sentinel = await startRedis({ program, password, isSentinel: true, config });
        started.push(sentinel);
        return sentinel;
      }),
    );
    const alone = (): object => {
      const { source, ...task } = takeTask([primary]) as { readonly source: { readonly members: readonly object[] } };
      const away = { host: '127.0.0.1', port: 1 };
      const told = { name: 'cache', members: sentinels.map(({ port }) => ({ host: '127.0.0.1', port })) };
      return { ...task, source: { ...source, members: [...source.members, away], sentinels: told } };
    };
    const watched = async () => String(await sentinels[0]?.command('SENTINEL', 'MASTER', 'cache'));
    await expect.poll(watched).toContain('num-slaves,1');
    expectResult(await runAgent(alone()), 'taken');
    sentinels[2]?.kill();
    expectResult(await runAgent(alone()), 'taken');
    // It refuses while it has not heard from the replica for a moment, as on a busy machine.
    const fail = (): Promise<unknown> | undefined =>
      sentinels[0]?.command('SENTINEL', 'FAILOVER', 'cache').catch(({ message }: Error) => message);
    await expect.poll(fail).toBe('OK');
    const refused = { result: 'failed', reason: 'SourceBroken', isTransient: true };
    await expect.poll(watched).not.toContain(`ip,127.0.0.1,port,${primary.port},`);
    expect(await runAgent(alone())).toMatchObject({
      ...refused,
      message: expect.stringMatching(/the sentinel .* names .* as primary, not /),
    });
    for (const sentinel of sentinels) sentinel.kill();
    await primary.command('REPLICAOF', 'NO', 'ONE');
    expect(await runAgent(alone())).toMatchObject({
      ...refused,
      message: expect.stringMatching(/0 of 3 sentinels name/),
    });
  });

  it('holds what the primary had acknowledged when it was asked, however far behind a replica is', async () => {
    const primary = await start(['repl-diskless-sync no']);
    const link = await openLink(primary.port);
    try {
      const replica = await start([`replicaof 127.0.0.1 ${link.port}`]);
      const linkStatus = async () => String(await replica.command('INFO', 'replication'));
      await expect.poll(linkStatus).toContain('master_link_status:up');
      link.hold();
      await primary.command('DEBUG', 'POPULATE', '50');
      await primary.command('SET', 'acknowledged', '1');
      expect(await linkStatus()).toContain('master_link_status:up');
      const context = agentContext();
      const { backup } = expectResult(await runAgent(takeTask([primary, replica]), context), 'taken');
      expect(stateOf(home, backup)).toMatchObject({ firstDatabase: { keys: 51 } });
      expect(context.lines.join('')).toContain(`"source":"127.0.0.1:${primary.port}","role":"primary"`);
      // Nobody says what it lacks.
      expect(await runAgent(takeTask([replica]))).toMatchObject({
        result: 'failed',
        reason: 'SourceBroken',
        isTransient: true,
        message: expect.stringContaining('no primary answers'),
      });
      link.goOn();
      const next = agentContext();
      expectResult(await runAgent(takeTask([primary, replica]), next), 'taken');
      expect(next.lines.join('')).toContain(`"source":"127.0.0.1:${replica.port}","role":"replica"`);
    } finally {
      link.close();
    }
  });

  it('leaves nothing behind when the server dies in the middle of it', async () => {
    const primary = await start(['rdb-key-save-delay 1000']);
    await primary.command('DEBUG', 'POPULATE', '20000', 'key', '1000');
    const task = runAgent(takeTask([primary]));
    await expect
      .poll(() => readdirSync(home, { recursive: true }).some((name) => String(name).endsWith('data.part')))
      .toBe(true);
    primary.kill();
    expect(await task).toMatchObject({ result: 'failed', reason: 'SourceBroken', isTransient: true });
    expect(existsSync(join(home, 'backups'))).toBe(false);
  });

  it('says who is in the way', async () => {
    const primary = await start();
    writeFileSync(join(home, 'wrong'), 'wrong-password');
    const source = (more: object, [member = primary]: readonly RedisProcess[] = []): object => ({
      source: { engine: 'redis', members: [{ host: '127.0.0.1', port: member.port }], ...more },
    });
    expect(await runAgent(takeTask([], source({ passwordFile: join(home, 'wrong') })))).toMatchObject({
      reason: 'SourceRefused',
      message: expect.stringMatching(/WRONGPASS/),
    });
    expect(await runAgent(takeTask([], source({})))).toMatchObject({ reason: 'SourceRefused' });
    const stray = await start(['replicaof 127.0.0.1 1']);
    expect(await runAgent(takeTask([stray]))).toMatchObject({
      reason: 'SourceBroken',
      message: expect.stringMatching(/no node can give its data: 127\.0\.0\.1:\d+ follows nobody/),
    });
    await stray.stop();
    expect(await runAgent(takeTask([stray]))).toMatchObject({ reason: 'SourceUnreachable', isTransient: true });
    expect(existsSync(join(home, 'backups'))).toBe(false);
  });

  it('is not asked for a dump where the target is not there', async () => {
    const primary = await start();
    const elsewhere = { type: 'claim', directory: join(home, 'nowhere') };
    expect(await runAgent(takeTask([primary], { target: elsewhere }))).toMatchObject({ reason: 'TargetRefused' });
    expect(String(await primary.command('INFO', 'stats'))).toContain('sync_full:0');
  });

  it('makes one backup for a Backup however often it is asked to, and lets old ones of a schedule go', async () => {
    const primary = await start();
    const purpose = { type: 'backup', name: 'now', uid: 'uid-of-backup' };
    const first = expectResult(await runAgent(takeTask([primary], { purpose })), 'taken');
    const second = expectResult(await runAgent(takeTask([primary], { purpose })), 'taken');
    expect([first.isRepeated, second.isRepeated]).toEqual([false, true]);
    expect(second.backup).toEqual(first.backup);
    const scheduled = { purpose: { type: 'schedule', name: 'nightly' }, retention: { count: 2 } };
    const pruned: number[] = [];
    for (let i = 0; i < 4; i++) {
      // Ids tell seconds apart.
      const clock = { ...systemClock, now: () => systemClock.now() + i * 1000 };
      const result = await runAgent(takeTask([primary], scheduled), agentContext({ clock }));
      pruned.push(expectResult(result, 'taken').pruned);
    }
    expect(pruned).toEqual([0, 0, 1, 1]);
    const { target: place, encryptionKeyFile } = { target: target(), encryptionKeyFile: join(home, 'key') };
    expect(await runAgent({ task: 'list', target: place, encryptionKeyFile, which: {} })).toMatchObject({ total: 3 });
  });

  it('is no replica to anybody: not to a sentinel, and not to a primary that wants one', async () => {
    // One dump takes forty seconds.
    const primary = await start(['rdb-key-save-delay 2000', 'min-replicas-to-write 1']);
    const replica = await following(primary);
    await primary.command('DEBUG', 'POPULATE', '20000', 'key', '100');
    const context = agentContext();
    const task = runAgent(takeTask([primary]), context);
    await expect.poll(() => replication(primary)).toContain('ip=backup.invalid');
    // A sentinel adds what it has not seen before from every INFO of a primary, the first one included.
    const sentinel = await startRedis({
      program,
      isSentinel: true,
      config: [`sentinel monitor cache 127.0.0.1 ${primary.port} 1`, `sentinel auth-pass cache ${password}`],
    });
    started.push(sentinel);
    await expect.poll(() => replicasKnownTo(sentinel)).toContain(`127.0.0.1:${replica.port}`);
    expect(await replicasKnownTo(sentinel)).toEqual([`127.0.0.1:${replica.port}`]);
    await replica.command('REPLICAOF', 'NO', 'ONE');
    await expect.poll(() => replication(primary)).not.toContain('state=online');
    expect(await replication(primary)).toContain('ip=backup.invalid');
    await expect(primary.command('SET', 'a', 'b')).rejects.toThrow(/NOREPLICAS/);
    context.stop();
    expect(await task).toMatchObject({ result: 'failed', reason: 'Stopped' });
  });
});

async function replication(server: RedisProcess): Promise<string> {
  return String(await server.command('INFO', 'replication'));
}

async function replicasKnownTo(sentinel: RedisProcess): Promise<readonly string[]> {
  const reply = await sentinel.command('SENTINEL', 'REPLICAS', 'cache');
  const replicas = Array.isArray(reply) ? (reply as readonly (readonly string[])[]) : [];
  return replicas.map((fields) => String(fields[1]));
}
