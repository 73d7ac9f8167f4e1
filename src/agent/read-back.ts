/**
 * The data of a backup as it comes out of the target: decrypted, counted, hashed, and held against the database's own
 * checksum. A piece is handed out when its frame is known to be what was written; that everything is there is only known
 * at the end, so nobody uses the first piece before the last one has come.
 */
import { decrypted, FrameRefused } from '../backup/frames.ts';
import type { BackupEngine } from '../backup/identity.ts';
import { type Manifest, type OpenedManifest, ownerOf } from '../backup/manifest.ts';
import { dataKey, type FoundBackup } from './catalogue.ts';
import { checkedSnapshot } from './etcd-snapshot.ts';
import { Failure } from './failure.ts';
import { checkedRdb } from './rdb.ts';
import { tally } from './tally.ts';
import type { Target } from './target/target.ts';

/** @throws Failure Tampered, and what the target does */
export async function* dataOf(
  target: Target,
  { path, manifest, key }: FoundBackup,
): AsyncGenerator<Uint8Array, void, undefined> {
  const tampered = (why: string): Failure =>
    new Failure('Tampered', `the data in ${path} is not what was written: ${why}`);
  const [stored, plain] = [tally(), tally()];
  try {
    yield* checkedFor(manifest.engine, plain.of(opened(stored.of(target.get(dataKey(path))), manifest, key)), tampered);
  } catch (error) {
    if (error instanceof FrameRefused) throw tampered(error.message);
    if (error instanceof Failure && error.reason === 'NotFound') throw tampered('it is not there');
    throw error;
  }
  const { plainBytes, plainSha256, storedBytes, storedSha256 } = manifest.data;
  if (stored.bytes !== storedBytes) throw tampered(`${stored.bytes} bytes are stored, and ${storedBytes} were`);
  if (stored.sha256() !== storedSha256) throw tampered('what is stored has another SHA-256');
  if (plain.bytes !== plainBytes || plain.sha256() !== plainSha256) throw tampered('it has another SHA-256');
}

function opened(
  content: AsyncIterable<Uint8Array>,
  manifest: Manifest,
  key: OpenedManifest['key'],
): AsyncIterable<Uint8Array> {
  return key === undefined ? content : decrypted(content, { key, owner: ownerOf(manifest) });
}

export function checkedFor(
  engine: BackupEngine,
  content: AsyncIterable<Uint8Array>,
  fault: (why: string) => Failure,
): AsyncIterable<Uint8Array> {
  switch (engine) {
    case 'redis':
      return checkedRdb(content, fault);
    case 'etcd':
      return checkedSnapshot(content, fault);
  }
}

export async function verify(target: Target, backup: FoundBackup): Promise<void> {
  // The checks are made on the way.
  for await (const _ of dataOf(target, backup));
}
