import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../../src/sandbox/command.ts';
import { blobName, measureLayer, writeArchive } from '../../../src/sandbox/images/archive.ts';
import { filesLayer } from '../../../src/sandbox/images/layers.ts';
import { readTarIndex, tarEnd, tarFile, tarHeader } from '../../../src/sandbox/images/tar.ts';

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'archive-'));
});
afterAll(() => rm(directory, { recursive: true }));

const sha256 = (data: Buffer | string): string => `sha256:${createHash('sha256').update(data).digest('hex')}`;

describe('a layer of files', () => {
  const files = [
    { path: '/usr/local/bin/node', mode: 0o755, content: 'program' },
    { path: '/controller.mjs', mode: 0o644, content: 'bundle' },
  ];
  const links = [{ path: '/usr/bin/node', target: '../local/bin/node' }];

  it('is the same whatever the order in which the files come', () => {
    expect(filesLayer(files.toReversed(), links).equals(filesLayer(files, links))).toBe(true);
  });

  it('is what tar reads: names, kinds, modes, owners and dates', async () => {
    const path = join(directory, 'layer.tar');
    await writeFile(path, filesLayer(files, links));
    const listed = await run('tar', ['--utc', '--numeric-owner', '-tvf', path]);
    const lines = listed
      .trim()
      .split('\n')
      .map((line) => line.replace(/\s+/g, ' '));
    expect(lines).toEqual([
      '-rw-r--r-- 0/0 6 1970-01-01 00:00 controller.mjs',
      'drwxr-xr-x 0/0 0 1970-01-01 00:00 usr/',
      'drwxr-xr-x 0/0 0 1970-01-01 00:00 usr/bin/',
      'lrwxrwxrwx 0/0 0 1970-01-01 00:00 usr/bin/node -> ../local/bin/node',
      'drwxr-xr-x 0/0 0 1970-01-01 00:00 usr/local/',
      'drwxr-xr-x 0/0 0 1970-01-01 00:00 usr/local/bin/',
      '-rwxr-xr-x 0/0 7 1970-01-01 00:00 usr/local/bin/node',
    ]);
    expect(await run('tar', ['-xOf', path, 'controller.mjs'])).toBe('bundle');
  });
});

describe('a tar file', () => {
  it('gives back every name, place and size that went in', async () => {
    const name = fc.stringMatching(/^[a-z0-9][a-z0-9/._-]{0,60}[a-z0-9]$/);
    const entries = fc.uniqueArray(fc.record({ name, content: fc.uint8Array({ maxLength: 2000 }) }), {
      selector: (entry) => entry.name,
      maxLength: 8,
    });
    await fc.assert(
      fc.asyncProperty(entries, async (given) => {
        const path = join(directory, 'property.tar');
        const bytes = Buffer.concat([...given.map((each) => tarFile(each.name, Buffer.from(each.content))), tarEnd]);
        await writeFile(path, bytes);
        const index = await readTarIndex(path);
        expect([...index.keys()]).toEqual(given.map((each) => each.name));
        for (const each of given) {
          const { offset = 0, size = 0 } = index.get(each.name) ?? {};
          expect(bytes.subarray(offset, offset + size).equals(Buffer.from(each.content))).toBe(true);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('refuses a name that does not fit rather than cut it', () => {
    expect(() => tarHeader({ name: 'x'.repeat(101), type: 'file', mode: 0o644, size: 0 })).toThrow(/too long/);
  });

  it('is told from what is none', async () => {
    const path = join(directory, 'none.tar');
    await writeFile(path, 'x'.repeat(2048));
    await expect(readTarIndex(path)).rejects.toThrow(/none\.tar is not a tar file/);
  });
});

describe('an image archive', () => {
  const write = async (name: string): Promise<Buffer> => {
    const file = join(directory, 'base.tar');
    await writeFile(file, filesLayer([{ path: '/a', mode: 0o644, content: 'a' }]));
    const layers = [await measureLayer(file)];
    const target = join(directory, name);
    await writeArchive(
      [
        { reference: 'localhost/one:1', layers, config: { entrypoint: ['/a'], user: '65532' } },
        { reference: 'localhost/two:2', layers, config: {} },
      ],
      target,
      'amd64',
    );
    return readFile(target);
  };

  it('is the same bytes each time', async () => {
    expect((await write('first.tar')).equals(await write('second.tar'))).toBe(true);
  });

  it('holds what its index says: every blob once, under its own digest and size', async () => {
    const bytes = await write('whole.tar');
    const index = await readTarIndex(join(directory, 'whole.tar'));
    const blob = (digest: string): Buffer => {
      const { offset = 0, size = 0 } = index.get(blobName(digest)) ?? {};
      return bytes.subarray(offset, offset + size);
    };
    const at = (name: string): string => {
      const { offset = 0, size = 0 } = index.get(name) ?? {};
      return bytes.toString('utf8', offset, offset + size);
    };
    const blobs = [...index.keys()].filter((name) => name.startsWith('blobs/'));
    for (const name of blobs) expect(name).toBe(blobName(sha256(blob(name.replace('blobs/sha256/', 'sha256:')))));
    // Two manifests, two configurations, one layer, none of them twice.
    const listed = await run('tar', ['-tf', join(directory, 'whole.tar')]);
    expect(listed.split('\n').filter((name) => name.startsWith('blobs/')).length).toBe(5);
    expect(blobs.length).toBe(5);
    const { manifests } = JSON.parse(at('index.json'));
    const references = manifests.map((each: { annotations: Record<string, string> }) =>
      Object.values(each.annotations),
    );
    expect(references).toEqual([['localhost/one:1'], ['localhost/two:2']]);
    const manifest = JSON.parse(blob(manifests[0].digest).toString());
    const config = JSON.parse(blob(manifest.config.digest).toString());
    expect(config).toMatchObject({ os: 'linux', architecture: 'amd64', config: { Entrypoint: ['/a'], User: '65532' } });
    expect(config.rootfs.diff_ids).toEqual(manifest.layers.map((layer: { digest: string }) => layer.digest));
    expect(JSON.parse(at('manifest.json'))[1]).toMatchObject({ RepoTags: ['localhost/two:2'] });
  });

  it('leaves nothing behind when a layer cannot be read', async () => {
    const target = join(directory, 'broken.tar');
    const layers = [{ path: join(directory, 'missing'), digest: sha256(''), size: 9 }];
    await expect(writeArchive([{ reference: 'x', layers, config: {} }], target, 'amd64')).rejects.toThrow('ENOENT');
    await expect(readFile(target)).rejects.toThrow('ENOENT');
    await expect(readFile(`${target}.${process.pid}.new`)).rejects.toThrow('ENOENT');
  });
});
