/** A database that came up empty gives good backups: they push no real one out, and say what they are. */
import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentIO } from '../../src/agent/agent-io.ts';
import { container } from '../../src/agent/container.ts';
import type { EngineState } from '../../src/backup/engine-data.ts';
import { timeOfId } from '../../src/backup/id.ts';
import { Failure } from '../../src/engine/driver/failure.ts';
import { expectResult, runAgent } from '../support/agent-context.ts';
import { redisHolding, runWith } from '../support/given-dump.ts';
import { type BackupStore, etcdManifest, openStore } from '../support/stored-backup.ts';

let store: BackupStore;
beforeEach(() => {
  store = openStore();
});
afterEach(() => store.close());

const hour = 3600 * 1000;
const cluster = { namespace: 'apps', kind: 'RedisCluster', name: 'cache', uid: 'uid-1' } as const;
let hours = 0;

/** The next run of a schedule that keeps two; `ahead`: by how much the clock of its pod is wrong. */
async function run(state: EngineState, more: object = {}, ahead = 0, openTarget = container.openTarget) {
  hours += 1;
  const task = {
    task: 'take',
    target: store.target,
    encryptionKeyFile: store.keyFile,
    cluster: state.engine === 'redis' ? cluster : etcdManifest.cluster,
    purpose: { type: 'schedule', name: 'nightly' },
    retention: { count: 2 },
    source: { engine: state.engine, members: [{ host: '127.0.0.1', port: 1 }] },
    ...more,
  };
  const at = Date.now() - 1000 * hour + hours * hour + ahead;
  const taken = expectResult(await runWith(task, state, at, openTarget), 'taken');
  const { folder, id } = taken.backup;
  for (const name of ['data', 'manifest.json']) {
    utimesSync(join(store.home, 'claim', folder, name), at / 1000, at / 1000);
  }
  return { ...taken, id };
}

const kept = (): readonly string[] =>
  store
    .files()
    .filter((name) => name.endsWith('manifest.json'))
    .map((name) => name.split('/').at(-2) ?? '');

const verified = (which: object = {}) =>
  runAgent({ task: 'verify', engine: 'redis', target: store.target, encryptionKeyFile: store.keyFile, which });

