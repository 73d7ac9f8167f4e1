import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  encodeCommand,
  ProtocolError,
  RedisError,
  type Reply,
  ReplyDecoder,
} from '../../../src/engines/redis/client/resp.ts';
import { encodeReply } from '../../support/scripted-redis.ts';

const text = fc.string({ unit: 'grapheme' });
const line = text.filter((value) => !/[\r\n]/.test(value));
const { reply } = fc.letrec<{ reply: Reply; list: readonly Reply[] }>((tie) => ({
  reply: fc.oneof(
    { maxDepth: 3 },
    fc.string({ unit: fc.constantFrom('a', ' ', '\r', '\n', '$', '*', '€') }),
    fc.integer(),
    fc.constant(null),
    line.map((message) => new RedisError(message)),
    tie('list'),
  ),
  list: fc.array(tie('reply'), { maxLength: 4 }),
}));

/** The bytes in pieces, cut wherever `cuts` says. */
function pieces(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const at = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return at.map((end, i) => bytes.subarray(at[i - 1] ?? 0, end));
}

function decode(chunks: readonly Buffer[]): Reply[] {
  const decoder = new ReplyDecoder();
  return chunks.flatMap((chunk) => decoder.push(chunk));
}

const cuts = fc.array(fc.nat());

describe('the Redis protocol', () => {
  it('reads every sequence of replies, wherever it is split', () => {
    fc.assert(
      fc.property(fc.array(reply), cuts, (replies, where) => {
        expect(decode(pieces(Buffer.from(replies.map(encodeReply).join('')), where))).toEqual(replies);
      }),
    );
  });

  it('sends arguments so that nothing in them is ever read as anything else', () => {
    fc.assert(
      fc.property(fc.array(text), cuts, (args, where) => {
        expect(decode(pieces(encodeCommand(args), where))).toEqual([args]);
      }),
    );
    expect(encodeCommand(['SET', 'k', '\r\n$1']).toString()).toBe('*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$4\r\n\r\n$1\r\n');
  });

  it('reads what servers write', () => {
    const wire = '+OK\r\n:-3\r\n$0\r\n\r\n*0\r\n*-1\r\n-NOGOODSLAVE No suitable replica\r\n';
    expect(decode([Buffer.from(wire)])).toEqual([
      'OK',
      -3,
      '',
      [],
      null,
      new RedisError('NOGOODSLAVE No suitable replica'),
    ]);
  });

  it('an error tells its code', () => {
    expect([new RedisError('NOAUTH Authentication required.').code, new RedisError('BUSY').code]).toEqual([
      'NOAUTH',
      'BUSY',
    ]);
  });

  it.each(['HTTP/1.1 400 Bad Request\r\n', '$x\r\n', '$-2\r\n', '*1.5\r\n', '*\r\n', ':\r\n', ':1e3\r\n'])(
    'refuses %j, which is no reply',
    (wire) => expect(() => decode([Buffer.from(wire)])).toThrow(ProtocolError),
  );

  it.each<readonly [story: string, wire: string, refusal: string]>([
    ['a text that never ends', `+${'x'.repeat(64 * 1024)}`, 'longer than 65536 bytes'],
    [
      'a list that never ends',
      `*3000\r\n${'$30\r\n123456789012345678901234567890\r\n'.repeat(2_000)}`,
      'longer than 65536 bytes',
    ],
    ['a list of tiny parts', `*32769\r\n`, 'more than 32768 parts'],
    ['lists of tiny parts', `*3\r\n${`*16000\r\n${':1\r\n'.repeat(16_000)}`.repeat(3)}`, 'more than 32768 parts'],
    ['a length beyond the bound', '$65537\r\n', 'a length reads "65537"'],
    ['a list of a billion', '*1000000000\r\n', 'a length reads'],
    ['lists in lists', '*1\r\n'.repeat(10_000), 'nested more than 8 deep'],
    ['a number of 60,000 digits', `:${'x'.repeat(60_000)}\r\n`, 'a number reads'],
  ])('refuses %s', (_, wire, refusal) => {
    const decoder = new ReplyDecoder();
    expect(() => decoder.push(Buffer.from(wire))).toThrow(refusal);
    expect(() => decoder.push(Buffer.from(wire))).toThrow(/^.{1,1200}$/);
  });

  it.each<readonly [story: string, wire: string]>([
    ['a list', `*4000\r\n${':1\r\n'.repeat(4_000)}`],
    ['lists in a list', `*2\r\n${`*2000\r\n${'+\r\n'.repeat(2_000)}`.repeat(2)}`],
  ])('reads %s that comes byte by byte without beginning anew each time', (_, wire) => {
    const [decoder, bytes] = [new ReplyDecoder(), Buffer.from(wire)];
    const replies: Reply[] = [];
    const before = process.cpuUsage();
    for (let i = 0; i < bytes.length; i++) replies.push(...decoder.push(bytes.subarray(i, i + 1)));
    // To begin anew with each byte takes many times as long.
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(0.5);
    expect(replies).toEqual(decode([bytes]));
  });

  it('keeps the beginning of an error that is too long', () => {
    const [error] = decode([Buffer.from(`-ERR ${'x'.repeat(50_000)}\r\n`)]) as [RedisError];
    expect([error.code, error.message.length]).toEqual(['ERR', 1024]);
  });
});
