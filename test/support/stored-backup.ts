/** A backup as the agent would have written it, without a database: in a directory, to be read back or tampered with. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { encrypted, frameScheme } from '../../src/backup/frames.ts';
import { parseKeys } from '../../src/backup/key.ts';
import { folderOf, type Manifest, ownerOf, serializeManifest } from '../../src/backup/manifest.ts';
import { collectedBytes } from './collected.ts';
import { smallDump, smallSnapshot } from './dumps.ts';
import { goodManifest } from './manifests.ts';

export const keyText = Buffer.alloc(32, 1).toString('base64');
const [key] = parseKeys(keyText);

export interface BackupStore {
  readonly home: string;
  /** As a task names it. */
  readonly target: object;
  readonly keyFile: string;
  /** Where the folder of this backup is. */
  pathOf(manifest: Pick<Manifest, 'cluster' | 'id'>): string;
  /** Stores it and says what its manifest says. */
  add(
    change?: Partial<Manifest>,
    options?: { readonly isEncrypted?: boolean; readonly content?: Buffer },
  ): Promise<Manifest>;
  /** Everything in the target. */
  files(): readonly string[];
  close(): void;
}

export function openStore(): BackupStore {
  const home = mkdtempSync(join(tmpdir(), 'backup-store-'));
  const root = join(home, 'claim', 'backups');
  mkdirSync(root, { recursive: true });
  writeFileSync(join(home, 'key'), `${keyText}\n`);
  const pathOf: BackupStore['pathOf'] = (manifest) => join(root, folderOf(manifest));
  return {
    home,
    target: { type: 'claim', directory: join(home, 'claim'), prefix: 'backups' },
    keyFile: join(home, 'key'),
    pathOf,
    async add(change = {}, { isEncrypted = true, content } = {}) {
      const identity = { ...goodManifest, ...change };
      const plain = content ?? (identity.engine === 'redis' ? smallDump() : smallSnapshot());
      const once = async function* (): AsyncGenerator<Uint8Array> {
        yield plain;
      };
      const salt = Buffer.alloc(32, 4);
      const stored = isEncrypted
        ? await collectedBytes(encrypted(once(), { key, owner: ownerOf(identity), salt }))
        : plain;
      const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
      const manifest: Manifest = {
        ...identity,
        data: {
          plainBytes: plain.length,
          plainSha256: sha256(plain),
          storedBytes: stored.length,
          storedSha256: sha256(stored),
        },
        encryption: isEncrypted ? { scheme: frameScheme, keyId: key.id } : { scheme: 'none' },
      };
      const data = join(pathOf(manifest), 'data');
      mkdirSync(dirname(data), { recursive: true });
      writeFileSync(data, stored);
      writeFileSync(join(dirname(data), 'manifest.json'), serializeManifest(manifest, isEncrypted ? key : undefined));
      return manifest;
    },
    files: () =>
      readdirSync(root, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
        .sort(),
    close: () => rmSync(home, { recursive: true }),
  };
}

/** The manifest of an EtcdCluster's backup, otherwise like the other one. */
export const etcdManifest: Partial<Manifest> = {
  engine: 'etcd',
  engineVersion: '3.6.16',
  cluster: { namespace: 'apps', kind: 'EtcdCluster', name: 'db', uid: 'uid-2' },
  state: { engine: 'etcd', clusterId: '1', memberId: '2', revision: '3' },
};
