/**
 * A backup passes through, and is compared with the manifest that the server has written of it: each file with its size
 * and SHA-256, none missing and none too many, and the log that makes them consistent.
 */
import { createHash, type Hash } from 'node:crypto';
import type { Failure } from '../../../engine/driver/failure.ts';
import { formatLsn, isSegmentSize, type Lsn, segmentName, segmentStart } from '../client/lsn.ts';
import { type BackupManifest, longestManifest, manifestName, NotManifest, parseManifest } from './backup-manifest.ts';
import { pathOf } from './safe-path.ts';
import { segmentHeaderBytes, segmentHeaderIn } from './segment-header.ts';
import { NotTar, type TarEntry, TarReader } from './tar.ts';

export interface BackupFacts {
  readonly manifest: BackupManifest;
  /** Of all files in the manifest. */
  readonly bytes: number;
  readonly segmentBytes: number;
  /** From the files of the log. */
  readonly systemId: string;
}

type Fault = (why: string) => Failure;

/** Thrown within this file only: the caller gets a `Failure` with its words. */
class Unsound extends Error {}

/** The same content. At its end `learn` is called, or it fails: with what `fault` makes of the words. */
export async function* checkedBackup(
  content: AsyncIterable<Uint8Array>,
  fault: Fault,
  learn: (facts: BackupFacts) => void = () => undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = new TarReader();
  const seen = new SeenFiles();
  const told = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      if (error instanceof NotTar || error instanceof NotManifest || error instanceof Unsound)
        throw fault(error.message);
      throw error;
    }
  };
  for await (const piece of content) {
    told(() => {
      for (const event of reader.push(Buffer.from(piece.buffer, piece.byteOffset, piece.length))) {
        if (event.kind === 'entry') seen.begin(event.entry);
        else if (event.kind === 'data') seen.add(event.raw);
      }
    });
    yield piece;
  }
  told(() => {
    reader.finish();
    learn(seen.compared());
  });
}

const isLog = (name: string): boolean => name.startsWith('pg_wal/');
const isSegment = (name: string): boolean => /^pg_wal\/[0-9A-F]{24}$/.test(name);

interface Seen {
  readonly size: number;
  /** As a string of 32 characters: there are many. */
  readonly sha256: string;
}

class SeenFiles {
  readonly #files = new Map<string, Seen>();
  readonly #segments = new Map<string, { readonly size: number; readonly head: Buffer }>();
  readonly #manifest: Buffer[] = [];
  #current: { readonly entry: TarEntry; readonly hash: Hash; readonly head: Buffer[]; missing: number } | undefined;
  #hasManifest = false;

  begin(entry: TarEntry): void {
    const name = JSON.stringify(entry.name);
    if (this.#hasManifest) throw new Unsound(`${name} comes after the manifest`);
    if (entry.type === 'symlink') throw new Unsound(`${name} is a link: tablespaces are not supported`);
    // What could not be put back is no backup.
    pathOf(entry);
    if (entry.type === 'directory') return;
    if (this.#files.has(entry.name)) throw new Unsound(`${name} is there twice`);
    this.#hasManifest = entry.name === manifestName;
    if (this.#hasManifest && entry.size > longestManifest) throw new Unsound('the manifest is too long');
    this.#current = { entry, hash: createHash('sha256'), head: [], missing: entry.size };
    if (entry.size === 0) this.#end();
  }

  add(bytes: Buffer): void {
    const current = this.#current;
    if (current === undefined) throw new Unsound('there are contents of no file');
    if (this.#hasManifest) this.#manifest.push(Buffer.from(bytes));
    else current.hash.update(bytes);
    const had = current.entry.size - current.missing;
    if (had < segmentHeaderBytes && isSegment(current.entry.name)) {
      current.head.push(Buffer.from(bytes.subarray(0, segmentHeaderBytes - had)));
    }
    current.missing -= bytes.length;
    if (current.missing === 0) this.#end();
  }

  #end(): void {
    const { entry, hash, head } = this.#current ?? {};
    this.#current = undefined;
    if (entry === undefined || hash === undefined || this.#hasManifest) return;
    this.#files.set(entry.name, { size: entry.size, sha256: hash.digest('binary') });
    if (isSegment(entry.name)) this.#segments.set(entry.name, { size: entry.size, head: Buffer.concat(head ?? []) });
  }

  compared(): BackupFacts {
    if (!this.#hasManifest) throw new Unsound('the manifest of the server is missing');
    const manifest = parseManifest(Buffer.concat(this.#manifest.splice(0)));
    let bytes = 0;
    for (const [name, { size, sha256 }] of manifest.files) {
      const found = this.#files.get(name);
      if (found === undefined) throw new Unsound(`${JSON.stringify(name)} is missing`);
      if (found.size !== size) throw new Unsound(`${JSON.stringify(name)} has ${found.size} bytes, and had ${size}`);
      if (found.sha256 !== Buffer.from(sha256, 'hex').toString('latin1')) {
        throw new Unsound(`${JSON.stringify(name)} has another SHA-256`);
      }
      bytes += size;
    }
    for (const name of this.#files.keys()) {
      if (!manifest.files.has(name) && !isLog(name))
        throw new Unsound(`${JSON.stringify(name)} is not in the manifest`);
    }
    return { manifest, bytes, ...this.#comparedLog(manifest) };
  }

  /** Whatever of the log the files need is there, and is of one database cluster. */
  #comparedLog({ walRanges, systemId }: BackupManifest): { readonly segmentBytes: number; readonly systemId: string } {
    const [first] = this.#segments.values();
    const segmentBytes = first?.size ?? 0;
    if (!isSegmentSize(segmentBytes)) throw new Unsound('it holds no log: nothing could make it consistent');
    if (walRanges.length === 0) throw new Unsound('the manifest does not say which part of the log is needed');
    let own = systemId;
    for (const { timeline, start, end } of walRanges) {
      for (let at: Lsn = segmentStart(start, segmentBytes); at < end; at += BigInt(segmentBytes)) {
        const name = segmentName(timeline, at, segmentBytes);
        const segment = this.#segments.get(`pg_wal/${name}`);
        if (segment === undefined) throw new Unsound(`the log is not whole: ${name} is missing`);
        const header = segmentHeaderIn(segment.head);
        const isIt = segment.size === segmentBytes && header?.segmentBytes === segmentBytes && header.start === at;
        if (!isIt) throw new Unsound(`${name} is not the log from ${formatLsn(at)} on`);
        own ??= header.systemId;
        if (header.systemId !== own) throw new Unsound(`${name} is of another database cluster`);
      }
    }
    return { segmentBytes, systemId: own ?? '' };
  }
}
