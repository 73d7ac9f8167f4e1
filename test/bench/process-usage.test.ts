import { expect, it } from 'vitest';
import { cpuSecondsOf, rssBytesOf, usageOf } from './process-usage.ts';

it('reads CPU time behind a name with spaces and parentheses', () => {
  const fields = ['S', 1, 1, 1, 0, -1, 0, 0, 0, 0, 0, 250, 50, 0, 0];
  expect(cpuSecondsOf(`42 (a) b (c)) ${fields.join(' ')}`)).toBe(3);
});

it('reads resident memory', () => {
  expect(rssBytesOf('VmPeak:\t  9 kB\nVmRSS:\t  2048 kB\n')).toBe(2048 * 1024);
});

it('finds a living process in memory, and none where there is none', async () => {
  const { cpuSeconds, rssBytes } = await usageOf(process.pid);
  expect(cpuSeconds).toBeGreaterThan(0);
  expect(rssBytes).toBeGreaterThan(1e6);
  await expect(usageOf(2 ** 30)).rejects.toThrow('ENOENT');
});
