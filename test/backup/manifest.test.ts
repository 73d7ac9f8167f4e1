/** Manifests: what is written is read, and nothing else is. */

import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { frameScheme } from '../../src/backup/frames.ts';
import { type KeyRing, parseKeys } from '../../src/backup/key.ts';
import {
  claimedSequence,
  folderOf,
  type Manifest,
  ManifestRefused,
  ownerOf,
  parseManifest,
  serializeManifest,
  summaryOf,
} from '../../src/backup/manifest.ts';
import { drivers } from '../../src/engines/drivers.ts';
import { goodManifest } from '../support/manifests.ts';

const keys = parseKeys(Buffer.alloc(32, 1).toString('base64'));
const [key] = keys;
const etcd = { engine: 'etcd', clusterId: '1', memberId: '2', revision: '3' } as const;
const sealed: Manifest = { ...goodManifest, encryption: { scheme: frameScheme, keyId: key.id } };
const text = serializeManifest(sealed, key);
const plainText = serializeManifest(goodManifest, undefined);
const folder = folderOf(goodManifest);

function fault(content: string, where = folder, ring: KeyRing | undefined = keys): ManifestRefused {
  try {
    parseManifest(content, where, ring, drivers);
  } catch (error) {
    if (error instanceof ManifestRefused) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

describe('the number that a manifest claims, which cannot be trusted', () => {
  const claiming = (sequence: unknown): string => JSON.stringify({ ...JSON.parse(plainText), manifest: { sequence } });

  it.each<readonly [unknown, number | undefined]>([
    [1, 1],
    [1e9, 1e9],
    [0, undefined],
    [-1, undefined],
    [1e9 + 1, undefined],
    [1.5, undefined],
    ['2', undefined],
    [undefined, undefined],
  ])('%s', (claimed, known) => expect(claimedSequence(claiming(claimed))).toBe(known));

  it('is none where it is no manifest', () => {
    expect(['', '[]', '{}', 'null'].map(claimedSequence)).toEqual(Array(4).fill(undefined));
  });
});

it('the owner of data is the backup that it is of', () => {
  expect(ownerOf(goodManifest)).toBe(`redis ${folder}`);
});

describe('a manifest', () => {
  it('is read as it was written, also after somebody has formatted it', () => {
    expect(parseManifest(text, folder, keys, drivers)).toEqual({ manifest: sealed, key });
    expect(parseManifest(plainText, folder, undefined, drivers)).toEqual({ manifest: goodManifest, key: undefined });
    expect(parseManifest(JSON.stringify(JSON.parse(text)), folder, keys, drivers).manifest).toEqual(sealed);
    const older = parseKeys(`${Buffer.alloc(32, 7).toString('base64')}\n${Buffer.alloc(32, 1).toString('base64')}`);
    expect(parseManifest(text, folder, older, drivers).manifest).toEqual(sealed);
  });

  it('of format 1 is read as release 0.1.0 wrote it, byte for byte', () => {
    const content = readFileSync(new URL('manifest-1.json', import.meta.url), 'utf8');
    expect(parseManifest(content, folder, keys, drivers).manifest).toEqual(sealed);
    expect(serializeManifest(sealed, key)).toBe(content);
  });

  it('of format 2 has its number, and the keys of an etcd', () => {
    const cluster = { ...goodManifest.cluster, kind: 'EtcdCluster' } as const;
    const manifest: Manifest = {
      ...sealed,
      formatVersion: 2,
      sequence: 9,
      engine: 'etcd',
      cluster,
      state: { ...etcd, keys: 4, authentication: true },
    };
    expect(parseManifest(serializeManifest(manifest, key), folderOf(manifest), keys, drivers).manifest).toEqual(
      manifest,
    );
  });

  it('is refused whatever bit of it is changed, unless it says the same', () => {
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.nat(6), (at, bit) => {
        const changed = Buffer.from(text);
        changed[at] = (changed[at] ?? 0) ^ (1 << bit);
        const same = (() => {
          try {
            return JSON.stringify(JSON.parse(changed.toString())) === JSON.stringify(JSON.parse(text));
          } catch {
            return false;
          }
        })();
        if (!same) expect(['Tampered', 'OtherKey', 'Unfit']).toContain(fault(changed.toString()).fault);
      }),
      { numRuns: 1000 },
    );
  });

  it('of somebody without the key is refused, whatever it says', () => {
    // A checksum is no seal where a key is asked for.
    const [other] = parseKeys(Buffer.alloc(32, 2).toString('base64'));
    expect(fault(serializeManifest(sealed, undefined)).fault).toBe('Tampered');
    expect(fault(serializeManifest(sealed, other)).fault).toBe('Tampered');
    expect(fault(plainText)).toMatchObject({ fault: 'OtherKey', message: expect.stringMatching(/is not encrypted/) });
  });

  it('says which key it needs', () => {
    const others = parseKeys(Buffer.alloc(32, 2).toString('base64'));
    expect(fault(text, folder, others).message).toBe(
      `the backup was encrypted with another key: it needs the key ${key.id}, and given are ${others[0].id}`,
    );
    expect(() => parseManifest(text, folder, undefined, drivers)).toThrow(/is encrypted, and no key is given/);
  });

  it.each<[string, object, string, RegExp]>([
    [
      'of a later version',
      { formatVersion: 4, news: true },
      'Unfit',
      /has version 4, and this agent knows versions up to 3/,
    ],
    ['with a field that nobody knows', { surprise: 1 }, 'Tampered', /surprise is not known/],
    [
      'of an engine that nobody knows',
      { engine: 'mysql' },
      'Unfit',
      /of the engine mysql, which this agent does not know/,
    ],
    ['of an engine that is none', { engine: '../x' }, 'Tampered', /names no engine/],
    ['of format 1 with a number of format 2', { sequence: 1 }, 'Tampered', /sequence is not known/],
    [
      'of format 1 with keys of format 2',
      { engine: 'etcd', state: { ...etcd, keys: 1 } },
      'Tampered',
      /state.keys is not/,
    ],
    ['of format 2 without a number', { formatVersion: 2 }, 'Tampered', /sequence/],
    [
      'of format 2 with parts',
      { formatVersion: 2, sequence: 1, parts: [sealed.data] },
      'Tampered',
      /parts is not known/,
    ],
    [
      'of format 3 without parts',
      {
        formatVersion: 3,
        sequence: 1,
        state: {
          engine: 'redis',
          shards: [
            {
              ...{ slots: '0-16383', epoch: 1, source: 'db-s0-1:6379', role: 'replica' },
              ...{ replicationId: 'c'.repeat(40), offset: 14, approximateKeys: {} },
            },
          ],
        },
      },
      'Tampered',
      /parts/,
    ],
    ['of format 2 with number 0', { formatVersion: 2, sequence: 0 }, 'Tampered', /sequence/],
    ['with a path for an id', { id: '../../x' }, 'Tampered', /id must match/],
    ['of a kind that does not fit', { engine: 'etcd' }, 'Tampered', /state/],
    ['without a version', { formatVersion: '1' }, 'Tampered', /no format version/],
  ])('%s is refused', (_, change, reason, message) => {
    const content = serializeManifest({ ...sealed, ...change } as Manifest, key);
    expect(fault(content)).toMatchObject({ fault: reason, message: expect.stringMatching(message) });
  });

  it.each(['', 'null', '[]', '{}', '{"manifest":{}}', '{"manifest":null,"seal":""}', 'x'.repeat(100)])(
    '%j is none',
    (content) => {
      expect(fault(content).fault).toBe('Tampered');
    },
  );

  it('that was moved to another folder is refused', () => {
    expect(fault(text, folder.replace('uid-1', 'uid-2')).message).toMatch(
      /it belongs to .*uid-1.* and was found in .*uid-2/,
    );
  });

  it('is summed up with the path that people will look for', () => {
    expect(summaryOf(goodManifest, 'team/backups', { contents: {} }).folder).toBe(`team/backups/${folder}`);
    expect(summaryOf(goodManifest, '', { contents: {} })).toMatchObject({ folder, encrypted: false, plainBytes: 10 });
  });
});
