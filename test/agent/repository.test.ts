/** What a target lists, in whatever order, and which backup is the one that is asked for. */

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeFolder } from '../../src/agent/prune.ts';
import {
  claimedSequences,
  findBackup,
  foldersIn,
  hasManifest,
  historyOf,
  lossesIn,
  manifestKey,
  matching,
  openManifest,
} from '../../src/agent/repository.ts';
import { exitCodeOf } from '../../src/agent/run.ts';
import { claimTarget } from '../../src/agent/target/claim.ts';
import type { Target } from '../../src/agent/target/target.ts';
import type { Which } from '../../src/backup/agent-task.ts';
import { parseKeys } from '../../src/backup/key.ts';
import { folderOf, maxManifestBytes } from '../../src/backup/manifest.ts';
import type { ClaimPlace } from '../../src/backup/place.ts';
import { Failure } from '../../src/engine/driver/failure.ts';
import { drivers } from '../../src/engines/drivers.ts';
import { agentContext, expectResult, runAgent } from '../support/agent-context.ts';
import { redisHolding } from '../support/given-dump.ts';
import { goodManifest } from '../support/manifests.ts';
import { type BackupStore, etcdManifest, keyText, openStore } from '../support/stored-backup.ts';

const [first, second] = ['20261101T000000Z-00000001', '20261102T000000Z-00000001'] as const;
const keys = parseKeys(keyText);
let store: BackupStore;
let target: Target;
beforeEach(() => {
  store = openStore();
  target = claimTarget(store.target as ClaimPlace, agentContext());
});
afterEach(() => store.close());

const common = () => ({ target: store.target, encryptionKeyFile: store.keyFile, which: {} });
const verified = (more: object = {}) => runAgent({ task: 'verify', engine: 'redis', ...common(), ...more });

/** Fails whatever is read of it. */
const failing = (error: unknown): Target => ({
  ...target,
  // biome-ignore lint/correctness/useYield: it fails before there is anything.
  async *get() {
    throw error;
  },
});

/** The target, and what it was asked for. */
function noted() {
  const read: string[] = [];
  const listed: string[] = [];
  const noting: Target = {
    ...target,
    get(key) {
      read.push(key);
      return target.get(key);
    },
    list(folder) {
      listed.push(folder);
      return target.list(folder);
    },
  };
  return { read, listed, target: noting };
}

