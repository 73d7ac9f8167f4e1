/** `password-next: ""`, as templates and external stores leave it: the former password never goes, and the status says that it will. */
import { describe, expect, it } from 'vitest';
import { mergeConditions } from '../../../src/api/condition.ts';
import type { ClusterStatus } from '../../../src/api/status.ts';
import { clientPasswords } from '../../../src/engines/redis/client/password.ts';
import { situationOf } from '../../../src/engines/redis/observe/situation.ts';
import { planRedis } from '../../../src/engines/redis/plan/plan.ts';
import { redisStatus } from '../../../src/engines/redis/status.ts';
import { redisWorld, type Story } from '../../support/redis-situation.ts';

const since = '2030-01-01T00:00:00Z';
const reported = (story: Story) => {
  const { cluster, children, observed } = redisWorld(story);
  const situation = situationOf(cluster, children, observed);
  const plan = planRedis(situation);
  return { plan, status: redisStatus(situation, plan) };
};

// Step 2 of the guide, with the key emptied and not removed.
const {
  hashes,
  unusable = '',
  hasUnusableOther = true,
} = clientPasswords({ password: 'new', 'password-next': '' }, 'password');
const emptied = {
  nodes: { all: { formers: [7] } },
  sentinelFormers: [7],
  observed: { unusablePassword: unusable, hasUnusableOther, namedPasswords: hashes.length },
} as const satisfies Story;
const standing = {
  phase: 'Ready',
  initialized: true,
  ...reported(emptied).status,
  conditions: mergeConditions([], reported(emptied).status.conditions, 1, since),
} as ClusterStatus;
const aDayLater = {
  ...emptied,
  status: standing,
  observed: { ...emptied.observed, at: Date.parse(since) + 86_400_000 },
};

describe('a Secret whose password-next is empty, where every process has the password', () => {
  it('names it, as the guide says: Blocked, PasswordUnusable', () => {
    expect(unusable).toBe('key password-next is empty');
    expect(reported(emptied).plan.outcome).toMatchObject({ state: 'blocked', reason: 'PasswordUnusable' });
  });

  it('does not promise for ever that the former password goes after auth.overlap', () => {
    const { plan, status } = reported(aDayLater);
    const goes = plan.steps.some((step) => step.type === 'act' && step.action.type === 'redis.retirePasswords');
    const promise = status.conditions.find(({ message }) =>
      /removed when this has been so for spec.auth.overlap/.test(message),
    );
    const isSaid = status.conditions.some(({ message }) => message.includes('password-next'));
    expect({ goes, isSaid, promise: promise?.reason }).not.toEqual({
      goes: false,
      isSaid: false,
      promise: 'FormerPasswordAccepted',
    });
  });

  it('does not have every process asked twice a second for ever', () => {
    expect(reported(aDayLater).plan.outcome.recheckMs).toBeGreaterThan(5000);
  });
});
