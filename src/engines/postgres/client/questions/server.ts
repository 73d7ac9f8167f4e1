/** What one server says of itself, whatever its role is: whether it takes writes, and which settings it has read. */
import { configSetting } from '../../names.ts';
import { boolean, integer, optional, question, text } from '../question.ts';

export interface ServerFacts {
  /** It takes no writes. */
  readonly inRecovery: boolean;
  /** Digest of the shared configuration that it has read; undefined where it has read none. */
  readonly config: string | undefined;
  /** Settings that have changed and take a restart. */
  readonly pending: number;
  /** Since it has read its configuration, and since it has started. */
  readonly configAgeMs: number;
  readonly upMs: number;
  /** `synchronous_standby_names`: for whom commits wait. */
  readonly waitsFor: string;
  /** Transactions that are prepared; a standby shows none. */
  readonly prepared: number;
}

export const serverQuestion = question<ServerFacts>(
  `SELECT pg_is_in_recovery() AS "inRecovery", left(current_setting('${configSetting}', true), 64) AS config,
  (SELECT count(*) FROM pg_settings WHERE pending_restart) AS pending,
  (extract(epoch FROM clock_timestamp() - pg_conf_load_time()) * 1000)::bigint AS "configAgeMs",
  (extract(epoch FROM clock_timestamp() - pg_postmaster_start_time()) * 1000)::bigint AS "upMs",
  left(current_setting('synchronous_standby_names'), 1024) AS "waitsFor",
  (SELECT count(*) FROM pg_prepared_xacts) AS prepared`,
  {
    inRecovery: boolean,
    config: optional(text),
    pending: integer,
    configAgeMs: integer,
    upMs: integer,
    waitsFor: text,
    prepared: integer,
  },
);

/** A setting that the spec has, or of which a standby may have no less than its primary. */
export interface SettingSeen {
  readonly name: string;
  readonly value: string;
  /**
   * It has the value of the server itself, or of `initdb`: what the spec says was refused, or has yet to be read. Not of a setting that counts from a start on
   * and has the server's own value: PostgreSQL says the same of it where the file has that value since the start.
   */
  readonly isDefault: boolean;
  /** A text, and the value is that of the files: neither of this session, nor of a role, a database or `ALTER SYSTEM`. */
  readonly isText: boolean;
  /** The files have another value, which counts from the next start on. */
  readonly isPending: boolean;
}

/**
 * Those of them that the server knows. Names are of the schema of the kind: lower case, no quotes. PostgreSQL spells three of its own otherwise, such as
 * `TimeZone`. Patroni has moved the file that `initdb` made to `postgresql.base.conf`, and includes it in its own.
 */
export const settingsQuestion = (names: readonly string[]) =>
  question<SettingSeen>(
    `SELECT lower(name) AS name, left(setting, 200) AS value,
  (source = 'default' AND context <> 'postmaster') OR coalesce(sourcefile LIKE '%/postgresql.base.conf', false) AS "isDefault",
  vartype = 'string' AND (source = 'default' OR coalesce(sourcefile NOT LIKE '%/postgresql.auto.conf', false)) AS "isText",
  pending_restart AS "isPending"
FROM pg_settings WHERE lower(name) IN (${names.map((name) => `'${name.replaceAll("'", "''")}'`).join(', ')}) ORDER BY name LIMIT ${names.length}`,
    { name: text, value: text, isDefault: boolean, isText: boolean, isPending: boolean },
  );

export interface LogKept {
  /** Position at which the log begins that the server still has. */
  readonly oldest: number | undefined;
}

/** Names of segments: eight digits each of the timeline, and of the two halves of the position. */
export const logQuestion = question<LogKept>(
  `SELECT min(('x' || substr(name, 9, 8))::bit(32)::bigint * 4294967296
  + ('x' || substr(name, 17, 8))::bit(32)::bigint * (SELECT setting::bigint FROM pg_settings WHERE name = 'wal_segment_size')) AS oldest
FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}$'`,
  { oldest: optional(integer) },
);
