/** A data directory is filled as a whole, or not at all, and never over data. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Failure } from '../../../src/engine/driver/failure.ts';
import { tarEnd } from '../../../src/engines/postgres/agent/tar.ts';
import { begunFrom, fillPostgresVolume } from '../../../src/engines/postgres/agent/volume.ts';
import { smallBackup, smallFiles, tarFile, tarOther } from '../../support/postgres-backup.ts';

let volume: string;
beforeEach(() => {
  volume = mkdtempSync(join(tmpdir(), 'postgres-volume-'));
});
afterEach(() => rmSync(volume, { recursive: true }));

const from = { path: 'apps/PostgresCluster/uid/id', plainSha256: 'a'.repeat(64) };
const idle = new AbortController().signal;
const data = (): string => join(volume, 'data');

async function* pieces(bytes: Buffer, size = 1000): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
const filled = (bytes: Buffer = smallBackup(), signal = idle) =>
  fillPostgresVolume({ directory: data() }, from, () => pieces(bytes), signal);

describe('a data directory', () => {
  it('holds every file, readable by its owner alone', async () => {
    expect(await begunFrom(data())).toBeUndefined();
    expect(await filled()).toEqual({ isRepeated: false });
    for (const [name, bytes] of Object.entries(smallFiles)) {
      expect(readFileSync(join(data(), name)).equals(bytes)).toBe(true);
      expect(statSync(join(data(), name)).mode & 0o777).toBe(0o600);
    }
    expect(statSync(data()).mode & 0o777).toBe(0o700);
    expect(readdirSync(volume).sort()).toEqual(['data', 'data.restored-from.json']);
    expect(await begunFrom(data())).toBe(from.path);
    expect(await filled()).toEqual({ isRepeated: true });
  });

  it('may be there, empty', async () => {
    mkdirSync(data(), { mode: 0o777 });
    expect(await filled()).toEqual({ isRepeated: false });
    expect(statSync(data()).mode & 0o777).toBe(0o700);
  });

  it('that holds data is left alone, whether or not it was filled by us', async () => {
    mkdirSync(data());
    writeFileSync(join(data(), 'PG_VERSION'), '15\n');
    await expect(filled()).rejects.toMatchObject({ reason: 'Occupied' });
    expect(readFileSync(join(data(), 'PG_VERSION'), 'utf8')).toBe('15\n');
    rmSync(data(), { recursive: true });
    await filled();
    // As a server does when it has recovered.
    rmSync(join(data(), 'backup_label'));
    await expect(filled()).rejects.toMatchObject({ reason: 'Occupied' });
    const other = { ...from, path: 'another' };
    await expect(
      fillPostgresVolume({ directory: data() }, other, () => pieces(smallBackup()), idle),
    ).rejects.toMatchObject({
      reason: 'Occupied',
    });
  });

  it('is left to what recovers it, there and where that puts it', async () => {
    const place = { directory: join(volume, 'restored'), dataDirectory: data() };
    const fill = (origin = from) => fillPostgresVolume(place, origin, () => pieces(smallBackup()), idle);
    expect(await fill()).toEqual({ isRepeated: false });
    writeFileSync(join(volume, 'restored.recovering'), '');
    // A server has begun.
    rmSync(join(place.directory, 'backup_label'));
    expect(await fill()).toEqual({ isRepeated: true });
    await expect(fill({ ...from, path: 'another' })).rejects.toMatchObject({ reason: 'Occupied' });
    renameSync(place.directory, data());
    expect(await fill()).toEqual({ isRepeated: true });
    await expect(fill({ ...from, path: 'another' })).rejects.toMatchObject({ reason: 'Occupied' });
    // Whose data this is nobody knows.
    rmSync(join(volume, 'restored.recovering'));
    await expect(fill()).rejects.toMatchObject({ reason: 'Occupied' });
  });

  it('is filled again after an attempt that was cut off', async () => {
    mkdirSync(join(volume, 'data.restoring', 'base'), { recursive: true });
    writeFileSync(join(volume, 'data.restoring', 'PG_VERSION'), 'half');
    writeFileSync(join(volume, 'data.restored-from.json'), JSON.stringify({ ...from, path: 'earlier' }));
    expect(await filled()).toEqual({ isRepeated: false });
    expect(readdirSync(volume).sort()).toEqual(['data', 'data.restored-from.json']);
  });

  it.each<[string, Buffer]>([
    ['ends too early', smallBackup().subarray(0, 40_000)],
    ['has a path that leads out', Buffer.concat([tarFile('../outside', Buffer.from('x')), tarEnd])],
    ['has an absolute path', Buffer.concat([tarFile('/tmp/outside-of-it', Buffer.from('x')), tarEnd])],
    ['has a link', Buffer.concat([tarOther('base', '2', '/etc'), tarFile('base/x', Buffer.from('x')), tarEnd])],
    ['has a hard link', Buffer.concat([tarOther('base', '1', '/etc/passwd'), tarEnd])],
  ])('is not there if the backup %s', async (_, bytes) => {
    await expect(filled(bytes)).rejects.toMatchObject({ reason: 'Tampered' });
    expect(readdirSync(volume)).toEqual([]);
    expect(existsSync('/tmp/outside-of-it')).toBe(false);
  });

  it('is not there if the check at the end fails, or nobody waits any more', async () => {
    async function* refused(): AsyncGenerator<Buffer> {
      yield* pieces(smallBackup());
      throw new Failure('Tampered', 'it has another SHA-256');
    }
    await expect(fillPostgresVolume({ directory: data() }, from, refused, idle)).rejects.toThrow(/another SHA-256/);
    expect(readdirSync(volume)).toEqual([]);
    const stopping = AbortSignal.abort(new Failure('Stopped', 'enough'));
    await expect(filled(smallBackup(), stopping)).rejects.toMatchObject({ reason: 'Stopped' });
    expect(readdirSync(volume)).toEqual([]);
  });

  it('cannot be made where there is no volume', async () => {
    const nowhere = join(volume, 'nowhere', 'data');
    await expect(
      fillPostgresVolume({ directory: nowhere }, from, () => pieces(smallBackup()), idle),
    ).rejects.toMatchObject({
      reason: 'BadTask',
    });
  });
});
