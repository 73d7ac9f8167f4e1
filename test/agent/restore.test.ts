/** Backups that are fetched, verified and listed: good ones, and ones that somebody has been at. */
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Manifest } from '../../src/backup/manifest.ts';
import { expectResult, runAgent } from '../support/agent-context.ts';
import { smallDump } from '../support/dumps.ts';
import { type BackupStore, etcdManifest, openStore } from '../support/stored-backup.ts';

let store: BackupStore;
let volume: string;

beforeEach(() => {
  store = openStore();
  volume = join(store.home, 'volume');
  mkdirSync(volume);
});
afterEach(() => store.close());

const common = () => ({ target: store.target, encryptionKeyFile: store.keyFile, which: {} });
const fetched = (more: object = {}, destination: object = {}) =>
  runAgent({
    task: 'fetch',
    ...common(),
    ...more,
    destination: { engine: 'redis', directory: volume, ...destination },
  });
const verified = (more: object = {}) => runAgent({ task: 'verify', engine: 'redis', ...common(), ...more });
const listed = (more: object = {}) => runAgent({ task: 'list', ...common(), ...more });

const ids = ['20261120T000000Z-00000001', '20261121T000000Z-00000001'] as const;

describe('a backup of Redis', () => {
  it('is laid out as Redis and the start script look for it', async () => {
    const manifest = await store.add();
    const { backup, isRepeated } = expectResult(await fetched(), 'fetched');
    expect(isRepeated).toBe(false);
    expect(backup).toMatchObject({
      id: manifest.id,
      folder: 'backups/apps/RedisCluster/uid-1/20261121T124501Z-1a2b3c4d',
    });
    expect(readFileSync(join(volume, 'appendonlydir/appendonly.aof.1.base.rdb'))).toEqual(smallDump());
    expect(readFileSync(join(volume, 'appendonlydir/appendonly.aof.manifest'), 'utf8')).toBe(
      'file appendonly.aof.1.base.rdb seq 1 type b\n',
    );
    expect(readdirSync(volume).sort()).toEqual(['appendonlydir', 'initialised', 'restored-from.json']);
  });

  it('is fetched once: a repetition finds it, wherever the first attempt was cut off', async () => {
    await store.add();
    mkdirSync(join(volume, 'lost+found'));
    mkdirSync(join(volume, '.restoring'));
    writeFileSync(join(volume, '.restoring/appendonly.aof.1.base.rdb'), 'half');
    expect(await fetched()).toMatchObject({ result: 'fetched', isRepeated: false });
    expect(await fetched()).toMatchObject({ result: 'fetched', isRepeated: true });
    rmSync(join(volume, 'initialised'));
    expect(await fetched()).toMatchObject({ result: 'fetched', isRepeated: false });
    rmSync(join(volume, 'appendonlydir'), { recursive: true });
    rmSync(join(volume, 'initialised'));
    expect(await fetched()).toMatchObject({ result: 'fetched', isRepeated: false });
    expect(readdirSync(volume)).toContain('initialised');
  });

  it.each(['initialised', 'dump.rdb', 'appendonlydir', 'anything'])('is not put where there is %s', async (name) => {
    await store.add();
    writeFileSync(join(volume, name), 'x');
    expect(await fetched()).toMatchObject({ result: 'failed', reason: 'Occupied', isTransient: false });
    expect(readdirSync(volume)).toEqual([name]);
  });

  describe('that was the newest when the first attempt began', () => {
    beforeEach(async () => {
      await store.add({ id: ids[0] });
      await fetched();
      await store.add({ id: ids[1] });
    });

    it('is what the next attempt goes on with, wherever the first one was cut off', async () => {
      expect(await fetched()).toMatchObject({ result: 'fetched', isRepeated: true, backup: { id: ids[0] } });
      rmSync(join(volume, 'initialised'));
      expect(await fetched()).toMatchObject({ result: 'fetched', isRepeated: false, backup: { id: ids[0] } });
      rmSync(join(volume, 'appendonlydir'), { recursive: true });
      rmSync(join(volume, 'initialised'));
      expect(await fetched()).toMatchObject({ result: 'fetched', isRepeated: false, backup: { id: ids[0] } });
    });

    it('is no longer what is there once a Redis has run on it', async () => {
      writeFileSync(join(volume, 'appendonlydir/appendonly.aof.1.incr.aof'), 'x');
      expect(await fetched()).toMatchObject({
        reason: 'Occupied',
        message: expect.stringMatching(/has written to .*appendonlydir/),
      });
    });

    it('is none of ours where it is of another cluster than is asked for', async () => {
      expect(await fetched({ which: { uid: 'uid-7' } })).toMatchObject({ reason: 'NotFound' });
    });
  });

  it('is not put over another backup', async () => {
    await store.add({ id: ids[0] });
    // Of the same data: it is another backup all the same.
    await store.add({ id: ids[1] });
    expect(await fetched({ which: { id: ids[0] } })).toMatchObject({ result: 'fetched' });
    expect(await fetched({ which: { id: ids[1] } })).toMatchObject({ reason: 'Occupied' });
  });
});

