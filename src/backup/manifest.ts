/**
 * The manifest of a backup: what makes a folder one. It is written last, and seals itself.
 *
 * With a key the seal is an HMAC, and nobody without the key can change a word; without one it is a checksum, which
 * notices accidents only. The seal is over the canonical text, so that whoever formats the file breaks nothing.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { schemaViolations } from '../api/check.ts';
import { prune } from '../api/prune.ts';
import type { StructuralSchema } from '../api/schema.ts';
import { displayPath } from '../api/violation.ts';
import type { BackupSummary } from './agent-result.ts';
import {
  type DataSummary,
  type EngineFormat,
  type EngineFormats,
  type EngineState,
  engineNameSchema,
  mostParts,
  partedVersion,
} from './engine-data.ts';
import { frameScheme } from './frames.ts';
import { type ClusterIdentity, clusterFolder, clusterIdentitySchema, type Purpose, purposeSchema } from './identity.ts';
import { type BackupKey, type KeyRing, sealKey } from './key.ts';

/** Format 2 has a sequence number, and the number of keys of an etcd. Format 1 is read as ever. */
export const manifestVersion = 2;
/** Objects in the folder of a backup. */
export const manifestObject = 'manifest.json';
/** The data; of a backup in several parts, part by part: `data-0`, `data-1`. */
export const dataObject = 'data';
/** No manifest is near this long, also with many parts; whatever is longer is not read. */
export const maxManifestBytes = 256 * 1024;

/** Of the data as the database gave it, and as it is stored. */
export interface StoredData {
  readonly plainBytes: number;
  readonly plainSha256: string;
  readonly storedBytes: number;
  readonly storedSha256: string;
}

export interface Manifest {
  readonly formatVersion: number;
  readonly id: string;
  /** Higher than that of every backup of the cluster that had been made before. Absent in format 1. */
  readonly sequence?: number;
  readonly engine: string;
  /** As the process said: `8.0.5`. */
  readonly engineVersion: string;
  readonly cluster: ClusterIdentity;
  readonly purpose: Purpose;
  readonly topology: {
    /** Members that answered. */
    readonly members: number;
    /** The one that the data came from, and its role then. */
    readonly source: string;
    readonly role: string;
  };
  /** RFC 3339, in UTC. */
  readonly startedAt: string;
  readonly completedAt: string;
  /** Of all parts, one after the other, where there are several. */
  readonly data: StoredData;
  /** Absent where the data is one object. */
  readonly parts?: readonly StoredData[];
  readonly encryption: { readonly scheme: typeof frameScheme; readonly keyId: string } | { readonly scheme: 'none' };
  readonly state: EngineState;
  /** Of the agent: `clusterwright 0.1.0`. */
  readonly writtenBy: string;
}

const text = { type: 'string', minLength: 1, maxLength: 253 } as const;
const time = {
  type: 'string',
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$',
  maxLength: 40,
} as const;
const bytes = { type: 'integer', minimum: 0 } as const;
const sha256 = { type: 'string', pattern: '^[0-9a-f]{64}$' } as const;
const storedData = {
  type: 'object',
  required: ['plainBytes', 'plainSha256', 'storedBytes', 'storedSha256'],
  properties: { plainBytes: bytes, plainSha256: sha256, storedBytes: bytes, storedSha256: sha256 },
} as const satisfies StructuralSchema;

