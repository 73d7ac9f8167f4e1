import { expect, it } from 'vitest';
import { measureRechecks } from '../bench/rechecks.ts';

it('clusters that are looked at again and again delay no failover, and are looked at', async () => {
  const { failoverMs, recheckMs } = await measureRechecks(400);
  expect(failoverMs.longest).toBeLessThan(10);
  // 400 passes of a second each, and 56 workers for them.
  expect(recheckMs).toBeLessThan(10_000);
});
