/** What a target lists, in whatever order, and which backup is the one that is asked for. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeFolder } from '../../src/agent/prune.ts';
import { claimedSequences, foldersIn, historyOf } from '../../src/agent/repository.ts';
import { exitCodeOf } from '../../src/agent/run.ts';
import { claimTarget } from '../../src/agent/target/claim.ts';
import type { Target } from '../../src/agent/target/target.ts';
import { parseKeys } from '../../src/backup/key.ts';
import type { ClaimPlace } from '../../src/backup/place.ts';
import { Failure } from '../../src/engine/driver/failure.ts';
import { drivers } from '../../src/engines/drivers.ts';
import { agentSurroundings, expectResult, runAgent } from '../support/agent-surroundings.ts';
import { redisHolding } from '../support/given-dump.ts';
import { type BackupStore, etcdManifest, keyText, openStore } from '../support/stored-backup.ts';

const [first, second] = ['20261101T000000Z-00000001', '20261102T000000Z-00000001'] as const;
const keys = parseKeys(keyText);
let store: BackupStore;
let target: Target;
beforeEach(() => {
  store = openStore();
  target = claimTarget(store.target as ClaimPlace, agentSurroundings());
});
afterEach(() => store.close());

const common = () => ({ target: store.target, encryptionKeyFile: store.keyFile, which: {} });
const verified = (more: object = {}) => runAgent({ task: 'verify', engine: 'redis', ...common(), ...more });

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
      ),
      '',
    );
    expect(found.map((folder) => [folder.path, folder.hasManifest, folder.modifiedAt, folder.keys])).toEqual([
      [later, false, 995, [`${later}/data`]],
      [twin, false, 994, [`${twin}/data`, `${twin}/more/manifest.json`]],
      [path, true, 998, [`${path}/manifest.json`, `${path}/data`]],
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
    const failing: Target = {
      ...target,
      // biome-ignore lint/correctness/useYield: it fails before there is anything.
      async *get() {
        throw new Failure('TargetUnreachable', 'it does not answer');
      },
    };
    await expect(historyOf({ target: failing, keys, drivers }, await foldersIn(target, ''))).rejects.toThrow(
      'it does not answer',
    );
  });
});

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

  it('are known of many, and none is read twice', async () => {
    const ids = Array.from({ length: 17 }, (_, i) => `202611${String(i + 1).padStart(2, '0')}T000000Z-00000001`);
    for (const [i, id] of ids.entries()) await store.add({ id, formatVersion: 2, sequence: i + 1 });
    const read: string[] = [];
    const noting: Target = {
      ...target,
      get(key) {
        read.push(key);
        return target.get(key);
      },
    };
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
    const surroundings = agentSurroundings();
    const result = expectResult(await runAgent({ task: 'list', ...common(), ...more }, surroundings), 'listed');
    const warnings = surroundings.lines
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