describe('the folders of a target', () => {
  const listing = (...keys: readonly string[]): Target => ({
    ...target,
    async *list() {
      for (const [i, key] of keys.entries()) yield { key, bytes: 1, modifiedAt: 1000 - i };
    },
  });

  it('are those of backups, whatever else is there, and in whatever order it comes', async () => {
    const path = `apps/RedisCluster/uid-1/${first}`;
    const later = `apps/RedisCluster/uid-1/${second}`;
    const twin = `apps/EtcdCluster/uid-0/${first}`;
    const last = `apps/RedisCluster/uid-2/${first}`;
    const found = await foldersIn(
      listing(
        'readme.txt',
        'apps/RedisCluster/uid-1/notes',
        `${path}/manifest.json`,
        `${path}/data`,
        `apps/RedisCluster/uid-1/20261101T000000Z/data`,
        `${later}/data`,
        `${twin}/data`,
        `${twin}/more/manifest.json`,
        `${last}/data`,
      ),
      '',
    );
    expect(found.map((folder) => [folder.path, folder.hasManifest, folder.modifiedAt, folder.keys])).toEqual([
      [later, false, 995, [`${later}/data`]],
      [twin, false, 994, [`${twin}/data`, `${twin}/more/manifest.json`]],
      [path, true, 998, [`${path}/manifest.json`, `${path}/data`]],
      [last, false, 992, [`${last}/data`]],
    ]);
  });

  it('lose their manifest first, and everything once', async () => {
    const gone: string[] = [];
    const noting: Target = { ...target, remove: async (key) => void gone.push(key) };
    await removeFolder(noting, { path: 'p', keys: ['p/data', 'p/manifest.json', 'p/rest'] });
    expect(gone).toEqual(['p/manifest.json', 'p/data', 'p/rest']);
  });

  it('are not taken for unusable where the target fails', async () => {
    await store.add({ id: first });
    const unreachable = failing(new Failure('TargetUnreachable', 'it does not answer'));
    await expect(historyOf({ target: unreachable, keys, drivers }, await foldersIn(target, ''))).rejects.toThrow(
      'it does not answer',
    );
  });

  it('are read where they have a manifest, and nowhere else', async () => {
    const whole = await store.add({ id: first });
    const begun = await store.add({ id: second });
    rmSync(join(store.pathOf(begun), 'manifest.json'));
    const { target: noting, read } = noted();
    const history = await historyOf({ target: noting, keys, drivers }, await foldersIn(target, ''));
    expect(history.map(({ path }) => path)).toEqual([folderOf(whole)]);
    expect(read).toEqual([manifestKey(folderOf(whole))]);
  });

  it.each<readonly [which: Which, kind: string | undefined, listed: string]>([
    [{}, undefined, ''],
    [{}, 'RedisCluster', ''],
    [{ namespace: 'apps' }, undefined, 'apps'],
    [{ namespace: 'apps', uid: 'uid-1' }, undefined, 'apps'],
    [{ namespace: 'apps' }, 'RedisCluster', 'apps/RedisCluster'],
    [{ namespace: 'apps', uid: 'uid-1' }, 'RedisCluster', 'apps/RedisCluster/uid-1'],
  ])('%j of the kind %s: the target is asked for no more than it may be', async (which, kind, folder) => {
    const { id } = await store.add();
    const { target: noting, listed } = noted();
    expect(await matching(noting, which, kind)).toMatchObject([{ id }]);
    expect(listed).toEqual([folder]);
  });

  it('are left out by their namespace, though the target lists more than it was asked for', async () => {
    const { cluster } = await store.add({ id: first });
    const other = await store.add({ id: second, cluster: { ...cluster, namespace: 'other' } });
    const generous: Target = { ...target, list: () => target.list('') };
    const found = await matching(generous, { namespace: 'other' }, 'RedisCluster');
    expect(found.map(({ path }) => path)).toEqual([folderOf(other)]);
  });
});

describe('whether a backup has a manifest', () => {
  const empty = (): Target => ({
    ...target,
    async *get() {
      yield* [];
    },
  });

  it('is what the target says of the manifest itself', async () => {
    const { id, cluster } = await store.add();
    expect(await hasManifest(target, folderOf({ id, cluster }))).toBe(true);
    expect(await hasManifest(target, folderOf({ id: first, cluster }))).toBe(false);
  });

  it('is so as well where the manifest is empty', async () => expect(await hasManifest(empty(), 'a')).toBe(true));

  it.each<readonly [string, Error]>([
    ['the target fails', new Failure('TargetUnreachable', 'it does not answer')],
    ['there is an error in the agent', Object.assign(new Error('a bug'), { reason: 'NotFound' })],
  ])('is not known where %s', async (_, error) => {
    await expect(hasManifest(failing(error), 'a')).rejects.toBe(error);
  });
});

it('an error in a driver is told as it is: it says nothing of the manifest', async () => {
  const bug = new Error('a bug');
  const broken = drivers.map((driver) => ({
    ...driver,
    get kind(): string {
      throw bug;
    },
  }));
  const manifest = await store.add();
  await expect(openManifest({ target, keys, drivers: broken }, folderOf(manifest))).rejects.toBe(bug);
});

it('no backups hold suddenly little', () => expect(lossesIn(drivers, [], undefined)).toEqual(new Map()));