function schemaOf({ schemas }: EngineFormat, formatVersion: number): StructuralSchema {
  const isFirst = formatVersion === 1;
  const isParted = formatVersion === partedVersion;
  return {
    type: 'object',
    required: [
      'formatVersion',
      'id',
      ...(isFirst ? [] : ['sequence']),
      'engine',
      'engineVersion',
      'cluster',
      'purpose',
      'topology',
      'startedAt',
      'completedAt',
      'data',
      ...(isParted ? ['parts'] : []),
      'encryption',
      'state',
      'writtenBy',
    ],
    properties: {
      formatVersion: { type: 'integer' },
      id: { type: 'string', pattern: '^[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}$' },
      ...(isFirst ? {} : { sequence: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER - 1 } }),
      engine: engineNameSchema,
      engineVersion: text,
      cluster: clusterIdentitySchema,
      purpose: purposeSchema,
      topology: {
        type: 'object',
        required: ['members', 'source', 'role'],
        properties: {
          members: { type: 'integer', minimum: 1 },
          source: text,
          role: { type: 'string', pattern: '^[a-z]+$', maxLength: 32 },
        },
      },
      startedAt: time,
      completedAt: time,
      data: storedData,
      ...(isParted ? { parts: { type: 'array', minItems: 1, maxItems: mostParts, items: storedData } } : {}),
      encryption: {
        type: 'object',
        required: ['scheme'],
        properties: { scheme: { type: 'string', enum: [frameScheme, 'none'] }, keyId: text },
      },
      state: schemas.state(formatVersion),
      writtenBy: text,
    },
  };
}

export type ManifestFault = 'Tampered' | 'OtherKey' | 'Unfit';

/** A manifest that must not be gone by. */
export class ManifestRefused extends Error {
  override readonly name = 'ManifestRefused';
  readonly fault: ManifestFault;
  constructor(fault: ManifestFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }
}

/** Object keys in order, no space between: one text for one value. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, child]) => `${JSON.stringify(key)}:${canonical(child)}`).join(',')}}`;
}

function sealOf(manifest: unknown, key: BackupKey | undefined): string {
  const content = canonical(manifest);
  return key === undefined
    ? `sha256:${createHash('sha256').update(content).digest('hex')}`
    : `hmac-sha256:${createHmac('sha256', sealKey(key)).update(content).digest('hex')}`;
}

/** @param key the one that the data is encrypted with, if it is */
export function serializeManifest(manifest: Manifest, key: BackupKey | undefined): string {
  return `${JSON.stringify({ manifest, seal: sealOf(manifest, key) }, null, 2)}\n`;
}

export interface OpenedManifest {
  readonly manifest: Manifest;
  /** Opens the data; undefined where it is not encrypted. */
  readonly key: BackupKey | undefined;
}

/**
 * @param folder where it was found, below the prefix: a manifest belongs to one place
 * @param formats of the engines that there are
 * @param keys undefined where none is given: then only what is not encrypted is taken, and with keys only what is
 * @throws ManifestRefused
 */
export function parseManifest(
  content: string,
  folder: string,
  keys: KeyRing | undefined,
  formats: EngineFormats,
): OpenedManifest {
  const { manifest, seal } = envelope(content);
  const { formatVersion } = manifest;
  if (typeof formatVersion !== 'number') throw refusal('it has no format version');
  if (formatVersion > partedVersion) {
    const words = `its format has version ${formatVersion}, and this agent knows versions up to ${partedVersion}`;
    throw new ManifestRefused('Unfit', `the manifest cannot be read: ${words}`);
  }
  const format = formats.find(({ engine }) => engine === manifest.engine);
  if (format === undefined) throw unknownEngine(manifest.engine);
  const schema = schemaOf(format, formatVersion);
  const [fault] = [
    ...prune(schema, manifest).unknown.map((path) => `${displayPath(path)} is not known`),
    ...schemaViolations(schema, manifest).map(({ path, message }) => `${displayPath(path)} ${message}`),
  ];
  if (fault !== undefined) throw refusal(fault);
  const known = manifest as unknown as Manifest;
  const key = keyFor(known, keys);
  const [found, expected] = [Buffer.from(seal), Buffer.from(sealOf(manifest, key))];
  if (found.length !== expected.length || !timingSafeEqual(found, expected)) throw refusal('its seal does not fit it');
  if (folderOf(known) !== folder) throw refusal(`it belongs to ${folderOf(known)}, and was found in ${folder}`);
  if (known.cluster.kind !== format.kind) throw refusal('its kind and its engine do not fit');
  return { manifest: known, key };
}

