/** What an S3 server answers, and whether a repetition makes sense. */
import { describe, expect, it } from 'vitest';
import { refusesChecksum } from '../../src/agent/target/s3-checksum.ts';
import { isExpired, s3FailureOf } from '../../src/agent/target/s3-failure.ts';
import { Failure } from '../../src/engine/driver/failure.ts';

const answered = (name: string, httpStatusCode?: number): Error =>
  Object.assign(new Error('words of the server'), {
    name,
    ...(httpStatusCode === undefined ? {} : { $metadata: { httpStatusCode } }),
  });
const broken = (code: string): Error => Object.assign(new Error('no connection'), { code });

describe('an answer of an S3 server', () => {
  it.each<readonly [string, Error, string, string]>([
    ['there is no such object', answered('NoSuchKey', 404), 'NotFound', 'to read x: there is no such object'],
    ['there is none, to a HEAD', answered('NotFound', 404), 'NotFound', 'to read x: there is no such object'],
    ['there is no such bucket', answered('NoSuchBucket', 404), 'TargetRefused', 'to read x: NoSuchBucket'],
    [
      'the key is another one',
      answered('SignatureDoesNotMatch', 403),
      'TargetRefused',
      'to read x: SignatureDoesNotMatch',
    ],
    ['it leads elsewhere', answered('Moved', 300), 'TargetRefused', 'to read x: Moved, status 300'],
    ['it refuses in words of its own', answered('Odd', 499), 'TargetRefused', 'to read x: Odd, status 499'],
    ['the request took too long', answered('RequestTimeout', 408), 'TargetUnreachable', 'to read x: it did not work'],
    ['there are too many requests', answered('SlowDown', 429), 'TargetUnreachable', 'to read x: it did not work'],
    ['it has a fault', answered('InternalError', 500), 'TargetUnreachable', 'to read x: it did not work'],
    ['it says something that is no answer', answered('Odd', 200), 'TargetUnreachable', 'to read x: it did not work'],
    ['nobody is there', broken('ECONNREFUSED'), 'TargetUnreachable', 'to read x: it did not work'],
    ['nothing is known', new Error('odd'), 'TargetUnreachable', 'to read x: it did not work'],
    [
      'its certificate is of nobody known',
      broken('UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
      'TargetRefused',
      'to read x: its certificate is not to be trusted',
    ],
  ])('%s', (_, error, reason, message) => {
    expect(s3FailureOf(error, 'to read x')).toMatchObject({ reason, message, cause: error });
  });

  it('is what it has been taken for already', () => {
    const failure = new Failure('Stopped', 'the pod ends');
    expect(s3FailureOf(failure, 'to read x')).toBe(failure);
  });

  it('may be about credentials that have ended', () => {
    expect([answered('ExpiredToken', 400), answered('AccessDenied', 403), undefined].map(isExpired)).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('may be about a checksum that it does not know', () => {
    const answers = [
      answered('NotImplemented', 501),
      answered('Odd', 501),
      answered('InvalidArgument', 400),
      answered('AccessDenied', 403),
      { name: 7 },
      undefined,
    ];
    expect(answers.map(refusesChecksum)).toEqual([true, true, true, false, false, false]);
  });
});
