/** What is kept in a place, read as the agent reads it, and never through a fault. */
import { createHash } from 'node:crypto';
import { verifiedData } from '../../../src/agent/verified-data.ts';
import type { KeyRing } from '../../../src/backup/key.ts';
import { type Manifest, type OpenedManifest, parseManifest } from '../../../src/backup/manifest.ts';
import { drivers } from '../../../src/engines/drivers.ts';
import type { EtcdState } from '../../../src/engines/etcd/backup/schemas.ts';
import type { RedisState } from '../../../src/engines/redis/backup/schemas.ts';
import type { Volume } from '../world/workload.ts';
import type { Contents, Database } from './database.ts';
import { driversFor } from './drivers.ts';
import { simulatedTarget } from './target.ts';
import { objectsIn } from './vault.ts';

export interface KeptBackup {
  readonly place: Volume;
  /** Of its folder, with the prefix. */
  readonly path: string;
  readonly manifest: Manifest;
  readonly key: OpenedManifest['key'];
}

const shape = /^(?:(.*)\/)?([^/]+\/[^/]+\/[^/]+\/[^/]+)\/manifest\.json$/;

/** Backups whose manifest is sealed and whose data is what the manifest says. */
export function wholeBackups(place: Volume, keys: KeyRing): readonly KeptBackup[] {
  const found: KeptBackup[] = [];
  for (const [path, { content }] of objectsIn(place)) {
    const [, prefix, folder] = shape.exec(path) ?? [];
    if (folder === undefined) continue;
    const held = path.slice(0, -'/manifest.json'.length);
    const opened = opens(content.toString(), folder, keys);
    const stored = place.get(`${held}/data`) as { readonly content: Buffer } | undefined;
    if (opened === undefined || stored === undefined || prefix === undefined) continue;
    const sum = createHash('sha256').update(stored.content).digest('hex');
    if (sum === opened.manifest.data.storedSha256) found.push({ place, path: held, ...opened });
  }
  return found;
}

/** With the keys or, where it is not encrypted, without. */
function opens(content: string, folder: string, keys: KeyRing): OpenedManifest | undefined {
  for (const ring of [keys, undefined]) {
    try {
      return parseManifest(content, folder, ring, drivers);
    } catch {
      // With the other one, or not at all.
    }
  }
  return undefined;
}

/** Decrypted, and held against every checksum. @throws Failure where one does not fit */
export async function contentsOf({ place, path, manifest, key }: KeptBackup, database: Database): Promise<Contents> {
  const folder = path.split('/').slice(-4).join('/');
  const prefix = path.slice(0, -folder.length - 1);
  const reach = (): Promise<void> => Promise.resolve();
  const target = simulatedTarget({ place, prefix, reach, now: () => 0, removing: () => undefined });
  const pieces: Uint8Array[] = [];
  for await (const piece of verifiedData({ target, drivers: driversFor(database) }, { path: folder, manifest, key }))
    pieces.push(piece);
  return database.read(Buffer.concat(pieces));
}

/** The backups among these that hold less than a tenth of the keys that one before them held, or none. */
export function emptiedAmong(backups: readonly KeptBackup[]): ReadonlySet<KeptBackup> {
  const found = new Set<KeptBackup>();
  let most = 0;
  for (const backup of [...backups].sort((a, b) => (a.manifest.id < b.manifest.id ? -1 : 1))) {
    const keys = keysIn(backup.manifest);
    if (keys * 10 < most) found.add(backup);
    most = Math.max(most, keys);
  }
  return found;
}

/** The number that tells of a loss: of an etcd whose manifest counts none, as many as there can be. */
function keysIn({ state }: Manifest): number {
  if (state.engine === 'etcd') return (state as EtcdState).keys ?? Number.MAX_SAFE_INTEGER;
  // It counts bytes, of what is in no form of its own here.
  if (state.engine === 'postgres') return Number.MAX_SAFE_INTEGER;
  const counted = state as RedisState;
  return 'shards' in counted ? 0 : (counted.firstDatabase?.keys ?? 0);
}
