/**
 * What the agent knows of an engine's log beside its backups: how it is followed without a gap, and which part of it a backup
 * needs. The agent's loop, the form of what is stored, and retention are the same for all engines.
 *
 * A log is a sequence of pieces that only grow: files of WAL, binary logs, segments of a topic.
 */
import type { Which } from '../../backup/agent-task.ts';
import type { EngineDestination, EngineSource, EngineState } from '../../backup/engine-data.ts';
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
  /** Where the log in it ends, in the engine's words. Absent: it describes the log, and has nothing of it. */
  readonly end?: string;
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

/** A backup, as far as it decides about it. */
export interface DatedState<State> {
  readonly id: string;
  /** RFC 3339 */
  readonly completedAt: string;
  readonly state: State;
}

export type ChosenBase =
  /** The newest, or the one that is named. */
  | { readonly kind: 'any' }
  | { readonly kind: 'one'; readonly id: string }
  | { readonly kind: 'none'; readonly reason: 'NotFound' | 'Ambiguous'; readonly message: string };

export interface LogArchive<
  Source = EngineSource,
  Destination = EngineDestination,
  State extends EngineState = EngineState,
> {
  /**
   * Goes on where the store ends. A piece counts as stored when the next event is asked for: only then may the database
   * remove it. Ends by failing only.
   *
   * @throws Failure
   */
  follow(source: Source, store: LogStore, context: AgentContext): AsyncGenerator<LogEvent, never, undefined>;
  /** Those of the backups from which the stored log leads to its end without a gap. */
  replayable(backups: readonly State[], store: LogStore): Promise<readonly State[]>;
  /** Whether the log is wanted besides the backup, and which backup to begin with. Absent destination fields: none of it. */
  choose(destination: Destination, which: Which, backups: readonly DatedState<State>[]): ChosenBase;
  /**
   * Puts what leads from the backup to where the destination wants it, once the backup itself is in place.
   *
   * @throws Failure NotFound, Ambiguous where part of it is missing
   */
  fetch(destination: Destination, backup: State, store: LogStore, context: AgentContext): Promise<void>;
  /** Names of the pieces that none of these backups needs. Whatever is not known is needed. */
  unneeded(backups: readonly State[], pieces: readonly StoredPiece[]): readonly string[];
}
