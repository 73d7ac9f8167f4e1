/**
 * What a node holds, as a stream of writes: keys, and the offset and id of the history that led to them.
 *
 * A history is recognised by its id. A node that becomes primary begins a new one and remembers the old id up to the
 * offset where they part, so that its fellow replicas can go on where they stood instead of copying everything.
 */

import type { Random } from '../../../src/system/clock.ts';
import { hexId } from './identity.ts';

export type Keys = Map<string, string>;

/** One write in the stream. Its bytes end at `end`. */
interface Entry {
  readonly end: number;
  /** Undefined for what changes nothing but the offset. */
  readonly args: readonly string[] | undefined;
}

const noHistory = '0'.repeat(40);

/** Bytes of a command on the wire. */
function bytesOf(args: readonly string[]): number {
  let bytes = 3 + String(args.length).length;
  for (const arg of args) {
    const length = Buffer.byteLength(arg);
    bytes += 5 + String(length).length + length;
  }
  return bytes;
}

/** What a write command does to the keys. The reply is the caller's business. */
export function apply(keys: Keys, args: readonly string[]): void {
  switch (args[0]?.toUpperCase()) {
    case 'SET':
      keys.set(args[1] ?? '', args[2] ?? '');
      return;
    case 'MSET':
      for (let i = 1; i < args.length; i += 2) keys.set(args[i] ?? '', args[i + 1] ?? '');
      return;
    case 'DEL':
      for (const key of args.slice(1)) keys.delete(key);
      return;
    case 'FLUSHALL':
      keys.clear();
      return;
    default:
      throw new Error(`no write command: ${args[0]}`);
  }
}

export class Dataset {
  keys: Keys;
  replid: string;
  replid2: string = noHistory;
  /** The first offset that the former history does not share; -1 without one. */
  secondOffset = -1;
  offset = 0;
  #backlog: Entry[] | undefined;
  /** The offset before the first entry of the backlog. */
  #backlogStart = 0;
  readonly #random: Random;

  constructor(keys: Keys, random: Random) {
    this.keys = keys;
    this.#random = random;
    this.replid = hexId(random);
  }

  /** From the first replica on, the stream is kept. Before that, it is not even counted. */
  get hasBacklog(): boolean {
    return this.#backlog !== undefined;
  }

  openBacklog(): void {
    if (this.#backlog !== undefined) return;
    // A new history: what was written before it was kept is in no stream.
    this.replid = hexId(this.#random);
    this.replid2 = noHistory;
    this.secondOffset = -1;
    this.#backlog = [];
    this.#backlogStart = this.offset;
  }

  /** Executes a write of this node's own clients. */
  write(args: readonly string[]): void {
    apply(this.keys, args);
    this.note(bytesOf(args), args);
  }

  /** Bytes in the stream that are no write, such as the primary's pings. */
  note(bytes: number, args?: readonly string[]): void {
    if (this.#backlog === undefined) return;
    this.offset += bytes;
    this.#backlog.push({ end: this.offset, args });
  }

  /** Drops what is more than `bytes` back. */
  trimBacklog(bytes: number): void {
    const backlog = this.#backlog;
    if (backlog === undefined || this.offset - this.#backlogStart <= bytes) return;
    let first = 0;
    while ((backlog[first]?.end ?? Number.POSITIVE_INFINITY) < this.offset - bytes) first++;
    if (first === 0) return;
    this.#backlogStart = backlog[first - 1]?.end ?? this.#backlogStart;
    backlog.splice(0, first);
  }

  /** Whether a node that stands at `offset` of the history `replid` can go on from here. */
  canContinue(replid: string, offset: number): boolean {
    if (this.#backlog === undefined || offset < this.#backlogStart || offset > this.offset) return false;
    return replid === this.replid || (replid === this.replid2 && offset < this.secondOffset);
  }

  /** Takes over what `source` has beyond this. Returns the writes, oldest first. */
  follow(source: Dataset): readonly (readonly string[])[] {
    const entries = source.#backlog ?? [];
    let first = entries.length;
    while (first > 0 && (entries[first - 1]?.end ?? 0) > this.offset) first--;
    const writes: (readonly string[])[] = [];
    for (const entry of entries.slice(first)) {
      if (entry.args !== undefined) {
        apply(this.keys, entry.args);
        writes.push(entry.args);
      }
      this.offset = entry.end;
      this.#backlog?.push(entry);
    }
    return writes;
  }

  /** Adopts the id of a history that this one is the beginning of. True where the id is another. */
  adopt(source: Dataset): boolean {
    if (this.replid === source.replid) return false;
    this.replid2 = this.replid;
    this.secondOffset = this.offset + 1;
    this.replid = source.replid;
    return true;
  }

  /** Becomes a copy as of a snapshot. */
  become(snapshot: Snapshot): void {
    this.keys = snapshot.keys;
    this.replid = snapshot.replid;
    this.replid2 = noHistory;
    this.secondOffset = -1;
    this.offset = snapshot.offset;
    this.#backlog = [];
    this.#backlogStart = this.offset;
  }

  snapshot(): Snapshot {
    return { keys: new Map(this.keys), replid: this.replid, offset: this.offset };
  }

  /** Begins a history of its own, as a replica that becomes primary does. */
  depart(): void {
    this.replid2 = this.replid;
    this.secondOffset = this.offset + 1;
    this.replid = hexId(this.#random);
  }
}

export interface Snapshot {
  readonly keys: Keys;
  readonly replid: string;
  readonly offset: number;
}
