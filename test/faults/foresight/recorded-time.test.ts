/** What a thread is at work on is waited for, and no timer beyond the first time runs before. */
import { pbkdf2 } from 'node:crypto';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { over } from '../simulated/settling.ts';
import { virtualTime } from '../world/time.ts';
import { againUntil } from './recorded-time.ts';

const derived = promisify(pbkdf2);
const patienceMs = 60_000;

it('a key is derived between two answers', async () => {
  const time = virtualTime();
  const answered = (): Promise<void> => new Promise((resolve) => void time.after(10, resolve));
  time.after(11_000, () => undefined);
  const work = (async () => {
    await answered();
    await derived('a password', 'salt', 50_000, 32, 'sha256');
    await answered();
  })();
  expect(await againUntil(time, over(work), { tookMs: 20, patienceMs })).toBe(true);
  expect(time.monotonic()).toBe(20);
});

it('what never comes is waited for no longer than the patience', async () => {
  const time = virtualTime();
  time.after(11_000, () => undefined);
  expect(await againUntil(time, () => false, { tookMs: 20, patienceMs })).toBe(false);
});
