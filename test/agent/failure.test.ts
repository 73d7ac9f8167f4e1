/** What failed: in words for a person, and whether a repetition makes sense. */
import { describe, expect, it } from 'vitest';
import type { FailureReason } from '../../src/backup/agent-result.ts';
import { codeOf, Failure, isTransient, tellable, wordsOf } from '../../src/engine/driver/failure.ts';
import { agentContext } from '../support/agent-context.ts';

describe('a repetition', () => {
  it.each<[FailureReason, boolean]>([
    ['SourceUnreachable', true],
    ['SourceBroken', true],
    ['TargetUnreachable', true],
    ['TargetBroken', true],
    ['Stopped', true],
    ['Unexpected', true],
    ['BadTask', false],
    ['SecretUnusable', false],
    ['SourceRefused', false],
    ['TargetRefused', false],
    ['NotFound', false],
    ['Ambiguous', false],
    ['OtherKey', false],
    ['Tampered', false],
    ['Unfit', false],
    ['Occupied', false],
  ])('after %s may succeed: %s', (reason, expected) => {
    expect(isTransient(reason)).toBe(expected);
  });
});

describe('the words of an error', () => {
  const several = [new Error('::1 refuses'), new Error('127.0.0.1 refuses', { cause: new Error('port 1') })];
  it.each<[string, unknown, string]>([
    ['are its own', new Error('cut off'), 'cut off'],
    [
      'go on with each cause',
      new Error('a', { cause: new Failure('Unexpected', 'b', { cause: 'the disk' }) }),
      'a: b: the disk',
    ],
    [
      'are those of every attempt, where it says nothing',
      new AggregateError(several),
      '::1 refuses, 127.0.0.1 refuses: port 1',
    ],
    ['are not those of every attempt, where it says something', new AggregateError(several, 'nobody'), 'nobody'],
    ['may be empty', new Error(''), ''],
    ['are what was thrown', 'text', 'text'],
    ['are what was thrown, even nothing', undefined, 'undefined'],
  ])('%s', (_, error, words) => {
    expect(wordsOf(error)).toBe(words);
  });

  it('are cut only after secrets have been taken out: half of one is not known as one', () => {
    const context = agentContext();
    context.protect('secret-of-the-bucket');
    const error = new Error(`0123456789 secret-of-the-bucket ${'x'.repeat(50)}`);
    expect(tellable(error, context, 23)).toBe('0123456789 [redacted] x');
    expect(tellable(error, context, 15)).toBe('0123456789 [red');
  });
});

describe('the code of an error', () => {
  const coded = Object.assign(new Error('x'), { code: 'ENOSPC' });
  it.each<[string, unknown, string | undefined]>([
    ['is its own', coded, 'ENOSPC'],
    ['is that of its cause', new Failure('Unexpected', 'x', { cause: new Error('y', { cause: coded }) }), 'ENOSPC'],
    ['is the outer one where there are two', Object.assign(new Error('x', { cause: coded }), { code: 'EIO' }), 'EIO'],
    ['is no number', Object.assign(new Error('x', { cause: coded }), { code: 28 }), 'ENOSPC'],
    ['is none where there is none', new Error('x'), undefined],
    ['is none of a text', 'code', undefined],
    ['is none of nothing', undefined, undefined],
    ['is none of null', new Error('x', { cause: null }), undefined],
  ])('%s', (_, error, code) => {
    expect(codeOf(error)).toBe(code);
  });
});