describe('a Redis that came up empty', () => {
  it('pushes no backup out that holds data, however many runs there are', async () => {
    const real = [await run(redisHolding(5)), await run(redisHolding(5))].map(({ id }) => id);
    for (let night = 0; night < 4; night++) {
      const taken = await run(redisHolding(0));
      expect(taken).toMatchObject({
        pruned: 0,
        suddenLoss: `it holds no keys, and ${real[1]} held 5 keys`,
      });
    }
    expect(kept()).toHaveLength(6);
    expect(kept()).toEqual(expect.arrayContaining(real));
  });

  it('counts apart from the real ones once there is data again', async () => {
    await run(redisHolding(5));
    const real = await run(redisHolding(5));
    const empty = [await run(redisHolding(0)), await run(redisHolding(0)), await run(redisHolding(0))];
    const again = await run(redisHolding(5));
    expect(again.suddenLoss).toBeUndefined();
    expect(kept()).toEqual([real.id, ...empty.slice(1).map(({ id }) => id), again.id].sort());
  });

  it('is believed once a person has confirmed it', async () => {
    await run(redisHolding(5));
    await run(redisHolding(5));
    const { id } = await run(redisHolding(0));
    expect(await run(redisHolding(0), { confirmed: '20200101T000000Z-00000000' })).toHaveProperty('suddenLoss');
    const next = await run(redisHolding(0), { confirmed: id });
    expect(next.suddenLoss).toBeUndefined();
    expect(next.pruned).toBe(2);
    // Nothing is left that it could be compared with.
    expect(await run(redisHolding(0), { confirmed: id })).toMatchObject({ pruned: 2 });
    expect(kept()).toHaveLength(2);
  });

  it('is believed for as long as the person says so, though a backup on demand still holds what there was', async () => {
    await run(redisHolding(5), { purpose: { type: 'backup', name: 'now', uid: 'uid-8' }, retention: undefined });
    const { id } = await run(redisHolding(0));
    for (let night = 0; night < 5; night++) {
      expect((await run(redisHolding(0), { confirmed: id })).suddenLoss).toBeUndefined();
    }
    expect(kept()).toContain(id);
    expect(kept()).toHaveLength(4);
  });

  it('is told of although the target gives no list any more: a last backup would let the data go', async () => {
    const real = await run(redisHolding(5));
    const openTarget: AgentIO['openTarget'] = async (...args) => {
      const target = await container.openTarget(...args);
      let lists = 0;
      return {
        ...target,
        async *list(folder) {
          lists += 1;
          if (lists > 1) throw new Failure('TargetUnreachable', 'it gives no list');
          yield* target.list(folder);
        },
      };
    };
    const purpose = { type: 'deletion', name: 'cache', uid: 'uid-1' };
    const last = await run(redisHolding(0), { purpose, retention: undefined }, 0, openTarget);
    expect(last).toMatchObject({
      retentionFailure: 'it gives no list',
      suddenLoss: `it holds no keys, and ${real.id} held 5 keys`,
    });
  });

  it('is not what a restore takes for the newest without being told to', async () => {
    const real = await run(redisHolding(5));
    const empty = await run(redisHolding(0));
    expect(await verified()).toMatchObject({
      result: 'failed',
      reason: 'Ambiguous',
      isTransient: false,
      message: `say which backup is wanted, by its id: of the newest, ${empty.id}, it holds no keys, and ${real.id} held 5 keys`,
    });
    for (const { id } of [real, empty]) expect(await verified({ id })).toMatchObject({ backup: { id } });
  });

  it('is told of by a backup on demand as well, also by an attempt that is repeated', async () => {
    await run(redisHolding(5));
    const onDemand = { purpose: { type: 'backup', name: 'now', uid: 'uid-7' }, retention: undefined };
    expect(await run(redisHolding(0), onDemand)).toMatchObject({ isRepeated: false, suddenLoss: expect.any(String) });
    expect(await run(redisHolding(0), onDemand)).toMatchObject({ isRepeated: true, suddenLoss: expect.any(String) });
  });

  it('is compared with manifests of format 1 as well', async () => {
    await store.add({ formatVersion: 1, id: '20200101T000000Z-00000001' });
    expect(await run(redisHolding(0))).toMatchObject({ suddenLoss: expect.stringMatching(/held 3 keys/) });
  });

  it('is no matter where there was nothing before', async () => {
    expect((await run(redisHolding(0))).suddenLoss).toBeUndefined();
    expect((await run(redisHolding(0))).suddenLoss).toBeUndefined();
  });
});

describe('the newest', () => {
  it('is the one that was taken last, though a clock was once ahead', async () => {
    const ahead = await run(redisHolding(5), {}, 400 * hour);
    const last = await run(redisHolding(5));
    expect(last.misleadingIds).toBe(`${ahead.id} was taken before ${last.id}, by a clock that was ahead`);
    expect(await verified()).toMatchObject({ backup: { id: last.id } });
    const newer = await run(redisHolding(5));
    expect(newer.pruned).toBe(1);
    expect(kept()).toEqual([last.id, newer.id]);
  });

  it('is the one that was taken last, though those before it could not be read then', async () => {
    const [old, fresh] = [readFileSync(store.keyFile, 'utf8'), `${Buffer.alloc(32, 2).toString('base64')}\n`];
    const earlier = [await run(redisHolding(5)), await run(redisHolding(5))];
    writeFileSync(store.keyFile, fresh);
    const last = await run(redisHolding(5));
    writeFileSync(store.keyFile, `${fresh}${old}`);
    expect(await verified()).toMatchObject({ backup: { id: last.id } });
    const next = await run(redisHolding(5));
    expect(kept()).toEqual([last.id, next.id]);
    expect(kept()).not.toEqual(expect.arrayContaining(earlier.map(({ id }) => id)));
  });

  it('of manifests of format 1 has to be named where the target’s clock knows better', async () => {
    const [early, late] = ['20200101T000000Z-00000001', '20990101T000000Z-00000001'];
    const written = async (id: string, at: number): Promise<void> => {
      const manifest = await store.add({ formatVersion: 1, id });
      for (const name of ['data', 'manifest.json']) utimesSync(join(store.pathOf(manifest), name), at, at);
    };
    await written(late, 1_500_000_000);
    await written(early, 1_577_836_800);
    expect(await verified()).toMatchObject({
      reason: 'Ambiguous',
      message: `say which backup is wanted, by its id: ${late} is the newest by its id, and ${early} reached the target later`,
    });
    expect(timeOfId(late)).toBeGreaterThan(timeOfId(early) ?? 0);
    expect(await verified({ id: early })).toMatchObject({ backup: { id: early } });
  });
});
