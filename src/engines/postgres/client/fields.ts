/** Reads the fields of a message in order. It throws ProtocolError at the first that is not there. */
import { ProtocolError } from './message-decoder.ts';

export interface FieldReader {
  byte(): number;
  int16(): number;
  int32(): number;
  int64(): bigint;
  /** Up to a NUL. */
  text(): string;
  bytes(length: number): Buffer;
  /** Everything that is left. */
  rest(): Buffer;
  readonly isAtEnd: boolean;
}

export function fieldReader(body: Buffer): FieldReader {
  let at = 0;
  const bytes = (length: number): Buffer => {
    if (length < 0 || at + length > body.length) throw new ProtocolError('a message ends within a field');
    at += length;
    return body.subarray(at - length, at);
  };
  return {
    byte: () => bytes(1).readUInt8(),
    int16: () => bytes(2).readInt16BE(),
    int32: () => bytes(4).readInt32BE(),
    int64: () => bytes(8).readBigInt64BE(),
    text() {
      const end = body.indexOf(0, at);
      if (end < 0) throw new ProtocolError('a text in a message does not end');
      const text = body.toString('utf8', at, end);
      at = end + 1;
      return text;
    },
    bytes,
    rest: () => bytes(body.length - at),
    get isAtEnd() {
      return at === body.length;
    },
  };
}
