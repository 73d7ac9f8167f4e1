/** Backups that are whole pass; every other one is refused, in words that say what is wrong. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Failure } from '../../../src/engine/driver/failure.ts';
import { type BackupFacts, checkedBackup } from '../../../src/engines/postgres/agent/checked-backup.ts';
import { tarEnd } from '../../../src/engines/postgres/agent/tar.ts';
import { collectedBytes } from '../../support/collected.ts';
import {
  manifestOf,
  segmentBytes,
  serverTar,
  smallBackup,
  smallFiles,
  systemId,
  tarFile,
  tarOther,
  walSegment,
} from '../../support/postgres-backup.ts';

const fault = (why: string): Failure => new Failure('Tampered', why);

async function* cut(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  let at = 0;
  for (const size of [...sizes, bytes.length]) {
    if (at >= bytes.length) return;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

describe('a backup that is whole', () => {
  it('passes as it is, however it is cut', async () => {
    const backup = smallBackup();
    const sizes = fc.array(fc.integer({ min: 1, max: 3000 }), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(sizes, async (cuts) => {
        let facts: BackupFacts | undefined;
        const passed = checkedBackup(cut(backup, cuts), fault, (found) => {
          facts = found;
        });
        expect((await collectedBytes(passed)).equals(backup)).toBe(true);
        expect(facts).toMatchObject({ bytes: 20_032, segmentBytes, systemId });
        expect(facts?.manifest.files.size).toBe(4);
      }),
      { numRuns: 30 },
    );
  });

  it('is refused with any one byte changed, but for what nobody reads', async () => {
    const backup = smallBackup({ files: { PG_VERSION: Buffer.from('17\n'), f: Buffer.alloc(600, 1) } });
    const manifestAt = backup.indexOf('{ "PostgreSQL-Backup-Manifest');
    const places = [...Array(400).keys()].map((i) => manifestAt + i);
    const contentAt = backup.indexOf(Buffer.alloc(600, 1));
    const headerAt = contentAt - 512;
    const header = [0, 100, 124, 136, 148, 156, 257, 345].map((field) => headerAt + field);
    for (const at of [...places, ...header, contentAt, contentAt + 599]) {
      const changed = Buffer.from(backup);
      changed[at] = (changed[at] ?? 0) ^ 1;
      await expect(collectedBytes(checkedBackup(cut(changed, []), fault))).rejects.toMatchObject({
        reason: 'Tampered',
      });
    }
  });

  it('is refused wherever it ends too early', async () => {
    const backup = smallBackup({ files: { PG_VERSION: Buffer.from('17\n') } });
    const ends = fc.integer({ min: 0, max: backup.length - 513 });
    await fc.assert(
      fc.asyncProperty(ends, async (end) => {
        const passed = checkedBackup(cut(backup.subarray(0, end), []), fault);
        await expect(collectedBytes(passed)).rejects.toMatchObject({ reason: 'Tampered' });
      }),
    );
  });
});

describe('refused', () => {
  const { PG_VERSION, ...withoutVersion } = smallFiles;
  const other = { ...smallFiles, PG_VERSION: Buffer.from('16\n') };
  const longer = { ...smallFiles, PG_VERSION: Buffer.from('17\n\n') };
  const manifest = tarFile('backup_manifest', manifestOf({ files: smallFiles }));
  const tar = serverTar({ files: smallFiles });
  const wholeAnd = (entry: Buffer): Buffer => Buffer.concat([tar, entry, manifest, tarEnd]);
  it.each<[string, Buffer, RegExp]>([
    ['a file that is missing', smallBackup({ files: withoutVersion, told: smallFiles }), /"PG_VERSION" is missing/],
    ['a file of another content', smallBackup({ told: other }), /"PG_VERSION" has another SHA-256/],
    ['a file of another size', smallBackup({ told: longer }), /"PG_VERSION" has 3 bytes, and had 4/],
    ['a file too many', smallBackup({ told: withoutVersion }), /"PG_VERSION" is not in the manifest/],
    ['a file that is there twice', wholeAnd(tarFile('PG_VERSION', PG_VERSION)), /"PG_VERSION" is there twice/],
    ['no manifest', Buffer.concat([tar, tarEnd]), /the manifest of the server is missing/],
    [
      'something after the manifest',
      Buffer.concat([tar, manifest, tarFile('x', PG_VERSION), tarEnd]),
      /after the manifest/,
    ],
    ['something after the end', Buffer.concat([smallBackup(), Buffer.from('x')]), /something follows the end/],
    [
      'a manifest without its checksum',
      smallBackup({ edit: (text) => `${text}"Manifest-Checksum": "` }),
      /checksum|no JSON/,
    ],
    [
      'a manifest of another format',
      smallBackup({ edit: (text) => text.replace('Version": 2', 'Version": 3') }),
      /version 3/,
    ],
    [
      'other checksums',
      smallBackup({ edit: (text) => text.replaceAll('SHA256', 'CRC32C') }),
      /no path, size or SHA-256/,
    ],
    [
      'a manifest without ranges',
      smallBackup({ edit: (text) => text.replace('WAL-Ranges', 'X') }),
      /a list in the manifest/,
    ],
    ['a range that is none', smallBackup({ range: { timeline: 1, start: 'x', end: '0/1' } }), /a range of the log/],
    [
      'a manifest of another database cluster',
      smallBackup({ edit: (text) => text.replace(systemId, '7300000000000000002') }),
      /is of another database cluster/,
    ],
    ['no log', smallBackup({ segments: {} }), /it holds no log/],
    [
      'a log with a gap',
      smallBackup({ range: { timeline: 1, start: '0/200028', end: '0/300001' } }),
      /the log is not whole: 000000010000000000000003 is missing/,
    ],
    [
      'another part of the log',
      smallBackup({ segments: { '000000010000000000000002': walSegment(0x300000n) } }),
      /is not the log/,
    ],
    [
      'the log of another database cluster',
      smallBackup({ segments: { '000000010000000000000002': walSegment(0x200000n, { id: '5' }) } }),
      /000000010000000000000002 is of another database cluster/,
    ],
    [
      'a file of the log that is empty',
      smallBackup({ segments: { '000000010000000000000002': Buffer.alloc(segmentBytes) } }),
      /is not the log/,
    ],
    ['a tablespace', wholeAnd(tarOther('pg_tblspc/16384', '2', '/etc')), /tablespaces are not supported/],
    ['a hard link', wholeAnd(tarOther('x', '1', '/etc/passwd')), /neither a file nor a directory/],
    ['a device', wholeAnd(tarOther('x', '3')), /neither a file nor a directory/],
    ['an absolute path', wholeAnd(tarFile('/etc/passwd', PG_VERSION)), /no path below/],
    ['a path that leads out', wholeAnd(tarFile('base/../../x', PG_VERSION)), /no path below/],
    ['a name of no encoding', wholeAnd(tarFile('base/\xff', PG_VERSION)), /no path below/],
    ['what is no tar', Buffer.alloc(2048, 0x41), /a header is none/],
    ['nothing', Buffer.alloc(0), /ends before the end of the tar/],
    ['zeros', Buffer.alloc(1024), /the manifest of the server is missing/],
  ])('%s', async (_, backup, words) => {
    await expect(collectedBytes(checkedBackup(cut(backup, []), fault))).rejects.toThrow(words);
  });
});
