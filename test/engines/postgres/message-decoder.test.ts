/** What a server sends comes out the same however it is cut into chunks, and hostile bytes are refused. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  longestCopyHead,
  type Message,
  MessageDecoder,
  ProtocolError,
} from '../../../src/engines/postgres/client/message-decoder.ts';
import { backend } from '../../support/postgres-messages.ts';

const longest = 1000;

function decoded(chunks: readonly Buffer[]): Message[] {
  const decoder = new MessageDecoder(longest);
  const messages = chunks.flatMap((chunk) => decoder.push(chunk));
  expect(decoder.isWithin).toBe(false);
  return messages;
}

/** With the parts of each CopyData put together. */
function joined(messages: readonly Message[]): { readonly type: string; readonly body: string }[] {
  const whole: { type: string; body: string }[] = [];
  let parts: Buffer[] = [];
  for (const message of messages) {
    if (message.kind === 'message') whole.push({ type: message.type, body: message.body.toString('hex') });
    else {
      if (message.isFirst) expect(parts).toEqual([]);
      if (message.isFirst && !message.isLast) expect(message.bytes.length).toBeGreaterThanOrEqual(longestCopyHead);
      parts.push(message.bytes);
      if (!message.isLast) continue;
      whole.push({ type: 'd', body: Buffer.concat(parts).toString('hex') });
      parts = [];
    }
  }
  expect(parts).toEqual([]);
  return whole;
}

const message = fc.record({
  type: fc.constantFrom('Z', 'T', 'D', 'C', 'N', 'd', 'd', '2'),
  body: fc.uint8Array({ maxLength: 200 }),
});

describe('messages', () => {
  it('are the same however they are cut', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 8 }), fc.array(fc.integer({ min: 1, max: 90 })), (sent, cuts) => {
        const bytes = Buffer.concat(sent.map(({ type, body }) => backend(type, body)));
        const chunks: Buffer[] = [];
        let at = 0;
        for (const cut of [...cuts, bytes.length]) {
          chunks.push(bytes.subarray(at, at + cut));
          at += cut;
        }
        const expected = sent.map(({ type, body }) => ({ type, body: Buffer.from(body).toString('hex') }));
        expect(joined(decoded(chunks))).toEqual(expected);
      }),
    );
  });

  it('that are no messages end in words, never in a crash', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 64 })), (chunks) => {
        const decoder = new MessageDecoder(longest);
        try {
          for (const chunk of chunks) decoder.push(Buffer.from(chunk));
        } catch (error) {
          expect(error).toBeInstanceOf(ProtocolError);
        }
      }),
    );
  });

  it('of a gigabyte are handed out as they come, if they are CopyData', () => {
    const decoder = new MessageDecoder(longest);
    const head = Buffer.from([0x64, 0x40, 0, 0, 4]);
    const chunk = Buffer.alloc(64 * 1024, 1);
    let bytes = 0;
    let last = false;
    const count = (messages: readonly Message[]): void => {
      for (const each of messages) {
        if (each.kind !== 'copy') throw new Error('CopyData was expected');
        bytes += each.bytes.length;
        last ||= each.isLast;
      }
    };
    count(decoder.push(head));
    for (let sent = 0; sent < 2 ** 30; sent += chunk.length) count(decoder.push(chunk));
    expect({ bytes, last, within: decoder.isWithin }).toEqual({ bytes: 2 ** 30, last: true, within: false });
  });
});

describe('refused', () => {
  it.each([
    ['a message that is longer than the limit', Buffer.from([0x44, 0, 0, 4, 0]), /longer than 1000 bytes/],
    ['the longest length that there is', Buffer.from([0x54, 0x7f, 0xff, 0xff, 0xff]), /longer than 1000 bytes/],
    ['a length that is below its own', Buffer.from([0x5a, 0, 0, 0, 3]), /shorter than its head/],
    ['a negative length', Buffer.from([0x5a, 0xff, 0xff, 0xff, 0xff]), /shorter than its head/],
    ['a negative length of data', Buffer.concat([Buffer.from([0x64, 0xff, 0, 0, 0]), Buffer.alloc(40)]), /shorter/],
    ['what another protocol would say', Buffer.from('-ERR unknown command\r\n'), /starts with byte 45/],
    ['a beginning with zero', Buffer.alloc(8), /starts with byte 0/],
  ])('%s', (_, bytes, words) => {
    expect(() => new MessageDecoder(longest).push(bytes)).toThrow(words);
    expect(() => {
      const decoder = new MessageDecoder(longest);
      for (const byte of bytes) decoder.push(Buffer.from([byte]));
    }).toThrow(words);
  });
});
