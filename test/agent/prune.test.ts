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
import { systemClock } from '../../src/runtime/clock.ts';
import { agentSurroundings } from '../support/agent-surroundings.ts';
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

describe('a target that leaves something out of its list', () => {
  it('loses no backup whose manifest it does not list', async () => {
    const [old, last] = [
      await store.add({ id: '20261101T000000Z-00000001' }),
      await store.add({ id: '20261102T000000Z-00000001' }),
    ];
    const surroundings = agentSurroundings({ clock: { ...systemClock, now: () => Date.now() + 3 * day } });
    const whole = claimTarget(store.target as ClaimPlace, surroundings);
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
    await prune(target, task, foundOf(last), [], parseKeys(keyText), surroundings);
    expect((await collected(whole.list(''))).map(({ key }) => key).sort()).toEqual(before);
  });

  it('hides no sudden loss: what was just made and what was read before are judged, and nothing is let go', async () => {
    const state = (keys: number) => ({ state: redisHolding(keys) });
    const real = [
      await store.add({ id: '20261101T000000Z-00000001', formatVersion: 2, sequence: 1, ...state(5) }),
      await store.add({ id: '20261102T000000Z-00000001', formatVersion: 2, sequence: 2, ...state(5) }),
    ];
    const empty = await store.add({ id: '20261103T000000Z-00000001', formatVersion: 2, sequence: 3, ...state(0) });
    const whole = claimTarget(store.target as ClaimPlace, agentSurroundings());
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
      return prune(target, task, foundOf(empty), known, parseKeys(keyText), agentSurroundings());
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
    const whole = claimTarget(store.target as ClaimPlace, agentSurroundings());
    const target: Target = {
      ...whole,
      async *list(folder) {
        for await (const object of whole.list(folder)) if (!object.key.includes(made.id)) yield object;
      },
    };
    const purpose = { type: 'schedule', name: 'nightly' } as const;
    const task = { cluster: made.cluster, purpose, retention: { count: 1 } };
    expect(await prune(target, task, foundOf(made), [], parseKeys(keyText), agentSurroundings())).toMatchObject({
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
      agentSurroundings(),
    );
    await expect(collected(target.list('a'))).rejects.toMatchObject({ reason: 'TargetRefused' });
    target.close();
    server.close();
  });
});
