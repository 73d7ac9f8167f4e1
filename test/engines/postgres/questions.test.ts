/** Answers of servers, as values: each type takes what it should, and nothing else. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  formatLsn,
  historyName,
  isSegmentSize,
  parseLsn,
  segmentName,
  segmentStart,
} from '../../../src/engines/postgres/client/lsn.ts';
import {
  boolean,
  type Column,
  digits,
  integer,
  lsn,
  optional,
  question,
  text,
  word,
} from '../../../src/engines/postgres/client/question.ts';
import { databasesQuestion } from '../../../src/engines/postgres/client/questions/databases.ts';
import { recoveryQuestion } from '../../../src/engines/postgres/client/questions/recovery.ts';
import { followersQuestion, slotsQuestion } from '../../../src/engines/postgres/client/questions/replication.ts';
import type { Value } from '../../../src/engines/postgres/client/rows.ts';
import { isPassing, ServerError, serverErrorIn } from '../../../src/engines/postgres/client/server-error.ts';
import { statusMessage, walHeadIn } from '../../../src/engines/postgres/client/wal-message.ts';
import { refusal } from '../../support/postgres-messages.ts';

/** An answer with these rows, in the order of their columns. */
const answer = (...rows: readonly Readonly<Record<string, Value>>[]) => {
  const columns = Object.keys(rows[0] ?? {});
  return { columns, rows: rows.map((row) => columns.map((name) => row[name] ?? null)), tag: '' };
};

describe('a column', () => {
  it.each<[string, Column<unknown>, Value, unknown]>([
    ['text', text, '', ''],
    ['text', text, 'ü\n', 'ü\n'],
    ['boolean', boolean, 't', true],
    ['boolean', boolean, 'f', false],
    ['integer', integer, '-5', -5],
    ['integer', integer, '9007199254740991', 9_007_199_254_740_991],
    ['digits', digits, '18446744073709551615', '18446744073709551615'],
    ['lsn', lsn, '16/B374D848', 0x16b374d848n],
    ['lsn', lsn, '0/0', 0n],
    ['optional', optional(integer), null, undefined],
    ['optional', optional(integer), '1', 1],
    ['word', word('async', 'quorum'), 'quorum', 'quorum'],
  ])('of type %s', (_, column, value, expected) => expect(column(value)).toEqual(expected));

  it.each<[string, Column<unknown>, Value]>([
    ['text', text, null],
    ['boolean', boolean, 'true'],
    ['boolean', boolean, null],
    ['integer', integer, ''],
    ['integer', integer, '1.5'],
    ['integer', integer, '9007199254740993'],
    ['integer', integer, '1e3'],
    ['digits', digits, '-1'],
    ['lsn', lsn, '0/'],
    ['lsn', lsn, '0/123456789'],
    ['lsn', lsn, null],
    ['word', word('async', 'quorum'), 'sync'],
    ['optional', optional(integer), 'x'],
  ])('of type %s is not made of %3$j', (_, column, value) => expect(() => column(value)).toThrow(/is no/));
});

describe('an answer', () => {
  const primary = {
    inRecovery: 'f',
    systemId: '7300000000000000001',
    checkpointTimeline: '2',
    written: '0/3000060',
    flushed: '0/3000028',
    writtenTimeline: '3',
    received: null,
    replayed: null,
    replayPaused: null,
    replayAgeMs: null,
  };

  it('is known by the names of its columns, in whatever order', () => {
    const [row] = recoveryQuestion.rowsIn(answer(primary));
    expect(row).toMatchObject({ inRecovery: false, writtenTimeline: 3, written: 0x3000060n, replayed: undefined });
    const reversed = Object.fromEntries(Object.entries(primary).reverse());
    expect(recoveryQuestion.rowsIn(answer(reversed))).toEqual([row]);
    const { inRecovery: _, ...less } = primary;
    expect(() => recoveryQuestion.rowsIn(answer(less))).toThrow(/no column inRecovery/);
  });

  it('has a row for each follower, slot and database, also where little is known of it', () => {
    const starting = {
      name: '',
      address: null,
      state: 'startup',
      syncState: 'async',
      sent: null,
      flushed: null,
      replayed: null,
    };
    expect(followersQuestion.rowsIn(answer(starting))).toEqual([{ name: '', state: 'startup', syncState: 'async' }]);
    expect(() => followersQuestion.rowsIn(answer({ ...starting, state: 'dancing' }))).toThrow(/"dancing" is no word/);
    const lost = {
      name: 'a',
      type: 'physical',
      active: 'f',
      temporary: 'f',
      restart: null,
      walStatus: 'lost',
      safeBytes: null,
    };
    expect(slotsQuestion.rowsIn(answer(lost))).toMatchObject([{ walStatus: 'lost', restart: undefined }]);
    const app = {
      name: 'app',
      owner: 'app',
      allowsConnections: 't',
      bytes: '7000000',
      provider: 'c',
      collation: 'C.UTF-8',
      recordedVersion: '2.36',
      actualVersion: '2.41',
    };
    expect(databasesQuestion.rowsIn(answer(app))).toMatchObject([{ recordedVersion: '2.36', actualVersion: '2.41' }]);
  });

  it('of no rows has no columns either', () => {
    expect(question<{ n: number }>('SELECT', { n: integer }).rowsIn({ columns: ['n'], rows: [], tag: '' })).toEqual([]);
  });
});