describe('numbers of manifests that cannot be read', () => {
  it('are known all the same, where they are told', async () => {
    const own = await store.add({ id: first, formatVersion: 2, sequence: 3 });
    await store.add({ id: second, formatVersion: 2, sequence: 7 });
    const broken = await store.add({ id: '20261103T000000Z-00000001' });
    writeFileSync(join(store.pathOf(broken), 'manifest.json'), Buffer.alloc(70_000));
    const folders = await foldersIn(target, '');
    const history = (await historyOf({ target: target, keys, drivers }, folders)).filter(
      ({ manifest }) => manifest.id === own.id,
    );
    expect(await claimedSequences(target, folders, history)).toEqual([{ sequence: 7 }]);
  });

  it.each([
    ['as long as one may be', 0, [{ sequence: 7 }]],
    ['longer', 1, []],
  ])('are known where the manifest is no longer than one may be: %s', async (_, more, known) => {
    const path = join(store.pathOf(await store.add({ id: first, formatVersion: 2, sequence: 7 })), 'manifest.json');
    writeFileSync(path, readFileSync(path, 'utf8').padEnd(maxManifestBytes + more));
    expect(await claimedSequences(target, await foldersIn(target, ''), [])).toEqual(known);
  });

  it('are known of many, and none is read twice', async () => {
    const ids = Array.from({ length: 17 }, (_, i) => `202611${String(i + 1).padStart(2, '0')}T000000Z-00000001`);
    for (const [i, id] of ids.entries()) await store.add({ id, formatVersion: 2, sequence: i + 1 });
    const { target: noting, read } = noted();
    const folders = await foldersIn(target, '');
    expect((await historyOf({ target: noting, keys, drivers }, folders)).map(({ manifest }) => manifest.id)).toEqual(
      ids.toReversed(),
    );
    expect(read).toHaveLength(17);
    expect(await claimedSequences(noting, folders, [])).toHaveLength(17);
    expect(read).toHaveLength(34);
  });
});

describe('the newest backup', () => {
  it('is not the one before it, where that cannot be read', async () => {
    await store.add({ id: first });
    const newest = await store.add({ id: second });
    expect(await verified()).toMatchObject({ result: 'verified', backup: { id: second } });
    writeFileSync(join(store.pathOf(newest), 'manifest.json'), '{}');
    expect(await verified()).toMatchObject({
      result: 'failed',
      reason: 'Tampered',
      message: expect.stringContaining(second),
    });
    expect(await verified({ which: { id: first } })).toMatchObject({ result: 'verified' });
  });

  it('is the newest that can be read, where an earlier one cannot', async () => {
    const old = await store.add({ id: first });
    await store.add({ id: second });
    writeFileSync(join(store.pathOf(old), 'manifest.json'), '{}');
    expect(await verified()).toMatchObject({ result: 'verified', backup: { id: second } });
  });

  it('is told by its name alone only where a manifest of the cluster can be read', async () => {
    const old = await store.add({ id: first });
    const { cluster } = await store.add({ id: second });
    writeFileSync(join(store.pathOf(old), 'manifest.json'), '{}');
    expect(await verified({ which: { name: cluster.name } })).toMatchObject({ backup: { id: second } });
    await store.add({ id: second, cluster: { ...cluster, name: 'other' } });
    expect(await verified({ which: { name: cluster.name } })).toMatchObject({ reason: 'NotFound' });
  });

  it('is looked for by its name in an older manifest, where the newest cannot be read, and is not the older one', async () => {
    const { cluster } = await store.add({ id: first });
    const newest = await store.add({ id: second });
    writeFileSync(join(store.pathOf(newest), 'manifest.json'), '{}');
    expect(await verified({ which: { name: cluster.name } })).toMatchObject({
      reason: 'Tampered',
      message: expect.stringContaining(second),
    });
  });

  it('is looked for by its name in one manifest of each cluster', async () => {
    const { cluster } = await store.add({ id: first });
    await store.add({ id: second });
    await store.add({ id: second, cluster: { ...cluster, uid: 'uid-7', name: 'other' } });
    const { target: noting, read } = noted();
    const found = findBackup({ target: noting, keys, drivers }, { name: 'nobody' }, 'RedisCluster', 0);
    await expect(found).rejects.toMatchObject({ reason: 'NotFound' });
    expect(read).toHaveLength(2);
  });

  it('is none where there are several clusters: five of them are named', async () => {
    const uids = ['uid-1', 'uid-2', 'uid-3', 'uid-4', 'uid-5', 'uid-6'];
    for (const uid of uids) await store.add({ id: first, cluster: { ...goodManifest.cluster, uid } });
    const clusters = uids.slice(0, 5).map((uid) => `apps/RedisCluster/${uid}`);
    expect(await verified()).toMatchObject({
      reason: 'Ambiguous',
      message: `there are backups of 6 clusters of a RedisCluster, so say which: ${clusters.join(', ')}`,
    });
  });
});

