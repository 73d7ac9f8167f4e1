/** What a source gives: the data as a stream, and what is to be known of it. */

import type { EngineState } from '../../backup/engine-data.ts';
import type { Manifest } from '../../backup/manifest.ts';

export interface Dump<State extends EngineState = EngineState> {
  readonly engineVersion: string;
  readonly topology: Manifest['topology'];
  /** To be read once, to its end. It fails unless it is whole. */
  readonly content: AsyncIterable<Uint8Array>;
  /**
   * Of a database whose data is in several parts, each with a member of its own: those after `content`, in order. Each is asked for once the one
   * before has been read; it ends, or fails, after the last.
   */
  readonly others?: AsyncIterable<AsyncIterable<Uint8Array>>;
  /** What the data holds. To be asked for once everything has been read. */
  state(): State;
  /** Ends the connection that is open. */
  close(): void;
}
