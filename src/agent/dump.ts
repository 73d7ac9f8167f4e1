/** What a source gives: the data as a stream, and what is to be known of it. */
import type { Manifest } from '../backup/manifest.ts';
import type { BackupState } from '../backup/state.ts';

export interface Dump {
  readonly engineVersion: string;
  readonly topology: Manifest['topology'];
  /** To be read once, to its end. It fails unless it is whole. */
  readonly content: AsyncIterable<Uint8Array>;
  /** What the data holds. To be asked for once the content has been read. */
  state(): BackupState;
  /** Ends the connection. */
  close(): void;
}
