/** Who copies from a server, from whom it copies itself, and what it keeps for whom. */
import type { Lsn } from '../lsn.ts';
import { boolean, integer, lsn, optional, question, text, word } from '../question.ts';

/** Of a cluster with 64 members and some tools. The bound of an answer is reached later. */
const mostRows = 128;

export interface Follower {
  /** `application_name`: a member's name. */
  readonly name: string;
  readonly address: string | undefined;
  readonly state: 'startup' | 'catchup' | 'streaming' | 'backup' | 'stopping' | undefined;
  readonly syncState: 'async' | 'potential' | 'sync' | 'quorum' | undefined;
  readonly sent: Lsn | undefined;
  readonly flushed: Lsn | undefined;
  readonly replayed: Lsn | undefined;
}

/** Base backups are in the list as well: with the state `backup`. */
export const followersQuestion = question<Follower>(
  `SELECT left(application_name, 64) AS name, host(client_addr) AS address, state, sync_state AS "syncState",
  sent_lsn AS sent, flush_lsn AS flushed, replay_lsn AS replayed
FROM pg_stat_replication ORDER BY application_name, pid LIMIT ${mostRows}`,
  {
    name: text,
    address: optional(text),
    state: optional(word('startup', 'catchup', 'streaming', 'backup', 'stopping')),
    syncState: optional(word('async', 'potential', 'sync', 'quorum')),
    sent: optional(lsn),
    flushed: optional(lsn),
    replayed: optional(lsn),
  },
);

export interface Upstream {
  readonly status: string;
  readonly host: string | undefined;
  readonly port: number | undefined;
  readonly slot: string | undefined;
  readonly timeline: number | undefined;
  readonly flushed: Lsn | undefined;
}

/** No row where nothing is received. */
export const upstreamQuestion = question<Upstream>(
  `SELECT status, left(sender_host, 253) AS host, sender_port AS port, slot_name AS slot, received_tli AS timeline,
  flushed_lsn AS flushed FROM pg_stat_wal_receiver LIMIT 1`,
  {
    status: text,
    host: optional(text),
    port: optional(integer),
    slot: optional(text),
    timeline: optional(integer),
    flushed: optional(lsn),
  },
);

export interface Slot {
  readonly name: string;
  readonly type: 'physical' | 'logical';
  readonly active: boolean;
  readonly temporary: boolean;
  /** From where on the log is kept. */
  readonly restart: Lsn | undefined;
  /** `lost`: what it needs is gone. */
  readonly walStatus: 'reserved' | 'extended' | 'unreserved' | 'lost' | undefined;
  /** Bytes that may still be written before it is lost; undefined where there is no bound. */
  readonly safeBytes: number | undefined;
}

export const slotsQuestion = question<Slot>(
  `SELECT slot_name AS name, slot_type AS type, active, temporary, restart_lsn AS restart, wal_status AS "walStatus",
  safe_wal_size AS "safeBytes" FROM pg_replication_slots ORDER BY slot_name LIMIT ${mostRows}`,
  {
    name: text,
    type: word('physical', 'logical'),
    active: boolean,
    temporary: boolean,
    restart: optional(lsn),
    walStatus: optional(word('reserved', 'extended', 'unreserved', 'lost')),
    safeBytes: optional(integer),
  },
);
