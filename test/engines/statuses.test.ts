/** In any situation, likely or not, the plan is made and what is said of it does not contradict itself. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { claimContradictions } from '../../src/testing/claim-contradictions.ts';
import { etcdClaims, postgresClaims, redisClaims } from '../support/generated-situations.ts';
import { kstatusContradictions } from '../support/kstatus.ts';

const few = { numRuns: 150 } as const;

describe('a status of a generated situation does not contradict itself', () => {
  it.each([
    ['Redis', redisClaims],
    ['etcd', etcdClaims],
    ['PostgreSQL', postgresClaims],
  ])('of %s', (_, claims) => {
    fc.assert(
      fc.property(claims, (said) => {
        expect([...claimContradictions(said), ...kstatusContradictions(said)]).toEqual([]);
      }),
      few,
    );
  });
});
