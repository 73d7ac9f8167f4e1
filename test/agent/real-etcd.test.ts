/** Backups of real etcd clusters: taken while somebody writes, restored by etcd's own tool, compared. */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentIO } from '../../src/agent/agent-io.ts';
import { container } from '../../src/agent/container.ts';
import { runTask } from '../../src/agent/run.ts';
import type { Target } from '../../src/agent/target/target.ts';
import { drivers } from '../../src/engines/drivers.ts';
import type { EtcdState } from '../../src/engines/etcd/backup/schemas.ts';
import { etcdPrograms, etcdVersions } from '../../src/engines/etcd/images.ts';
import { binaryPath } from '../../src/sandbox/binaries.ts';
import { layoutOf } from '../../src/sandbox/layout.ts';
import { sleep, systemClock } from '../../src/system/clock.ts';
import { agentContext, expectResult, runAgent } from '../support/agent-context.ts';
import { stateOf } from '../support/backup-state.ts';
import { etcdBinaries } from '../support/etcd-binary.ts';
import { type Authority, openAuthority } from '../support/etcd-certificates.ts';
import { type EtcdOptions, type EtcdProcess, type EtcdProcesses, encoded, startEtcd } from '../support/etcd-process.ts';
import { replaceIn } from '../support/etcd-story.ts';
import { openCutOffService, openReusedAddress } from '../support/moving-address.ts';

const cluster = { namespace: 'apps', kind: 'EtcdCluster', name: 'db', uid: 'uid-1' };
const layout = layoutOf(process.env);
const restorers: Readonly<Record<string, string>> = {
  [etcdVersions.current]: binaryPath(layout, etcdPrograms.current.restorer),
  [etcdVersions.before]: binaryPath(layout, etcdPrograms.before.restorer),
};

let home: string;
let started: EtcdProcesses[];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'agent-etcd-'));
  started = [];
  writeFileSync(join(home, 'password'), 'a-long-password\n');
  writeFileSync(join(home, 'key'), `${Buffer.alloc(32, 1).toString('base64')}\n`);
});
afterEach(async () => {
  await Promise.all(started.map((each) => each.stop()));
  rmSync(home, { recursive: true });
});

