import { describe, expect, it } from 'vitest';
import { ApiError, isAlreadyExists, isConflict, isNotFound } from '../../src/runtime/api-error.ts';

const answers = [
  { status: 404, reason: 'NotFound', message: 'pods "db-0" not found', means: 'isNotFound' },
  { status: 409, reason: 'AlreadyExists', message: 'pods "db-0" already exists', means: 'isAlreadyExists' },
  { status: 409, reason: 'Conflict', message: 'the object has been modified', means: 'isConflict' },
] as const;
const predicates = { isNotFound, isAlreadyExists, isConflict };

function refusal(status: number, reason: string, message: string): ApiError {
  return new ApiError({ status, reason, message, method: 'DELETE', path: '/api/v1/namespaces/team/pods/db-0' });
}

describe('an answer of the API server', () => {
  it.each(answers)('with $status $reason is $means alone', ({ status, reason, message, means }) => {
    const error = refusal(status, reason, message);
    const held = Object.entries(predicates).flatMap(([name, holds]) => (holds(error) ? [name] : []));
    expect(held).toEqual([means]);
  });
});

describe('the denial of a webhook, which chooses status and reason itself', () => {
  it.each(answers)('is none of them with $status $reason', ({ status, reason }) => {
    const error = refusal(status, reason, 'admission webhook "guard.example" denied the request: ask the owner first');
    expect(Object.values(predicates).some((holds) => holds(error))).toBe(false);
  });

  it('does not count where somebody else quotes it', () => {
    const error = refusal(
      404,
      'NotFound',
      'pods "x" not found: admission webhook "guard.example" denied the request: no',
    );
    expect(isNotFound(error)).toBe(true);
  });
});