describe('a position in the log', () => {
  it('is read as it is written', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (at) => {
        expect(parseLsn(formatLsn(at))).toBe(at);
      }),
    );
  });

  it.each([
    [1, 0n, 2 ** 24, '000000010000000000000000'],
    [1, 0x3000060n, 2 ** 24, '000000010000000000000003'],
    [0x1a, 0x16b374d848n, 2 ** 24, '0000001A00000016000000B3'],
    [1, 0x1_0000_0000n, 2 ** 24, '000000010000000100000000'],
    [1, 0x1_0000_0000n, 2 ** 20, '000000010000000100000000'],
    [1, 0xfff00000n, 2 ** 20, '000000010000000000000FFF'],
    [1, 0x40000000n, 2 ** 30, '000000010000000000000001'],
  ])('on timeline %i at %i is in the file of its segment', (timeline, at, size, name) => {
    expect(segmentName(timeline, at, size)).toBe(name);
    expect(segmentStart(at, size) <= at && at - segmentStart(at, size) < BigInt(size)).toBe(true);
  });

  it('belongs to a history, and to segments of certain sizes', () => {
    expect(historyName(0x1a)).toBe('0000001A.history');
    expect([2 ** 20, 2 ** 24, 2 ** 30].every(isSegmentSize)).toBe(true);
    expect([0, 2 ** 19, 2 ** 31, 3 * 2 ** 20, Number.NaN].some(isSegmentSize)).toBe(false);
  });
});

describe('a refusal', () => {
  it.each([
    ['57P03', true],
    ['53300', true],
    ['58P01', true],
    ['55000', true],
    ['28P01', false],
    ['42501', false],
    ['0A000', false],
  ])('with the code %s passes by itself: %s', (code, passes) => {
    expect(isPassing(new ServerError('ERROR', code, ''))).toBe(passes);
  });

  it('is read by its fields, and hostile ones are bounded', () => {
    expect(serverErrorIn(refusal('28P01', 'no', 'FATAL').subarray(5))).toMatchObject({
      code: '28P01',
      severity: 'FATAL',
      message: 'no',
    });
    expect(serverErrorIn(Buffer.from('Cx\0Vwhatever it is\0\0'))).toMatchObject({ code: 'XX000', severity: 'ERROR' });
    expect(serverErrorIn(Buffer.from(`M${'x'.repeat(9999)}\0\0`)).message.length).toBeLessThanOrEqual(1024);
    expect(() => serverErrorIn(Buffer.from('Mx'))).toThrow(/does not end/);
  });
});

describe('messages about the log', () => {
  it('say how much is stored, and when', () => {
    const message = statusMessage(0x3000060n, 946_684_800_001, true);
    expect(message.toString('latin1', 0, 1) + message.toString('latin1', 5, 6)).toBe('dr');
    expect([6, 14, 22].map((at) => message.readBigUInt64BE(at))).toEqual([0x3000060n, 0x3000060n, 0n]);
    expect([message.readBigInt64BE(30), message[38], message.length]).toEqual([1000n, 1, 39]);
  });

  it.each(['', 'w', 'k', `k${'x'.repeat(20)}`, 'r'])('that are none are refused: %j', (bytes) => {
    expect(() => walHeadIn(Buffer.from(bytes))).toThrow(/data of the log begins/);
  });
});
