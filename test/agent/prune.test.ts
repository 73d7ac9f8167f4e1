/** Retention goes by what the target lists: what a list lacks may be there all the same. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { prune } from '../../src/agent/prune.ts';
import { claimTarget } from '../../src/agent/target/claim.ts';
import { s3Target } from '../../src/agent/target/s3.ts';
import type { Target } from '../../src/agent/target/target.ts';
import { parseKeys } from '../../src/backup/key.ts';
import { folderOf, type Manifest } from '../../src/backup/manifest.ts';
import type { ClaimPlace } from '../../src/backup/place.ts';
import { Failure } from '../../src/engine/driver/failure.ts';
import { drivers } from '../../src/engines/drivers.ts';
import { systemClock } from '../../src/system/clock.ts';
import { agentContext } from '../support/agent-context.ts';
import { collected } from '../support/collected.ts';
import { redisHolding } from '../support/given-dump.ts';
import { type BackupStore, keyText, openStore } from '../support/stored-backup.ts';

const day = 24 * 3600 * 1000;
let store: BackupStore;
beforeEach(() => {
  store = openStore();
});
afterEach(() => store.close());

const foundOf = (manifest: Manifest) => ({ path: folderOf(manifest), manifest, key: parseKeys(keyText)[0] });

const throwing = (error: Error): AsyncIterable<Uint8Array> => ({
  [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }),
});

const repositoryOf = (target: Target) => ({ target, keys: parseKeys(keyText), drivers });

describe('what is let go', () => {
  const nightly = { type: 'schedule', name: 'nightly' } as const;
  const days = (count: number) => agentContext({ clock: { ...systemClock, now: () => Date.now() + count * day } });
  /** Three backups of a schedule, and a folder that was never finished. */
  async function filled(numbers: readonly number[] = [1, 2, 3]) {
    const made = [];
    for (const [i, sequence] of numbers.entries()) {
      made.push(await store.add({ id: `2026110${i + 1}T000000Z-00000001`, formatVersion: 2, sequence }));
    }
    const target = claimTarget(store.target as ClaimPlace, agentContext());
    const [one] = made as [Manifest];
    await target.put(`${folderOf({ ...one, id: '20261001T000000Z-00000001' })}/data`, given('half'));
    // The last one was made three days later, by the target's clock, too.
    const later: Target = {
      ...target,
      async *list(folder) {
        for await (const object of target.list(folder)) {
          yield object.key.includes('20261103') ? { ...object, modifiedAt: object.modifiedAt + 3 * day } : object;
        }
      },
    };
    return { cluster: one.cluster, last: foundOf(made[2] as Manifest), target: later };
  }
  async function* given(text: string): AsyncGenerator<Uint8Array> {
    yield Buffer.from(text);
  }
  const kept = (): readonly string[] => [...new Set(store.files().map((file) => file.split('/').at(-2) ?? ''))];
  const all = ['20261001', '20261101', '20261102', '20261103'].map((start) => `${start}T000000Z-00000001`);

  it('is what a schedule keeps no longer, and what was never finished; unfinished uploads are swept', async () => {
    const { cluster, last, target } = await filled();
    const swept: (readonly [string, number])[] = [];
    const noting: Target = {
      ...target,
      sweep: async (folder, before) => {
        swept.push([folder, before]);
        return 0;
      },
    };
    const context = days(3);
    const task = { cluster, purpose: nightly, retention: { count: 2 } };
    const pruned = await prune(repositoryOf(noting), task, last, [], context);
    expect(pruned).toEqual({ expired: 1 });
    expect(kept()).toEqual(all.slice(2));
    expect(swept).toHaveLength(1);
    const [[folder, before]] = swept as [readonly [string, number]];
    expect(folder).toBe('apps/RedisCluster/uid-1');
    // A day before it looks.
    expect(Math.abs(before - (Date.now() + 2 * day))).toBeLessThan(day / 2);
  });

  it('is nothing after a backup that no schedule has asked for', async () => {
    const { cluster, last, target } = await filled();
    const task = { cluster, purpose: { type: 'backup', name: 'nightly' }, retention: { count: 1 } } as const;
    expect(await prune(repositoryOf(target), task, last, [], days(3))).toEqual({ expired: 0 });
    expect(kept()).toEqual(all);
  });

  it('is let go although a server lists no uploads', async () => {
    const { cluster, last, target } = await filled();
    const odd: Target = { ...target, sweep: () => Promise.reject(new Error('not implemented')) };
    const context = days(3);
    const task = { cluster, purpose: nightly, retention: { count: 1 } };
    expect(await prune(repositoryOf(odd), task, last, [], context)).toEqual({ expired: 2 });
    expect(context.lines.join()).toContain('uploads that were never finished could not be swept');
  });

  it('names the backups whose ids give another order than the target', async () => {
    const task = { purpose: nightly, retention: {} };
    const saidOf = async ({ cluster, last, target }: Awaited<ReturnType<typeof filled>>) =>
      (await prune(repositoryOf(target), { ...task, cluster }, last, [], days(3))).misleadingIds;
    expect(await saidOf(await filled([3, 2, 4]))).toBe(
      `${all[2]} was taken before ${all[1]}, by a clock that was ahead`,
    );
    store.close();
    store = openStore();
    expect(await saidOf(await filled([5, 4, 3]))).toBe(
      `${all[2]} was taken before ${all[1]}, by a clock that was ahead, and so was 1 other`,
    );
  });

  it('is told by number alone while the clocks are apart, and what was never finished stays', async () => {
    const { cluster, last, target } = await filled();
    let sweeps = 0;
    const counting: Target = { ...target, sweep: async () => ++sweeps };
    const task = { cluster, purpose: nightly, retention: { count: 2, ageSeconds: 3600 } };
    const pruned = await prune(repositoryOf(counting), task, last, [], days(30));
    expect(pruned).toEqual({
      expired: 1,
      doubt: expect.stringMatching(
        /^this clock and the target's are \d+ minutes apart: nothing was let go for its age$/,
      ),
    });
    expect(kept()).toEqual([all[0], ...all.slice(2)]);
    expect(sweeps).toBe(0);
  });

  it('is none whose manifest cannot be read, nor of those that have no number the newest', async () => {
    const { cluster, last, target } = await filled();
    const without = await store.add({ id: '20261031T000000Z-00000001' });
    const [half] = all;
    await target.put(`${folderOf({ ...without, id: '20261030T000000Z-00000001' })}/manifest.json`, given('{'));
    const task = { cluster, purpose: nightly, retention: { count: 3 } };
    expect(await prune(repositoryOf(target), task, last, [], days(3))).toEqual({ expired: 1 });
    expect(kept()).toEqual(['20261030T000000Z-00000001', ...all.slice(1)]);
    expect(kept()).not.toContain(half);
  });
});