describe('what is asked for', () => {
  it('is the newest, where nothing else is said', async () => {
    await store.add({ id: ids[1] });
    await store.add({ id: ids[0] });
    expect(await verified()).toMatchObject({ result: 'verified', backup: { id: ids[1] } });
    expect(await verified({ which: { id: ids[0] } })).toMatchObject({ backup: { id: ids[0] } });
  });

  it('must be of one cluster', async () => {
    const { cluster } = await store.add({ id: ids[0] });
    await store.add({ id: ids[1], cluster: { ...cluster, name: 'other', uid: 'uid-7' } });
    await store.add(etcdManifest);
    expect(await verified()).toMatchObject({
      reason: 'Ambiguous',
      message: expect.stringMatching(
        /of 2 clusters .*say which: apps\/RedisCluster\/uid-7, apps\/RedisCluster\/uid-1$/,
      ),
    });
    for (const which of [{ uid: 'uid-1' }, { name: 'cache' }, { id: ids[0] }, { namespace: 'apps', name: 'cache' }]) {
      expect(await verified({ which })).toMatchObject({ result: 'verified', backup: { id: ids[0] } });
    }
    for (const which of [{ uid: 'nobody' }, { name: 'nobody' }, { namespace: 'nowhere' }]) {
      expect(await verified({ which })).toMatchObject({ reason: 'NotFound', isTransient: false });
    }
  });

  it('is listed, newest first, with what cannot be trusted counted', async () => {
    await store.add({ id: ids[0] });
    await store.add({ id: ids[1] });
    await store.add(etcdManifest);
    const bad = await store.add({ id: '20261122T000000Z-00000001' });
    writeFileSync(join(store.pathOf(bad), 'manifest.json'), '{}');
    const { total, backups, unusable } = expectResult(await listed({ engine: 'redis' }), 'listed');
    expect({ total, unusable }).toEqual({ total: 2, unusable: 1 });
    expect(backups.map(({ id }) => id)).toEqual([ids[1], ids[0]]);
    expect(await listed()).toMatchObject({ total: 3 });
    expect(await listed({ which: { name: 'db' } })).toMatchObject({ total: 1 });
  });
});