async function* whole(
  taken: readonly IteratorResult<Uint8Array>[],
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  for (const each of taken) if (each.done !== true) yield each.value;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

const target = () => ({ type: 'claim', directory: home, prefix: 'backups' });

function takeTask(members: readonly EtcdProcess[], source: object = {}): object {
  return {
    task: 'take',
    cluster,
    purpose: { type: 'backup', name: 'now' },
    source: { engine: 'etcd', members: members.map(({ port }) => ({ host: '127.0.0.1', port })), ...source },
    target: target(),
    encryptionKeyFile: join(home, 'key'),
  };
}

const fetchTask = (file: string): object => ({
  task: 'fetch',
  target: target(),
  encryptionKeyFile: join(home, 'key'),
  which: {},
  destination: { engine: 'etcd', file },
});

const alarmsOf = async (member: EtcdProcess): Promise<number> => {
  const { errors } = await member.call('maintenance/status');
  return Array.isArray(errors) ? errors.length : 0;
};

describe.skipIf(etcdBinaries.size === 0).each([...etcdBinaries])('etcd %s', (version, binary) => {
  async function start(options: Omit<EtcdOptions, 'binary'> = {}): Promise<readonly EtcdProcess[]> {
    const processes = await startEtcd({ binary, ...options });
    started.push(processes);
    return processes.members;
  }

  async function restore(): Promise<EtcdProcess> {
    const file = join(home, 'snapshot.db');
    expectResult(await runAgent(fetchTask(file)), 'fetched');
    const directory = join(home, 'restored');
    execFileSync(restorers[`v${version}`] ?? '', ['snapshot', 'restore', file, '--data-dir', directory], {
      stdio: 'pipe',
    });
    const [member] = await start({ dataDirectory: directory });
    if (member === undefined) throw new Error('one member was started');
    return member;
  }

  it('gives back every key and every revision, taken from a follower while somebody writes', async () => {
    const members = await start({ size: 3 });
    const [member] = members;
    if (member === undefined) throw new Error('three members were started');
    for (let i = 0; i < 200; i++) {
      await member.call('kv/put', { key: encoded(`key-${i % 50}`), value: encoded('x'.repeat(5000)) });
    }
    await member.call('kv/compaction', { revision: '50' });
    let isOver = false;
    let acknowledged = 0;
    const writer = (async () => {
      for (let i = 1; !isOver; i++) {
        await member.call('kv/put', { key: encoded('ledger'), value: encoded(String(i)) });
        acknowledged = i;
      }
    })();
    // What fails before it is waited for is told then.
    writer.catch(() => undefined);
    await expect.poll(() => acknowledged).toBeGreaterThan(5);
    const before = acknowledged;
    const context = agentContext();
    const { backup } = expectResult(await runAgent(takeTask(members), context), 'taken');
    isOver = true;
    await writer;
    expect(context.lines.join('')).toContain('"role":"follower"');
    const state = stateOf(home, backup) as EtcdState;
    expect(backup).toMatchObject({ engine: 'etcd', engineVersion: version, encrypted: true });

    const restored = await restore();
    const { hash, compact_revision } = await restored.call('maintenance/hashkv', { revision: state.revision });
    expect({ hash, compactRevision: compact_revision }).toEqual(state.hashKv);
    expect(state.hashKv?.compactRevision).toBe('50');
    expect(state).toMatchObject({ keys: 51, authentication: false });
    const { kvs } = await restored.call('kv/range', { key: encoded('ledger') });
    const [{ value }] = kvs as readonly [{ readonly value: string }];
    expect(Number(Buffer.from(value, 'base64').toString())).toBeGreaterThanOrEqual(before);
  });

  it('asks each member once for the hash of its keys, though a Service leads to one of them, too', async () => {
    const members = await start({ size: 3 });
    await members[0]?.call('kv/put', { key: encoded('k'), value: encoded('v') });
    expectResult(await runAgent(takeTask([...members, ...members.slice(0, 1)])), 'taken');
    const asked = members.map(async ({ port }) => {
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      return Number(/^grpc_server_started_total\{grpc_method="HashKV".*\} (\d+)/m.exec(text)?.[1]);
    });
    expect(await Promise.all(asked)).toEqual([1, 1, 1]);
  });

  it('is not taken from a member that is cut off, though a Service leads to it after another has told the revision', async () => {
    const [member] = await start();
    if (member === undefined) throw new Error('one member was started');
    await member.call('kv/put', { key: encoded('k'), value: encoded('before') });
    const service = await openCutOffService(member.port);
    await member.call('kv/put', { key: encoded('k'), value: encoded('acknowledged') });
    try {
      const members = [{ host: '127.0.0.1', port: service.port }];
      expect(await runAgent(takeTask([], { members }))).toMatchObject({
        result: 'failed',
        reason: 'SourceBroken',
        isTransient: true,
        message: expect.stringContaining('request timed out'),
      });
    } finally {
      await service.close();
    }
    expect(readdirSync(home)).not.toContain('backups');
    expectResult(await runAgent(takeTask([member])), 'taken');
  });

  it('is not taken from a member of another cluster that has got the address meanwhile', async () => {
    const [[own], [stranger]] = [await start(), await start()];
    if (own === undefined || stranger === undefined) throw new Error('one member was started, twice');
    await own.call('kv/put', { key: encoded('k'), value: encoded('ours') });
    await stranger.call('kv/put', { key: encoded('k'), value: encoded('theirs') });
    const address = await openReusedAddress(own.port, stranger.port);
    try {
      const members = [{ host: '127.0.0.1', port: address.port }];
      expect(await runAgent(takeTask([], { members }))).toMatchObject({
        result: 'failed',
        reason: 'SourceBroken',
        isTransient: true,
        message: expect.stringContaining('leads to another cluster by now'),
      });
    } finally {
      await address.close();
    }
    expect(readdirSync(home)).not.toContain('backups');
  });

  it('is let go before the target is asked, however long that takes', async () => {
    const [member] = await start();
    if (member === undefined) throw new Error('one member was started');
    for (let i = 0; i < 90; i++) {
      await member.call('kv/put', { key: encoded(`key-${i}`), value: encoded('x'.repeat(1_000_000)) });
    }
    const scratchDirectory = join(home, 'scratch');
    mkdirSync(scratchDirectory);
    const openViews = async (): Promise<number> => {
      const text = await (await fetch(`http://127.0.0.1:${member.port}/metrics`)).text();
      return Number(/^etcd_mvcc_db_open_read_transactions (\d+)/m.exec(text)?.[1]);
    };
    /** The fewest of so many looks; as soon as it is no more than `wanted`. */
    const fewestViews = async (looks: number, wanted = 0): Promise<number> => {
      let fewest = Number.POSITIVE_INFINITY;
      for (let n = 0; n < looks && fewest > wanted; n++) {
        // It counts with each commit.
        await member.call('kv/put', { key: encoded('again'), value: encoded(String(n)) });
        fewest = Math.min(fewest, await openViews());
        await sleep(systemClock, 40);
      }
      return fewest;
    };
    const atRest = await fewestViews(60);
    /** As many as stay open, once one more than at rest has been counted: the count lags behind. */
    const stayingViews = async (): Promise<number> => {
      for (let n = 0; n < 300 && (await openViews()) <= atRest; n++) await fewestViews(1);
      return fewestViews(60, atRest);
    };
    let look = (): Promise<number> => fewestViews(300, atRest);
    let during: number | undefined;
    const io: AgentIO = {
      ...container,
      async openTarget(place, context) {
        const target = await container.openTarget(place, context);
        const put: Target['put'] = async (key, content) => {
          const pieces = content[Symbol.asyncIterator]();
          const taken = [];
          // The first is the header of what is encrypted.
          for (let i = 0; i < 3; i++) taken.push(await pieces.next());
          // A store that has taken its first bytes, and takes its time for more.
          during ??= await look();
          await target.put(key, whole(taken, pieces));
        };
        return { ...target, put };
      },
    };
    const run = (task: object) => runTask(JSON.stringify(task), agentContext(), io, drivers);
    expectResult(await run({ ...takeTask([member]), scratchDirectory }), 'taken');
    expect(during).toBe(atRest);
    expect(readdirSync(scratchDirectory)).toEqual([]);
    // Without it the view stays open for as long as the upload takes.
    during = undefined;
    look = stayingViews;
    expectResult(await run({ ...takeTask([member]), purpose: { type: 'schedule', name: 'often' } }), 'taken');
    expect(during).toBe(atRest + 1);
  });

  it('is let in by certificate and password', async () => {
    const authority: Authority = openAuthority();
    const certificates = authority.issue(['127.0.0.1']);
    authority.close();
    for (const [name, content] of Object.entries(certificates)) writeFileSync(join(home, name), content);
    const [member] = await start({ certificates });
    if (member === undefined) throw new Error('one member was started');
    await member.call('kv/put', { key: encoded('a'), value: encoded('b') });
    await member.call('auth/user/add', { name: 'root', password: 'a-long-password' });
    await member.call('auth/role/add', { name: 'root' });
    await member.call('auth/user/grant', { user: 'root', role: 'root' });
    await member.call('auth/enable');
    const tls = { caFile: join(home, 'ca.crt'), certFile: join(home, 'tls.crt'), keyFile: join(home, 'tls.key') };
    const context = agentContext();
    const passwordFile = join(home, 'password');
    const source = { tls, passwordFile };
    expect(await runAgent(takeTask([member], { tls }))).toMatchObject({ reason: 'SourceRefused' });
    expect(await runAgent(takeTask([member], { passwordFile }))).toMatchObject({ reason: 'SourceUnreachable' });
    const { backup } = expectResult(await runAgent(takeTask([member], source), context), 'taken');
    expect(stateOf(home, backup)).toMatchObject({ keys: 1, authentication: true });
    expect(context.lines.join('')).not.toContain('a-long-password');
    writeFileSync(passwordFile, 'another-password');
    expect(await runAgent(takeTask([member], source))).toMatchObject({ reason: 'SourceRefused' });
  });

  it('that asks for no password is backed up although there is none: its Secret may have been deleted', async () => {
    const members = await start();
    const passwordFile = join(home, 'no-such-file');
    expectResult(await runAgent(takeTask(members, { passwordFile })), 'taken');
    const [member] = members;
    await member?.call('auth/user/add', { name: 'root', password: 'a-long-password' });
    await member?.call('auth/role/add', { name: 'root' });
    await member?.call('auth/user/grant', { user: 'root', role: 'root' });
    await member?.call('auth/enable');
    expect(await runAgent(takeTask(members, { passwordFile }))).toMatchObject({ reason: 'SourceRefused' });
  });

  it('lets in root with the password of then, and with no other, once it is restored', async () => {
    const [member] = await start();
    if (member === undefined) throw new Error('one member was started');
    await member.call('kv/put', { key: encoded('a'), value: encoded('b') });
    await member.call('auth/user/add', { name: 'root', password: 'a-long-password' });
    await member.call('auth/role/add', { name: 'root' });
    await member.call('auth/user/grant', { user: 'root', role: 'root' });
    await member.call('auth/enable');
    expectResult(await runAgent(takeTask([member], { passwordFile: join(home, 'password') })), 'taken');
    const restored = await restore();
    await expect(restored.call('kv/range', { key: encoded('a') })).rejects.toThrow();
    const login = (password: string) => restored.call('auth/authenticate', { name: 'root', password });
    await expect(login('of-the-new-cluster')).rejects.toThrow(/authentication failed/);
    const { token } = await login('a-long-password');
    expect(await restored.call('kv/range', { key: encoded('a') }, String(token))).toMatchObject({ count: '1' });
  });

  it('that shrinks by a compaction and a defragmentation has lost nothing, and is not said to', async () => {
    const [member] = await start();
    if (member === undefined) throw new Error('one member was started');
    const value = encoded('x'.repeat(200_000));
    let revision = '0';
    for (let i = 0; i < 40; i++) {
      const { header } = await member.call('kv/put', { key: encoded('a'), value });
      ({ revision } = header as { readonly revision: string });
    }
    const purpose = { type: 'schedule', name: 'nightly' };
    const before = expectResult(await runAgent({ ...takeTask([member]), purpose }), 'taken');
    await member.call('kv/compaction', { revision, physical: true });
    await member.call('maintenance/defragment');
    const after = expectResult(await runAgent({ ...takeTask([member]), purpose }), 'taken');
    expect(after.backup.plainBytes).toBeLessThan(before.backup.plainBytes / 10);
    expect(after.suddenLoss).toBeUndefined();
  });

  it('is not taken from another cluster, nor from what is left of a majority', async () => {
    const members = await start({ size: 3 });
    expect(await runAgent(takeTask(members, { clusterId: '123' }))).toMatchObject({
      reason: 'SourceRefused',
      message: expect.stringMatching(/is of the cluster \d+, and 123 was expected/),
    });
    members[1]?.kill();
    members[2]?.kill();
    const result = await runAgent({ ...takeTask(members), idleTimeoutSeconds: 1 });
    expect(result).toMatchObject({ reason: expect.stringMatching(/^Source(Unreachable|Broken)$/), isTransient: true });
    expect(existsSync(join(home, 'backups'))).toBe(false);
  });

  it('is not taken where one that answers is of another cluster: an address may lead to it for a while', async () => {
    const [[own], [stranger]] = [await start(), await start()];
    for (let i = 0; i < 20; i++) await stranger?.call('kv/put', { key: encoded(`k${i}`), value: encoded('theirs') });
    await own?.call('kv/put', { key: encoded('k'), value: encoded('ours') });
    const members = [own, stranger].flatMap((member) => member ?? []);
    expect(await runAgent(takeTask(members))).toMatchObject({
      result: 'failed',
      reason: 'SourceBroken',
      isTransient: true,
      message: expect.stringMatching(/are of different clusters/),
    });
    expect(existsSync(join(home, 'backups'))).toBe(false);
  });

  it('is not taken where all that answer know each other by names of another cluster', async () => {
    const [stranger] = await start();
    await stranger?.call('kv/put', { key: encoded('k'), value: encoded('theirs') });
    const members = stranger === undefined ? [] : [stranger];
    expect(await runAgent(takeTask(members, { peerDomain: 'db.apps.svc' }))).toMatchObject({
      result: 'failed',
      reason: 'SourceBroken',
      isTransient: true,
      message: expect.stringMatching(/is of another cluster: it lists 127\.0\.0\.1, and none in db\.apps\.svc/),
    });
    expect(existsSync(join(home, 'backups'))).toBe(false);
    expectResult(await runAgent(takeTask(members, { peerDomain: '127.0.0.1' })), 'taken');
  });

  it.each<[string, string]>([
    ['names a member', '1'],
    ['names nobody', '0'],
  ])(
    'is not taken while an alarm CORRUPT stands that %s',
    async (_, memberID) => {
      const members = await start({ size: 3 });
      const alarm = { alarm: 'CORRUPT', memberID };
      await members[0]?.call('maintenance/alarm', { action: 'ACTIVATE', ...alarm });
      await expect.poll(() => Promise.all(members.map(alarmsOf))).toEqual([1, 1, 1]);
      expect(await runAgent(takeTask(members))).toMatchObject({
        reason: 'SourceBroken',
        message: expect.stringContaining('tells of a CORRUPT alarm'),
      });
      expect(existsSync(join(home, 'backups'))).toBe(false);
      await members[0]?.call('maintenance/alarm', { action: 'DEACTIVATE', ...alarm });
      await expect.poll(() => Promise.all(members.map(alarmsOf))).toEqual([0, 0, 0]);
      expectResult(await runAgent(takeTask(members)), 'taken');
    },
    60_000,
  );

  it('is not taken where an alarm CORRUPT is raised meanwhile', async () => {
    const members = await start({ size: 3 });
    for (let i = 0; i < 40; i++) {
      await members[0]?.call('kv/put', { key: encoded(`k${i}`), value: encoded('x'.repeat(1_000_000)) });
    }
    const context = agentContext();
    const { info } = context.log;
    // Between the first look and the end of the snapshot.
    let raised: Promise<unknown> | undefined;
    const log = {
      ...context.log,
      info: (...line: Parameters<typeof info>) => {
        if (line[1] === 'the snapshot begins')
          raised = members[0]?.call('maintenance/alarm', { action: 'ACTIVATE', alarm: 'CORRUPT' });
        info(...line);
      },
    };
    const result = await runAgent(takeTask(members), { ...context, log });
    await raised;
    expect(result).toMatchObject({ reason: 'SourceBroken', message: expect.stringContaining('CORRUPT') });
  });

  it('is not taken where members hold different data, though no alarm tells of it', async () => {
    const members = await start({ size: 3 });
    for (let i = 0; i < 8; i++) {
      await members[0]?.call('kv/put', { key: encoded(`k${i}`), value: encoded('x'.repeat(3000)) });
    }
    const database = (directory: string): string => join(directory, 'member/snap/db');
    // Twice: a member writes its database a moment after its log, and at its start at the latest.
    await started.at(-1)?.restart(() => undefined);
    await started
      .at(-1)
      ?.restart(([, directory = '']) => replaceIn(database(directory), 'x'.repeat(2000), `${'x'.repeat(1999)}y`));
    expect(await runAgent(takeTask(members))).toMatchObject({
      reason: 'SourceBroken',
      message: expect.stringMatching(/ and .* hold different data at revision \d+/),
    });
    expect(existsSync(join(home, 'backups'))).toBe(false);
  });

  it('leaves a snapshot alone that is there already', async () => {
    const members = await start();
    expectResult(await runAgent(takeTask(members)), 'taken');
    const file = join(home, 'snapshot.db');
    expect(await runAgent(fetchTask(file))).toMatchObject({ result: 'fetched', isRepeated: false });
    expect(await runAgent(fetchTask(file))).toMatchObject({ result: 'fetched', isRepeated: true });
    writeFileSync(file, 'somebody else');
    expect(await runAgent(fetchTask(file))).toMatchObject({ reason: 'Occupied' });
    expect(readFileSync(file, 'utf8')).toBe('somebody else');
    expect(await runAgent(fetchTask(join(home, 'nowhere/snapshot.db')))).toMatchObject({ reason: 'BadTask' });
  });
});
