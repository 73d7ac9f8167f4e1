/** The last words of an image that may be any: what is not as the agent says it is a failure, and throws nothing. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AgentResult, maxResultBytes } from '../../src/backup/agent-result.ts';
import { parseAgentResult } from '../../src/backup/heard-result.ts';
import { taken } from '../support/backup-story.ts';

const backup = (taken as Extract<AgentResult, { result: 'taken' }>).backup;
const said = (change: object): AgentResult | undefined => parseAgentResult(JSON.stringify({ ...taken, ...change }));

describe('what an agent said', () => {
  it.each<[string, AgentResult]>([
    ['taken', taken],
    ['taken, with more', { ...taken, suddenLoss: 'a', retentionFailure: 'b', misleadingIds: 'c' } as AgentResult],
    ['fetched', { result: 'fetched', backup, isRepeated: true, milliseconds: 1 }],
    ['verified', { result: 'verified', backup, milliseconds: 1.5 }],
    ['listed', { result: 'listed', total: 1, unusable: 0, backups: [] }],
    ['failed', { result: 'failed', reason: 'NotFound', message: 'there is none', isTransient: false }],
  ])('is heard as it is: %s', (_, result) => {
    expect(parseAgentResult(`a line of the log\n${JSON.stringify(result)}\n`)).toEqual(result);
  });

  it('may say more than is known here', () => {
    expect(said({ more: { a: 1 }, backup: { ...backup, more: 1 } })).toEqual(taken);
  });

  it.each(['', 'null', '7', '[]', '{', '{}', '{"result":7}', '{"result":"other"}', 'segmentation fault'])(
    'is nothing where it names no result: %s',
    (output) => {
      expect(parseAgentResult(output)).toBeUndefined();
    },
  );

  const times = ['yesterday', '2026-99-99T00:00:00Z', 7];
  it.each<[string, object]>([
    ['no backup', { backup: undefined }],
    ['null for a backup', { backup: null }],
    ['a list for a backup', { backup: [backup] }],
    ['contents that are no words', { backup: { ...backup, contents: { 'keys.0': 7 } } }],
    ['contents without end', { backup: { ...backup, contents: { 'keys.0': '7'.repeat(65) } } }],
    [
      'too many contents',
      { backup: { ...backup, contents: Object.fromEntries(Array.from({ length: 65 }, (_, i) => [i, '1'])) } },
    ],
    ['a size below none', { backup: { ...backup, plainBytes: -1 } }],
    ['a size that no number holds', { backup: { ...backup, plainBytes: 1e300 } }],
    ['an id of another form', { backup: { ...backup, id: '../../etc' } }],
    ['a version without end', { backup: { ...backup, engineVersion: '8'.repeat(254) } }],
    ['a folder without end', { backup: { ...backup, folder: 'a'.repeat(2049) } }],
    ...times.map((completedAt): [string, object] => [
      `the time ${completedAt}`,
      { backup: { ...backup, completedAt } },
    ]),
    ['words that are none', { suddenLoss: { toString: 'x' } }],
    ['more than there is room for', { suddenLoss: 'x'.repeat(5000) }],
  ])('is a failure in words where it has %s', (_, change) => {
    expect(said(change)).toEqual({
      result: 'failed',
      reason: 'Unexpected',
      message: expect.stringMatching(
        /^what the agent said at its end cannot be used: .*; is its image the operator's\?$/,
      ),
      isTransient: false,
    });
  });

  it('is a failure in words where a time of a list is none', () => {
    const { id, folder, cluster, plainBytes } = backup;
    const listed = (completedAt: string): AgentResult | undefined => {
      const backups = [{ id, folder, cluster, plainBytes, completedAt }];
      return parseAgentResult(JSON.stringify({ result: 'listed', total: 1, unusable: 0, backups }));
    };
    expect(listed('2026-11-21T03:00:00Z')).toMatchObject({ result: 'listed', backups: [{ id }] });
    expect(listed('2026-99-99T00:00:00Z')).toMatchObject({
      reason: 'Unexpected',
      message: expect.stringContaining('2026-99-99T00:00:00Z is no time'),
    });
  });

  it('is a failure in words where it is longer than the room for it', () => {
    const padded = (bytes: number): string => {
      const line = JSON.stringify({ ...taken, more: '' });
      return line.replace('"more":""', `"more":"${'x'.repeat(bytes - Buffer.byteLength(line))}"`);
    };
    expect(parseAgentResult(padded(maxResultBytes))).toEqual(taken);
    expect(parseAgentResult(padded(maxResultBytes + 1))).toMatchObject({
      reason: 'Unexpected',
      message: expect.stringContaining(`it is longer than ${maxResultBytes} bytes`),
    });
  });

  it('is shortened to one line of a thousand characters', () => {
    const words = `a\n\t b${'x'.repeat(1500)}`;
    const heard = `a  b${'x'.repeat(996)}`;
    const failed = { result: 'failed', reason: 'NotFound', isTransient: false };
    expect(parseAgentResult(JSON.stringify({ ...failed, message: words }))).toEqual({ ...failed, message: heard });
    const doubts = { suddenLoss: 'a\nb', retentionFailure: 'c\r\nd', misleadingIds: 'e\tf' };
    expect(said(doubts)).toEqual({ ...taken, suddenLoss: 'a b', retentionFailure: 'c d', misleadingIds: 'e f' });
  });

  it('never throws, and is bounded', () => {
    const anything = fc.oneof(fc.json(), fc.string({ maxLength: 9000 }));
    const nearly = fc.record({
      result: fc.constantFrom('taken', 'fetched', 'listed', 'failed'),
      backup: fc.jsonValue(),
    });
    const output = fc.oneof(
      anything,
      nearly.map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(output, (text) => {
        const heard = parseAgentResult(text);
        return heard === undefined || JSON.stringify(heard).length < 10_000;
      }),
    );
  });

  it('has no line breaks and no secrets in its words', () => {
    const message = 'a\nb\u0000 https://me:hunter22@s3 AKIAABCDEFGHIJKLMNOP password=hunter22 c';
    const heard = parseAgentResult(
      JSON.stringify({ result: 'failed', reason: 'Unexpected', message, isTransient: true }),
    );
    expect(heard).toMatchObject({ message: expect.stringMatching(/^a b +https:\/\/\[redacted\]@s3/) });
    expect(JSON.stringify(heard)).not.toMatch(/hunter22|AKIA/);
  });
});