describe('is refused, and nothing is written:', () => {
  const other = Buffer.alloc(32, 8).toString('base64');
  const dataOf = (manifest: Manifest): string => join(store.pathOf(manifest), 'data');
  const change = (path: string, edit: (content: Buffer) => Buffer): void =>
    writeFileSync(path, edit(readFileSync(path)));
  const flipped = (content: Buffer): Buffer => {
    const at = content.length - 20;
    content[at] = (content[at] ?? 0) ^ 1;
    return content;
  };

  const cases: readonly [string, (manifest: Manifest) => unknown, string, RegExp][] = [
    ['data of which a bit changed', (m) => change(dataOf(m), flipped), 'Tampered', /frame 0 is not what was written/],
    ['data that is cut', (m) => change(dataOf(m), (data) => data.subarray(0, -1)), 'Tampered', /not what was written/],
    [
      'data with something behind it',
      (m) => change(dataOf(m), (data) => Buffer.concat([data, data])),
      'Tampered',
      /frame/,
    ],
    ['no data', (m) => rmSync(dataOf(m)), 'Tampered', /the data in .* it is not there/],
    [
      'data of another cluster',
      async (m) => {
        const stranger = await store.add({ cluster: { ...m.cluster, uid: 'uid-7' } });
        copyFileSync(dataOf(stranger), dataOf(m));
        rmSync(store.pathOf(stranger), { recursive: true });
      },
      'Tampered',
      /frame 0/,
    ],
    [
      'a manifest of which a word changed',
      (m) =>
        change(join(store.pathOf(m), 'manifest.json'), (text) =>
          Buffer.from(text.toString().replace('"offset": 14', '"offset": 15')),
        ),
      'Tampered',
      /its seal does not fit/,
    ],
    [
      'a folder under another UID',
      (m) => {
        const elsewhere = dirname(store.pathOf(m)).replace('uid-1', 'uid-8');
        renameSync(dirname(store.pathOf(m)), elsewhere);
      },
      'Tampered',
      /it belongs to .*uid-1/,
    ],
    [
      'a manifest of a gigabyte',
      (m) => writeFileSync(join(store.pathOf(m), 'manifest.json'), Buffer.alloc(270_000)),
      'Tampered',
      /longer than 262144/,
    ],
    [
      'a key that is another one',
      () => writeFileSync(store.keyFile, other),
      'OtherKey',
      /encrypted with another key: it needs the key [0-9a-f]{16}/,
    ],
    [
      'a key that is too short',
      () => writeFileSync(store.keyFile, 'AAAA'),
      'SecretUnusable',
      /line 1 holds 3 bytes in base64, and a key has 32/,
    ],
    ['a key that is not there', () => rmSync(store.keyFile), 'SecretUnusable', /cannot be read/],
  ];
  it.each(cases)('%s', async (_, tamper, reason, message) => {
    const manifest = await store.add();
    await tamper(manifest);
    for (const result of [await fetched(), await verified()]) {
      expect(result).toMatchObject({
        result: 'failed',
        reason,
        isTransient: false,
        message: expect.stringMatching(message),
      });
    }
    expect(readdirSync(volume)).toEqual([]);
  });

  it('a backup of another engine', async () => {
    const { id } = await store.add(etcdManifest);
    expect(await fetched({ which: { id } })).toMatchObject({
      reason: 'Unfit',
      message: expect.stringMatching(/is of the kind EtcdCluster, and RedisCluster is needed/),
    });
    expect(await fetched()).toMatchObject({ reason: 'NotFound' });
    cpSync(
      store.pathOf({ ...etcdManifest, id } as Manifest),
      join(store.home, 'claim/backups/apps/RedisCluster/uid-1', id),
      {
        recursive: true,
      },
    );
    expect(await fetched({ which: { uid: 'uid-1' } })).toMatchObject({ reason: 'Tampered' });
    expect(readdirSync(volume)).toEqual([]);
  });

  it('data that the database itself would refuse, although all is as it was written', async () => {
    await store.add({}, { content: Buffer.from('REDIS0011 and no end') });
    expect(await fetched()).toMatchObject({
      reason: 'Tampered',
      message: expect.stringMatching(/ends before its end mark/),
    });
    await store.add({}, { content: smallDump().fill(3, 12) });
    expect(await fetched()).toMatchObject({ reason: 'Tampered' });
    expect(readdirSync(volume)).toEqual([]);
  });

  it.each([
    ['8.0.5', '7.0', 'failed'],
    ['8.2.0', '8.0.9', 'failed'],
    ['8.0.5', '8.0', 'fetched'],
    ['7.0.15', '8.0', 'fetched'],
    ['7.2.5', 'Valkey 8.1', 'fetched'],
    ['8.0.2', 'Valkey 8.1', 'failed'],
    ['Valkey 8.1.1', 'Valkey 9.1', 'fetched'],
    ['Valkey 9.1.2', 'Valkey 8.1', 'failed'],
    ['Valkey 8.1.1', '8.0', 'fetched'],
    ['Valkey 9.1.2', '8.2', 'failed'],
  ])('of %s for a new cluster with %s: %s', async (engineVersion, version, result) => {
    await store.add({ engineVersion });
    expect(await fetched({}, { version })).toMatchObject({ result });
  });

  it('other data than was taken, although it is whole, where nothing is encrypted', async () => {
    const manifest = await store.add({}, { isEncrypted: false });
    const { encryptionKeyFile: _, ...keyless } = common();
    for (const content of [smallDump(Buffer.from('more')), smallDump().fill(0, smallDump().length - 8)]) {
      writeFileSync(dataOf(manifest), content);
      expect(await runAgent({ task: 'verify', engine: 'redis', ...keyless })).toMatchObject({ reason: 'Tampered' });
    }
  });

  it('what is not encrypted, where a key is given; and the other way round', async () => {
    await store.add({}, { isEncrypted: false });
    expect(await verified()).toMatchObject({ reason: 'OtherKey', message: expect.stringMatching(/is not encrypted/) });
    const { encryptionKeyFile: _, ...keyless } = common();
    expect(await runAgent({ task: 'verify', engine: 'redis', ...keyless })).toMatchObject({ result: 'verified' });
    await store.add();
    expect(await runAgent({ task: 'verify', engine: 'redis', ...keyless })).toMatchObject({
      reason: 'OtherKey',
      message: expect.stringMatching(/is encrypted, and no key is given/),
    });
  });
});
