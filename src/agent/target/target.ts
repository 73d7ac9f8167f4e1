/**
 * Where backups are kept, as little of it as is needed. Keys are paths with slashes, below the place's prefix.
 *
 * Failures are of class Failure: TargetUnreachable, TargetRefused, NotFound.
 */

export interface StoredObject {
  readonly key: string;
  readonly bytes: number;
  /** When it was written last, by the target's clock; milliseconds since the epoch. */
  readonly modifiedAt: number;
}

export interface Target {
  /** Stores the whole content or nothing: where the content fails or the signal aborts, no object is there. */
  put(key: string, content: AsyncIterable<Uint8Array>): Promise<void>;
  /** Fails with NotFound where there is none, before the first piece. */
  get(key: string): AsyncIterable<Uint8Array>;
  /** Every object whose key begins with this folder; the empty one is everything. In no order. */
  list(folder: string): AsyncIterable<StoredObject>;
  /** Whether it was there or not. Works after the signal has aborted, too: it cleans up. */
  remove(key: string): Promise<void>;
  /** Ends what others have begun to write in the folder before this time, and never finished; says how many. */
  sweep(folder: string, before: number): Promise<number>;
  close(): void;
}
