/** Positions in the write-ahead log, and the files that it is cut into. */

/** A byte's position in the log. */
export type Lsn = bigint;

/** `16/B374D848`; undefined for anything else. */
export function parseLsn(text: string): Lsn | undefined {
  const [, high, low] = /^([0-9A-F]{1,8})\/([0-9A-F]{1,8})$/i.exec(text) ?? [];
  return high === undefined ? undefined : (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

export function formatLsn(lsn: Lsn): string {
  const hex = (part: bigint): string => part.toString(16).toUpperCase();
  return `${hex(lsn >> 32n)}/${hex(lsn & 0xffff_ffffn)}`;
}

/** What `initdb` makes unless it is told otherwise. */
export const defaultSegmentBytes = 16 * 1024 * 1024;

/** From 1 MiB to 1 GiB, a power of two. */
export function isSegmentSize(bytes: number): boolean {
  return bytes >= 2 ** 20 && bytes <= 2 ** 30 && Number.isInteger(Math.log2(bytes));
}

/** Where the segment begins that holds the byte at this position. */
export function segmentStart(lsn: Lsn, segmentBytes: number): Lsn {
  return lsn - (lsn % BigInt(segmentBytes));
}

const hex8 = (value: bigint | number): string => value.toString(16).toUpperCase().padStart(8, '0');

/** The file in `pg_wal` that holds the byte at this position: `000000010000000000000002`. */
export function segmentName(timeline: number, lsn: Lsn, segmentBytes: number): string {
  const number = lsn / BigInt(segmentBytes);
  const perId = 0x1_0000_0000n / BigInt(segmentBytes);
  return hex8(timeline) + hex8(number / perId) + hex8(number % perId);
}

/** `00000002.history` */
export function historyName(timeline: number): string {
  return `${hex8(timeline)}.history`;
}
