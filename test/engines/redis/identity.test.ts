/** Whose password the cluster's own is, and in which form it may be. */
import { describe, expect, it } from 'vitest';
import { identityOf } from '../../../src/engines/redis/client/identity.ts';
import { redisCluster } from '../../support/redis-situation.ts';

describe('the identity', () => {
  const from = (secret: Record<string, string> | undefined) => {
    const io = {
      secret: async (_: string, whose?: 'ours') => (whose === 'ours' ? secret : { password: 'other' }),
    };
    return identityOf(redisCluster(), io);
  };

  it('is in a Secret of ours, under one key', async () => {
    expect(await from({ password: 'aB3' })).toEqual({ user: 'clusterwright/apps/db', password: 'aB3' });
    expect(await from(undefined)).toBe('missing');
    expect(await from({})).toBe('unusable');
  });

  it.each(['', 'two words', 'a line\n', '"', '\\', 'x#y', 'a\nrename-command AUTH ""'])(
    'is no %j: it stands in configurations as one word, and pods read one line',
    async (password) => expect(await from({ password })).toBe('unusable'),
  );
});
