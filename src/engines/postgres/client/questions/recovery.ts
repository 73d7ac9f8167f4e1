/** Whether a server accepts writes or follows one that does, and how far it is. */
import type { Lsn } from '../lsn.ts';
import { boolean, digits, integer, lsn, optional, question } from '../question.ts';

export interface Recovery {
  /** It follows, or restores: it accepts no writes. */
  readonly inRecovery: boolean;
  readonly systemId: string;
  /** That of the last checkpoint. Of a primary that was promoted a moment ago it is the one before. */
  readonly checkpointTimeline: number;
  /** Only of a primary: the end of what it has written, and of what is on its disk. */
  readonly written: Lsn | undefined;
  readonly flushed: Lsn | undefined;
  /** The timeline that a primary writes. */
  readonly writtenTimeline: number | undefined;
  /** Only of a standby: what is on its disk, and what queries see. */
  readonly received: Lsn | undefined;
  readonly replayed: Lsn | undefined;
  readonly replayPaused: boolean | undefined;
  /** Milliseconds since the last transaction that was replayed was committed, by the server's clock. */
  readonly replayAgeMs: number | undefined;
}

/** Functions of the other role fail: each is called only where it answers. */
export const recoveryQuestion = question<Recovery>(
  `SELECT r AS "inRecovery",
  (SELECT system_identifier FROM pg_control_system()) AS "systemId",
  (SELECT timeline_id FROM pg_control_checkpoint()) AS "checkpointTimeline",
  CASE WHEN NOT r THEN pg_current_wal_lsn() END AS written,
  CASE WHEN NOT r THEN pg_current_wal_flush_lsn() END AS flushed,
  CASE WHEN NOT r THEN ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int END AS "writtenTimeline",
  CASE WHEN r THEN pg_last_wal_receive_lsn() END AS received,
  CASE WHEN r THEN pg_last_wal_replay_lsn() END AS replayed,
  CASE WHEN r THEN pg_is_wal_replay_paused() END AS "replayPaused",
  CASE WHEN r THEN (extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()) * 1000)::bigint END AS "replayAgeMs"
FROM pg_is_in_recovery() AS r`,
  {
    inRecovery: boolean,
    systemId: digits,
    checkpointTimeline: integer,
    written: optional(lsn),
    flushed: optional(lsn),
    writtenTimeline: optional(integer),
    received: optional(lsn),
    replayed: optional(lsn),
    replayPaused: optional(boolean),
    replayAgeMs: optional(integer),
  },
);
