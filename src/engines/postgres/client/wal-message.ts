/** What servers and those who follow them say to each other while the log is streamed: within CopyData. */
import type { Lsn } from './lsn.ts';
import { copyDataMessage } from './message.ts';
import { ProtocolError } from './message-decoder.ts';

export type WalHead =
  /** A part of the log follows. */
  | { readonly kind: 'log'; readonly start: Lsn; readonly headBytes: number }
  /** The server is alive, has this much, and may want to hear the same. */
  | { readonly kind: 'keepalive'; readonly end: Lsn; readonly wantsReply: boolean };

/** Of the first part of a message. Throws ProtocolError. */
export function walHeadIn(bytes: Buffer): WalHead {
  const letter = bytes.toString('latin1', 0, 1);
  if (letter === 'w' && bytes.length >= 25) return { kind: 'log', start: bytes.readBigUInt64BE(1), headBytes: 25 };
  if (letter === 'k' && bytes.length === 18) {
    return { kind: 'keepalive', end: bytes.readBigUInt64BE(1), wantsReply: bytes[17] === 1 };
  }
  throw new ProtocolError(`data of the log begins with ${JSON.stringify(letter)}`);
}

/** 2000-01-01, from which servers count. */
const epochMs = 946_684_800_000;

/**
 * The server may remove everything before `flushed`. With 0 the client confirms nothing, and PostgreSQL does not count it as a synchronous
 * standby. `now` in milliseconds since 1970.
 */
export function statusMessage(flushed: Lsn, now: number, wantsReply: boolean, written = flushed): Buffer {
  const body = Buffer.alloc(34);
  body.write('r', 'latin1');
  body.writeBigUInt64BE(written, 1);
  body.writeBigUInt64BE(flushed, 9);
  // Nothing is applied: nobody asks this side for rows.
  body.writeBigInt64BE(BigInt(Math.round(now) - epochMs) * 1000n, 25);
  body[33] = wantsReply ? 1 : 0;
  return copyDataMessage(body);
}
