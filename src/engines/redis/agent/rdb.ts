/**
 * A dump of Redis or Valkey: its header says which version wrote it and how many keys the first database has, its last nine bytes
 * are an opcode for the end and a CRC-64 over everything before.
 */

import type { Failure } from '../../../engine/driver/failure.ts';
import { withTrailer } from '../../../engine/driver/trailer.ts';
import { Crc64 } from './crc64.ts';

const endOpcode = 0xff;
const trailerBytes = 8;
/** The auxiliary fields take some hundred bytes. */
const maxHeaderBytes = 4096;
/** With `rdbchecksum no` a server writes zeros. */
const noChecksum = Buffer.alloc(trailerBytes);

export interface RdbFacts {
  /** Of the format. */
  readonly version: number;
  readonly isChecksummed: boolean;
  readonly firstDatabase?: { readonly number: number; readonly keys: number; readonly expiring: number };
}

/**
 * The same content. At its end `learn` is called, or it fails: with what `fault` makes of the words.
 */
export async function* checkedRdb(
  content: AsyncIterable<Uint8Array>,
  fault: (why: string) => Failure,
  learn: (facts: RdbFacts) => void = () => undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  const crc = new Crc64();
  let start: Buffer = Buffer.alloc(0);
  let lastOfBody = -1;
  const body = (piece: Uint8Array): void => {
    crc.update(piece);
    lastOfBody = piece.at(-1) ?? lastOfBody;
    if (start.length < maxHeaderBytes) start = Buffer.concat([start, piece.subarray(0, maxHeaderBytes - start.length)]);
  };
  yield* withTrailer(content, trailerBytes, body, (trailer) => {
    // Nine bytes each.
    const version = /^(?:REDIS\d|VALKEY)(\d{3})/.exec(start.toString('latin1', 0, 9))?.[1];
    if (version === undefined) throw fault('it does not begin as a dump of Redis does');
    if (trailer.length < trailerBytes || lastOfBody !== endOpcode) throw fault('it ends before its end mark');
    const isChecksummed = !trailer.equals(noChecksum);
    if (isChecksummed && !crc.digest().equals(trailer)) throw fault('its checksum (CRC-64) does not fit');
    const firstDatabase = firstDatabaseIn(start);
    learn({ version: Number(version), isChecksummed, ...(firstDatabase === undefined ? {} : { firstDatabase }) });
  });
}

/** Undefined where something else comes first: functions or modules, or nothing at all. */
function firstDatabaseIn(start: Buffer): RdbFacts['firstDatabase'] {
  const reader = { buffer: start, at: 9 };
  try {
    for (;;) {
      const opcode = byte(reader);
      if (opcode === 0xfa) {
        skipString(reader);
        skipString(reader);
      } else if (opcode === 0xfe) {
        const number = length(reader).value;
        if (byte(reader) !== 0xfb) return undefined;
        return { number, keys: length(reader).value, expiring: length(reader).value };
      } else return undefined;
    }
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

interface Reader {
  readonly buffer: Buffer;
  at: number;
}

function byte(reader: Reader): number {
  const value = reader.buffer.readUInt8(reader.at);
  reader.at += 1;
  return value;
}

/** A length of 6, 14, 32 or 64 bits; with the upper two bits set, a number is written in place of a string. */
function length(reader: Reader): { readonly value: number; readonly isNumber: boolean } {
  const first = byte(reader);
  switch (first >> 6) {
    case 0:
      return { value: first & 0x3f, isNumber: false };
    case 1:
      return { value: ((first & 0x3f) << 8) | byte(reader), isNumber: false };
    case 2: {
      const isLong = first === 0x81;
      const value = isLong ? Number(reader.buffer.readBigUInt64BE(reader.at)) : reader.buffer.readUInt32BE(reader.at);
      reader.at += isLong ? 8 : 4;
      return { value, isNumber: false };
    }
    default:
      return { value: first & 0x3f, isNumber: true };
  }
}

function skipString(reader: Reader): void {
  const { value, isNumber } = length(reader);
  if (!isNumber) reader.at += value;
  // Numbers of one, two or four bytes; whatever else there is, is compressed, and no field of the header is.
  else if (value <= 2) reader.at += 2 ** value;
  else throw new RangeError('a compressed field');
}
