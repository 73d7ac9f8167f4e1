/**
 * The data of a backup as it comes out of the target: decrypted, counted, hashed, and held against the database's own
 * checksum. A piece is handed out when its frame is known to be what was written; that everything is there is only known
 * at the end, so nobody uses the first piece before the last one has come.
 */
import { decrypted, FrameRefused } from '../backup/frames.ts';
import { type Manifest, type OpenedManifest, ownerOf, partsOf } from '../backup/manifest.ts';
import { driverOf } from '../engine/driver/driver.ts';
import { Failure } from '../engine/driver/failure.ts';
import { meter } from '../engine/driver/meter.ts';
import { dataKey, type FoundBackup, type Repository } from './repository.ts';

/**
 * @param part its number, where there are several
 * @throws Failure Tampered, and what the target does
 */
export async function* verifiedData(
  { target, drivers }: Pick<Repository, 'target' | 'drivers'>,
  { path, manifest, key }: FoundBackup,
  part?: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const named = part === undefined ? '' : `part ${part} of `;
  const tampered = (why: string): Failure =>
    new Failure('Tampered', `${named}the data in ${path} is not what was written: ${why}`);
  const written = part === undefined ? manifest.data : manifest.parts?.[part];
  if (written === undefined) throw tampered('there is no such part');
  const [stored, plain] = [meter(), meter()];
  try {
    const content = plain.of(opened(stored.of(target.get(dataKey(path, part))), manifest, key, part));
    yield* driverOf(drivers, manifest.engine).check(content, tampered);
  } catch (error) {
    if (error instanceof FrameRefused) throw tampered(error.message);
    if (error instanceof Failure && error.reason === 'NotFound') throw tampered('it is not there');
    throw error;
  }
  const { plainBytes, plainSha256, storedBytes, storedSha256 } = written;
  if (stored.bytes !== storedBytes) throw tampered(`${stored.bytes} bytes are stored, and ${storedBytes} were`);
  if (stored.sha256() !== storedSha256) throw tampered('what is stored has another SHA-256');
  if (plain.bytes !== plainBytes || plain.sha256() !== plainSha256) throw tampered('it has another SHA-256');
}

function opened(
  content: AsyncIterable<Uint8Array>,
  manifest: Manifest,
  key: OpenedManifest['key'],
  part: number | undefined,
): AsyncIterable<Uint8Array> {
  return key === undefined ? content : decrypted(content, { key, owner: ownerOf(manifest, part) });
}

export async function verify(repository: Pick<Repository, 'target' | 'drivers'>, backup: FoundBackup): Promise<void> {
  // The checks are made on the way.
  for (const part of partsOf(backup.manifest)) for await (const _ of verifiedData(repository, backup, part));
}