describe('a backup that is not there', () => {
  it.each<readonly [string, object, string]>([
    ['redis', {}, 'there is no backup of a RedisCluster'],
    ['etcd', {}, 'there is no backup of an EtcdCluster'],
    [
      'redis',
      { id: first, namespace: 'apps', name: 'db', uid: 'uid-9' },
      `there is no backup of a RedisCluster with the id ${first} in the namespace apps called db with the UID uid-9`,
    ],
  ])('of %s, asked for with %j, is refused, and the message says why', async (engine, which, message) => {
    expect(await verified({ engine, which })).toMatchObject({ reason: 'NotFound', message });
  });

  it('is not that of a cluster of the same name elsewhere, nor of another engine', async () => {
    const { cluster } = await store.add({ id: first });
    expect(await verified({ which: { namespace: 'other', name: cluster.name } })).toMatchObject({ reason: 'NotFound' });
    expect(await verified({ engine: 'etcd', which: { name: cluster.name } })).toMatchObject({ reason: 'NotFound' });
    expect(await verified({ which: { uid: etcdManifest.cluster?.uid } })).toMatchObject({ reason: 'NotFound' });
  });
});

describe('a list of backups', () => {
  const listed = async (more: object = {}) => {
    const context = agentContext();
    const result = expectResult(await runAgent({ task: 'list', ...common(), ...more }, context), 'listed');
    const warnings = context.lines
      .map((line) => JSON.parse(line) as { backup?: { id: string }; warning?: string })
      .flatMap(({ backup, warning }) => (backup === undefined ? [] : [[backup.id, warning]]));
    return { result, warnings };
  };

  it('has as many as a termination message has room for; the log has all', async () => {
    const ids = Array.from({ length: 9 }, (_, i) => `2026110${i + 1}T000000Z-00000001`);
    for (const id of ids) await store.add({ id });
    const { result, warnings } = await listed();
    expect(result.total).toBe(9);
    expect(result.backups.map(({ id }) => id)).toEqual(ids.toReversed().slice(0, 8));
    expect(warnings.map(([id]) => id)).toEqual(ids.toReversed());
  });

  it('warns of one that holds suddenly little, and of one that was taken by a clock that was ahead', async () => {
    const { cluster } = await store.add({ id: first, formatVersion: 2, sequence: 2, state: redisHolding(5) });
    await store.add({ id: second, formatVersion: 2, sequence: 1, state: redisHolding(5) });
    const empty = '20261103T000000Z-00000001';
    await store.add({ id: empty, formatVersion: 2, sequence: 3, state: redisHolding(0) });
    // What another cluster holds says nothing of this one.
    await store.add({ id: '20261104T000000Z-00000001', cluster: { ...cluster, uid: 'uid-7' }, state: redisHolding(0) });
    const { warnings } = await listed();
    expect(warnings).toHaveLength(4);
    expect(warnings).toEqual(
      expect.arrayContaining([
        [empty, `it holds no keys, and ${first} held 5 keys`],
        [second, `it was taken before ${first}, by a clock that was ahead`],
        [first, undefined],
        ['20261104T000000Z-00000001', undefined],
      ]),
    );
  });
});

describe('the exit code', () => {
  const failed = (reason: 'Stopped' | 'TargetUnreachable' | 'TargetRefused', isTransient: boolean) =>
    exitCodeOf({ result: 'failed', reason, message: '', isTransient });

  it('tells Kubernetes whether a repetition makes sense', () => {
    expect(exitCodeOf({ result: 'listed', total: 0, backups: [], unusable: 0 })).toBe(0);
    expect(failed('TargetUnreachable', true)).toBe(1);
    expect(failed('TargetRefused', false)).toBe(2);
    expect(failed('Stopped', true)).toBe(143);
  });
});
