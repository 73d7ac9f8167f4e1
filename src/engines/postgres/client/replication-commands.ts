/** Commands of the replication protocol that are answered with rows. */
import type { PostgresConnection } from './connection.ts';
import type { Lsn } from './lsn.ts';
import { Unsendable } from './message.ts';
import { ask, askOne, digits, integer, lsn, optional, question, text } from './question.ts';

/** The name, if it is one that slots may have: nothing else of it gets into a command. */
export function slotName(name: string): string {
  if (!/^[a-z0-9_]{1,63}$/.test(name))
    throw new Unsendable(`${JSON.stringify(name.slice(0, 80))} is no name of a slot`);
  return name;
}

export interface SystemIdentity {
  /** The same in every copy of one database cluster, and in no other. */
  readonly systemid: string;
  readonly timeline: number;
  /** Of a primary the end of its log on disk, of a standby the end of what it has received. */
  readonly xlogpos: Lsn;
}

export function identifySystem(connection: PostgresConnection): Promise<SystemIdentity> {
  const about = question<SystemIdentity>('IDENTIFY_SYSTEM', { systemid: digits, timeline: integer, xlogpos: lsn });
  return askOne(connection, about);
}

/** A setting, by its name. */
export async function show(connection: PostgresConnection, name: string): Promise<string> {
  if (!/^[a-z_]+$/.test(name)) throw new Error(`${name} is no setting`);
  const { [name]: value = '' } = await askOne(
    connection,
    question<Record<string, string>>(`SHOW ${name}`, { [name]: text }),
  );
  return value;
}

/** In words of the server: `16MB`. */
export async function segmentBytesOf(connection: PostgresConnection): Promise<number> {
  const [, count = '', unit] = /^(\d{1,4})(MB|GB)$/.exec(await show(connection, 'wal_segment_size')) ?? [];
  return Number(count) * 2 ** (unit === 'GB' ? 30 : 20);
}

export interface SlotPosition {
  readonly restart: Lsn | undefined;
  readonly timeline: number | undefined;
}

/** Undefined where there is no such slot. */
export async function readSlot(connection: PostgresConnection, name: string): Promise<SlotPosition | undefined> {
  const about = question<{
    slot_type: string | undefined;
    restart_lsn: Lsn | undefined;
    restart_tli: number | undefined;
  }>(`READ_REPLICATION_SLOT ${slotName(name)}`, {
    slot_type: optional(text),
    restart_lsn: optional(lsn),
    restart_tli: optional(integer),
  });
  const { slot_type, restart_lsn, restart_tli } = await askOne(connection, about);
  return slot_type === undefined ? undefined : { restart: restart_lsn, timeline: restart_tli };
}

/** Keeps the log from now on; `temporary` for as long as the connection lives. */
export async function createSlot(connection: PostgresConnection, name: string, life: 'temporary' | 'permanent') {
  const words = life === 'temporary' ? ' TEMPORARY' : '';
  await ask(connection, question(`CREATE_REPLICATION_SLOT ${slotName(name)}${words} PHYSICAL (RESERVE_WAL)`, {}));
}

export async function dropSlot(connection: PostgresConnection, name: string): Promise<void> {
  await ask(connection, question(`DROP_REPLICATION_SLOT ${slotName(name)}`, {}));
}

export interface HistoryFile {
  /** `00000002.history` */
  readonly filename: string;
  readonly content: string;
}

/** From which timelines, and where, one has branched off. */
export function timelineHistory(connection: PostgresConnection, timeline: number): Promise<HistoryFile> {
  return askOne(connection, question<HistoryFile>(`TIMELINE_HISTORY ${timeline}`, { filename: text, content: text }));
}