function unknownEngine(engine: unknown): ManifestRefused {
  if (typeof engine !== 'string' || schemaViolations(engineNameSchema, engine).length > 0)
    return refusal('it names no engine');
  return new ManifestRefused('Unfit', `the backup is of the engine ${engine}, which this agent does not know`);
}

const refusal = (why: string, options?: ErrorOptions): ManifestRefused =>
  new ManifestRefused('Tampered', `the manifest is not what was written: ${why}`, options);

function envelope(content: string): { readonly manifest: Readonly<Record<string, unknown>>; readonly seal: string } {
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch (cause) {
    throw refusal('it is not JSON', { cause });
  }
  const { manifest, seal } = (value ?? {}) as { readonly manifest?: unknown; readonly seal?: unknown };
  if (typeof manifest !== 'object' || manifest === null || typeof seal !== 'string') {
    throw refusal('it has no manifest, or no seal');
  }
  return { manifest: manifest as Readonly<Record<string, unknown>>, seal };
}

function keyFor({ encryption }: Manifest, keys: KeyRing | undefined): BackupKey | undefined {
  if (encryption.scheme === 'none') {
    if (keys === undefined) return undefined;
    throw new ManifestRefused('OtherKey', 'the backup is not encrypted, although a key is given');
  }
  if (keys === undefined) throw new ManifestRefused('OtherKey', 'the backup is encrypted, and no key is given');
  const key = keys.find(({ id }) => id === encryption.keyId);
  if (key !== undefined) return key;
  const ids = keys.map(({ id }) => id).join(', ');
  const words = `it needs the key ${encryption.keyId}, and given are ${ids}`;
  throw new ManifestRefused('OtherKey', `the backup was encrypted with another key: ${words}`);
}

/** Nobody makes so many backups; there is room above it for those that count on. */
const maxClaimedSequence = 1e9;

/**
 * The number that a manifest claims, which has no key that is known or may not be what was written. Nothing else of it is gone
 * by: a number that is too high does no harm, and one that is given twice does.
 */
export function claimedSequence(content: string): number | undefined {
  try {
    const { sequence } = envelope(content).manifest;
    if (typeof sequence !== 'number' || !Number.isInteger(sequence)) return undefined;
    return sequence >= 1 && sequence <= maxClaimedSequence ? sequence : undefined;
  } catch (error) {
    if (error instanceof ManifestRefused) return undefined;
    throw error;
  }
}

/** Below the target's prefix. */
export function folderOf({ cluster, id }: Pick<Manifest, 'cluster' | 'id'>): string {
  return `${clusterFolder(cluster)}/${id}`;
}

/** Whose data it is, for the frames: the same data is refused in the folder of another backup, and in the place of another part. */
export function ownerOf({ cluster, id, engine }: Pick<Manifest, 'cluster' | 'id' | 'engine'>, part?: number): string {
  const owner = `${engine} ${clusterFolder(cluster)}/${id}`;
  return part === undefined ? owner : `${owner}/${partObject(part)}`;
}

/** Name of the object with the data, or with one part of it. */
export function partObject(part: number | undefined): string {
  return part === undefined ? dataObject : `${dataObject}-${part}`;
}

/** Numbers of its parts; one without a number where its data is one object. */
export function partsOf({ parts }: Pick<Manifest, 'parts'>): readonly (number | undefined)[] {
  return parts === undefined ? [undefined] : parts.map((_, part) => part);
}

/**
 * @param prefix of the target, empty or without slashes at its ends
 * @param about what the manifest's state says, in the engine's words
 */
export function summaryOf(manifest: Manifest, prefix: string, about: DataSummary): BackupSummary {
  const { id, engine, engineVersion, cluster, purpose, startedAt, completedAt, data, encryption } = manifest;
  return {
    id,
    folder: prefix === '' ? folderOf(manifest) : `${prefix}/${folderOf(manifest)}`,
    engine,
    engineVersion,
    cluster,
    purpose,
    startedAt,
    completedAt,
    plainBytes: data.plainBytes,
    storedBytes: data.storedBytes,
    plainSha256: data.plainSha256,
    encrypted: encryption.scheme !== 'none',
    ...about,
  };
}
