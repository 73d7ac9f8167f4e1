/**
 * The manifest that a server writes of its own backup: each file with its size and SHA-256, and what of the log it takes
 * to make them consistent. Its last line is a SHA-256 of the lines before.
 */
import { createHash } from 'node:crypto';
import { type Lsn, parseLsn } from '../client/lsn.ts';

export const manifestName = 'backup_manifest';

/**
 * About 230,000 files, as of some 70,000 tables. It is read as a whole, and the agent has 256 MiB: more of them are refused.
 */
export const longestManifest = 32 * 1024 * 1024;

/** Thrown for what is no manifest. */
export class NotManifest extends Error {
  override readonly name = 'NotManifest';
}

export interface BackupManifest {
  /** By path from the data directory; bytes as they are, one in each character. */
  readonly files: ReadonlyMap<string, { readonly size: number; readonly sha256: string }>;
  readonly walRanges: readonly { readonly timeline: number; readonly start: Lsn; readonly end: Lsn }[];
  /** From PostgreSQL 17 on. */
  readonly systemId?: string;
}

const lastKey = '"Manifest-Checksum"';

/** Throws NotManifest. */
export function parseManifest(content: Buffer): BackupManifest {
  const body = content.lastIndexOf(lastKey);
  const told = /^"Manifest-Checksum": "([0-9a-f]{64})"\}\n?$/.exec(content.toString('latin1', Math.max(body, 0)))?.[1];
  if (told === undefined) throw new NotManifest('the manifest ends before its checksum');
  const own = createHash('sha256').update(content.subarray(0, body)).digest('hex');
  if (own !== told) throw new NotManifest('the checksum (SHA-256) of the manifest does not fit');
  const json = parsed(content);
  const { 'PostgreSQL-Backup-Manifest-Version': version, 'System-Identifier': systemId } = json;
  if (version !== 1 && version !== 2) throw new NotManifest(`the manifest is of version ${String(version)}`);
  const found = new Map<string, { readonly size: number; readonly sha256: string }>();
  for (const file of objectsIn(json.Files)) {
    const [path, entry] = fileIn(file);
    if (found.has(path)) throw new NotManifest(`the manifest names ${JSON.stringify(path)} twice`);
    found.set(path, entry);
  }
  return {
    files: found,
    walRanges: objectsIn(json['WAL-Ranges']).map(rangeIn),
    // A number with more digits than JavaScript keeps: it is taken from the text.
    ...(systemId === undefined ? {} : { systemId: identifierIn(content) }),
  };
}

type Json = Readonly<Record<string, unknown>>;

function parsed(content: Buffer): Json {
  try {
    const json: unknown = JSON.parse(content.toString('utf8'));
    if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json as Json;
  } catch (cause) {
    throw new NotManifest('the manifest is no JSON', { cause });
  }
  throw new NotManifest('the manifest is no object');
}

function objectsIn(value: unknown): readonly Json[] {
  const isList = Array.isArray(value) && value.every((each) => typeof each === 'object' && each !== null);
  if (!isList) throw new NotManifest('a list in the manifest is missing');
  return value as readonly Json[];
}

function fileIn(file: Json): [string, { readonly size: number; readonly sha256: string }] {
  const { Path: path, 'Encoded-Path': encoded, Size: size, 'Checksum-Algorithm': algorithm, Checksum: sha256 } = file;
  const name =
    typeof path === 'string'
      ? Buffer.from(path).toString('latin1')
      : Buffer.from(typeof encoded === 'string' ? encoded : '', 'hex').toString('latin1');
  const isWhole = typeof size === 'number' && typeof sha256 === 'string' && algorithm === 'SHA256' && name !== '';
  if (!isWhole) throw new NotManifest('a file in the manifest has no path, size or SHA-256');
  return [name, { size, sha256 }];
}

function rangeIn({ Timeline: timeline, 'Start-LSN': from, 'End-LSN': to }: Json) {
  const [start, end] = [from, to].map((each) => (typeof each === 'string' ? parseLsn(each) : undefined));
  if (typeof timeline !== 'number' || start === undefined || end === undefined) {
    throw new NotManifest('a range of the log in the manifest is none');
  }
  return { timeline, start, end };
}

function identifierIn(content: Buffer): string {
  const [, digits] = /"System-Identifier": (\d{1,20})/.exec(content.toString('latin1', 0, 1024)) ?? [];
  if (digits === undefined) throw new NotManifest('the system identifier in the manifest is none');
  return digits;
}