describe('a target that leaves something out of its list', () => {
  it('loses no backup whose manifest it does not list', async () => {
    const [old, last] = [
      await store.add({ id: '20261101T000000Z-00000001' }),
      await store.add({ id: '20261102T000000Z-00000001' }),
    ];
    const context = agentContext({ clock: { ...systemClock, now: () => Date.now() + 3 * day } });
    const whole = claimTarget(store.target as ClaimPlace, context);
    const before = (await collected(whole.list(''))).map(({ key }) => key).sort();
    const target: Target = {
      ...whole,
      async *list(folder) {
        for await (const object of whole.list(folder)) {
          if (object.key.endsWith(`${old.id}/manifest.json`)) continue;
          yield object.key.includes(last.id) ? { ...object, modifiedAt: object.modifiedAt + 3 * day } : object;
        }
      },
    };
    const task = { cluster: old.cluster, purpose: { type: 'schedule', name: 'nightly' }, retention: {} } as const;
    await prune(repositoryOf(target), task, foundOf(last), [], context);
    expect((await collected(whole.list(''))).map(({ key }) => key).sort()).toEqual(before);
    // Nor where it does not give it either, which it did before.
    const absent = new Failure('NotFound', 'there is none');
    const behind: Target = {
      ...target,
      get: (key) => (key.includes(old.id) ? throwing(absent) : whole.get(key)),
    };
    const known = [{ ...foundOf(old), modifiedAt: Date.now() }];
    await prune(repositoryOf(behind), task, foundOf(last), known, context);
    expect((await collected(whole.list(''))).map(({ key }) => key).sort()).toEqual(before);
    await prune(repositoryOf(behind), task, foundOf(last), [], context);
    expect((await collected(whole.list(''))).some(({ key }) => key.includes(old.id))).toBe(false);
  });

  it('hides no sudden loss: what was just made and what was read before are judged, and nothing is let go', async () => {
    const state = (keys: number) => ({ state: redisHolding(keys) });
    const real = [
      await store.add({ id: '20261101T000000Z-00000001', formatVersion: 2, sequence: 1, ...state(5) }),
      await store.add({ id: '20261102T000000Z-00000001', formatVersion: 2, sequence: 2, ...state(5) }),
    ];
    const empty = await store.add({ id: '20261103T000000Z-00000001', formatVersion: 2, sequence: 3, ...state(0) });
    const whole = claimTarget(store.target as ClaimPlace, agentContext());
    const lacking = (...ids: readonly string[]): Target => ({
      ...whole,
      async *list(folder) {
        for await (const object of whole.list(folder)) if (!ids.some((id) => object.key.includes(id))) yield object;
      },
    });
    const task = {
      cluster: empty.cluster,
      purpose: { type: 'schedule', name: 'nightly' },
      retention: { count: 1 },
    } as const;
    const pruned = (target: Target, earlier: readonly Manifest[]) => {
      const known = earlier.map((manifest) => ({ ...foundOf(manifest), modifiedAt: Date.now() }));
      return prune(repositoryOf(target), task, foundOf(empty), known, agentContext());
    };
    const why = `it holds no keys, and ${real[1]?.id} held 5 keys`;
    expect(await pruned(lacking(empty.id), real)).toMatchObject({ expired: 0, suddenLoss: why });
    expect(await pruned(lacking(empty.id), [])).toMatchObject({ expired: 0, suddenLoss: why });
    expect(await pruned(lacking(...real.map(({ id }) => id)), real)).toMatchObject({ expired: 0, suddenLoss: why });
    expect(store.files().filter((name) => name.endsWith('manifest.json'))).toHaveLength(3);
  });

  it('lets nothing go where it lacks the newest, which may be no loss at all', async () => {
    const [first, last] = [
      await store.add({ id: '20261101T000000Z-00000001', formatVersion: 2, sequence: 1 }),
      await store.add({ id: '20261102T000000Z-00000001', formatVersion: 2, sequence: 2 }),
    ];
    const made = await store.add({ id: '20261103T000000Z-00000001', formatVersion: 2, sequence: 3 });
    const whole = claimTarget(store.target as ClaimPlace, agentContext());
    const target: Target = {
      ...whole,
      async *list(folder) {
        for await (const object of whole.list(folder)) if (!object.key.includes(made.id)) yield object;
      },
    };
    const purpose = { type: 'schedule', name: 'nightly' } as const;
    const task = { cluster: made.cluster, purpose, retention: { count: 1 } };
    expect(await prune(repositoryOf(target), task, foundOf(made), [], agentContext())).toMatchObject({
      expired: 0,
      doubt: expect.stringMatching(/nothing was let go/),
    });
    for (const { id } of [first, last]) expect(store.files().join()).toContain(id);
  });

  it('is refused where it is a server that does not say how the rest is asked for', async () => {
    const page =
      '<?xml version="1.0"?><ListBucketResult><Name>b</Name><IsTruncated>true</IsTruncated>' +
      '<Contents><Key>a/data</Key><Size>1</Size><LastModified>2026-11-01T00:00:00Z</LastModified></Contents></ListBucketResult>';
    const server = createServer((_, response) => {
      response.setHeader('content-type', 'application/xml');
      response.end(page);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const target = s3Target(
      {
        type: 's3',
        endpoint: `http://127.0.0.1:${port}`,
        bucket: 'bucket',
        region: 'us-east-1',
        prefix: '',
        pathStyle: true,
        accessKeyIdFile: '/never/read',
        secretAccessKeyFile: '/never/read',
      },
      { accessKeyId: 'id', secretAccessKey: 'secret' },
      agentContext(),
    );
    await expect(collected(target.list('a'))).rejects.toMatchObject({ reason: 'TargetRefused' });
    target.close();
    server.close();
  });
});
