/**
 * What the agent knows of an engine's log beside its backups: how it is followed without a gap, and which part of it a backup
 * needs. The agent's loop, the form of what is stored, and retention are the same for all engines.
 *
 * A log is a sequence of pieces that only grow: files of WAL, binary logs, segments of a topic.
 */
import type { EngineSource, EngineState } from '../../backup/engine-data.ts';
import type { AgentContext } from './agent-context.ts';

/** A piece as the store has it. */
export interface StoredPiece {
  /** Words of letters and digits, with slashes between them. */
  readonly name: string;
  /** Nothing will be added to it. */
  readonly isWhole: boolean;
}

export interface LogStore {
  /** Each piece once, in no order. */
  list(): Promise<readonly StoredPiece[]>;
  /** What is there of a piece, checked. @throws Failure NotFound, Tampered */
  read(name: string): Promise<Buffer>;
}

/** Everything of a piece from its beginning: a later one of the same name begins with the same bytes. */
export interface LogPiece extends StoredPiece {
  readonly kind: 'piece';
  readonly content: Buffer;
  /** The end of it, in the engine's words. */
  readonly end: string;
}

/** The database no longer has what comes next. What follows begins later. */
export interface LogGap {
  readonly kind: 'gap';
  readonly message: string;
}

/** Connected, and whatever there is comes. */
export interface LogOpened {
  readonly kind: 'opened';
  readonly message: string;
}

export type LogEvent = LogPiece | LogGap | LogOpened;

export interface LogArchive<Source = EngineSource, State extends EngineState = EngineState> {
  /**
   * Goes on where the store ends. A piece counts as stored when the next event is asked for: only then may the database
   * remove it. Ends by failing only.
   *
   * @throws Failure
   */
  follow(source: Source, store: LogStore, context: AgentContext): AsyncGenerator<LogEvent, never, undefined>;
  /** Those of the backups from which the stored log leads to its end without a gap. */
  replayable(backups: readonly State[], store: LogStore): Promise<readonly State[]>;
  /** Names of the pieces that none of these backups needs. Whatever is not known is needed. */
  unneeded(backups: readonly State[], pieces: readonly StoredPiece[]): readonly string[];
}
