/** Small base backups, made by hand: as a server would send them, or with something wrong about them. */
import { createHash } from 'node:crypto';
import { fileHeader, paddingOf, tarEnd } from '../../src/engines/postgres/agent/tar.ts';

export interface BackupParts {
  /** By path. */
  readonly files: Readonly<Record<string, Buffer>>;
  /** What the manifest says of them; default: the truth. */
  readonly told?: Readonly<Record<string, Buffer>>;
  readonly segments?: Readonly<Record<string, Buffer>>;
  readonly range?: { readonly timeline: number; readonly start: string; readonly end: string };
  /** Changes the text of the manifest before it gets its checksum. */
  readonly edit?: (manifest: string) => string;
}

export const systemId = '7300000000000000001';
export const segmentBytes = 2 ** 20;

/** A file of the log, with nothing but its header. */
export function walSegment(start: bigint, { id = systemId, size = segmentBytes } = {}): Buffer {
  const bytes = Buffer.alloc(size);
  bytes.writeUInt16LE(0xd116, 0);
  bytes.writeUInt16LE(0x0002, 2);
  bytes.writeUInt32LE(1, 4);
  bytes.writeBigUInt64LE(start, 8);
  bytes.writeBigUInt64LE(BigInt(id), 24);
  bytes.writeUInt32LE(size, 32);
  bytes.writeUInt32LE(8192, 36);
  return bytes;
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

export function manifestOf({ files, told = files, range, edit = (text) => text }: BackupParts): Buffer {
  const lines = Object.entries(told).map(
    ([path, bytes]) =>
      `{ "Path": "${path}", "Size": ${bytes.length}, "Last-Modified": "2026-01-01 00:00:00 GMT", "Checksum-Algorithm": "SHA256", "Checksum": "${sha256(bytes)}" }`,
  );
  const { timeline, start, end } = range ?? { timeline: 1, start: '0/200028', end: '0/200100' };
  const log = `{ "Timeline": ${timeline}, "Start-LSN": "${start}", "End-LSN": "${end}" }`;
  const text = `{ "PostgreSQL-Backup-Manifest-Version": 2,\n"System-Identifier": ${systemId},\n"Files": [\n${lines.join(',\n')}],\n"WAL-Ranges": [\n${log}\n],\n`;
  const edited = Buffer.from(edit(text));
  return Buffer.concat([edited, Buffer.from(`"Manifest-Checksum": "${sha256(edited)}"}\n`)]);
}

export function tarFile(name: string, content: Buffer): Buffer {
  return Buffer.concat([fileHeader(name, content.length), content, paddingOf(content.length)]);
}

/** A directory, or a link of some target. */
export function tarOther(name: string, type: '5' | '2' | '1' | '3', target = ''): Buffer {
  const header = fileHeader(name, 0);
  header.write(type, 156, 'latin1');
  header.write(target, 157, 'latin1');
  const sum = header.reduce((total, byte, i) => total + (i >= 148 && i < 156 ? 0x20 : byte), 0);
  header.write(sum.toString(8).padStart(6, '0'), 148, 'latin1');
  return header;
}

export const smallFiles = {
  PG_VERSION: Buffer.from('17\n'),
  backup_label: Buffer.from('START WAL LOCATION: 0/200028\n'),
  'base/1/1259': Buffer.alloc(20_000, 7),
  'base/1/empty': Buffer.alloc(0),
};

export const smallSegments = { '000000010000000000000002': walSegment(0x200000n) };

/** The archive of the server, without the manifest and without an end. */
export function serverTar({ files, segments = smallSegments }: BackupParts): Buffer {
  return Buffer.concat([
    tarOther('base', '5'),
    tarOther('base/1', '5'),
    tarOther('pg_wal', '5'),
    ...Object.entries(files).map(([name, bytes]) => tarFile(name, bytes)),
    ...Object.entries(segments).map(([name, bytes]) => tarFile(`pg_wal/${name}`, bytes)),
  ]);
}

export function smallBackup(parts: Partial<BackupParts> = {}): Buffer {
  const whole = { files: smallFiles, ...parts };
  return Buffer.concat([serverTar(whole), tarFile('backup_manifest', manifestOf(whole)), tarEnd]);
}
