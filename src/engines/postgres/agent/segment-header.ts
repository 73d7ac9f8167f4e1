/** The beginning of a file of the log, which says of which database cluster it is, and which part of the log. */
import type { Lsn } from '../client/lsn.ts';

export const segmentHeaderBytes = 40;
/** The header is the long one, as on the first page of each file. */
const longHeader = 0x0002;

export interface SegmentHeader {
  readonly timeline: number;
  readonly start: Lsn;
  readonly systemId: string;
  readonly segmentBytes: number;
}

/** Undefined for what is no beginning of such a file. In the order of bytes of the server's processor: all we run on are alike. */
export function segmentHeaderIn(bytes: Buffer): SegmentHeader | undefined {
  if (bytes.length < segmentHeaderBytes || (bytes.readUInt16LE(2) & longHeader) === 0) return undefined;
  // 0xD000 and the number of the format.
  if (bytes.readUInt16LE(0) >> 8 !== 0xd1) return undefined;
  return {
    timeline: bytes.readUInt32LE(4),
    start: bytes.readBigUInt64LE(8),
    systemId: String(bytes.readBigUInt64LE(24)),
    segmentBytes: bytes.readUInt32LE(32),
  };
}
