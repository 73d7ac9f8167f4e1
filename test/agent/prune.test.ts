/** Retention goes by what the target lists: what a list lacks may be there all the same. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { prune } from '../../src/agent/prune.ts';
import { claimTarget } from '../../src/agent/target/claim.ts';
import { s3Target } from '../../src/agent/target/s3.ts';
import type { Target } from '../../src/agent/target/target.ts';
import { parseKeys } from '../../src/backup/key.ts';
import type { ClaimPlace } from '../../src/backup/place.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { agentSurroundings } from '../support/agent-surroundings.ts';
import { collected } from '../support/collected.ts';
import { type BackupStore, keyText, openStore } from '../support/stored-backup.ts';

const day = 24 * 3600 * 1000;
let store: BackupStore;
beforeEach(() => {
  store = openStore();
});
afterEach(() => store.close());

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
    await prune(target, task, last.id, parseKeys(keyText), surroundings);
    expect((await collected(whole.list(''))).map(({ key }) => key).sort()).toEqual(before);
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
