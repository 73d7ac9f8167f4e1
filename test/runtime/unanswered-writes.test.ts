import { expect, it } from 'vitest';
import { createUnansweredWrites } from '../../src/runtime/unanswered-writes.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

function begin() {
  const clock = new VirtualClock();
  const writes = createUnansweredWrites(clock, 15_000);
  let settle: { resolve: (answer: string) => void; reject: (error: Error) => void } | undefined;
  let send: () => void = () => undefined;
  const write = writes.track(
    (sent) =>
      new Promise<string>((resolve, reject) => {
        send = sent;
        settle = { resolve, reject };
      }),
  );
  const end = async (how: 'resolve' | 'reject'): Promise<unknown> => {
    if (how === 'resolve') settle?.resolve('answer');
    else settle?.reject(new Error('cut off'));
    return write.catch((error: Error) => error.message);
  };
  return { clock, writes, send: () => send(), end };
}

it('a write counts from when it is sent until it is answered', async () => {
  const { writes, send, end } = begin();
  const seen = [writes.any];
  send();
  send();
  seen.push(writes.any);
  expect([await end('resolve'), ...seen, writes.any]).toEqual(['answer', false, true, false]);
});

it('one that was never sent does not count, however it ends', async () => {
  const { writes, end } = begin();
  expect([await end('reject'), writes.any]).toEqual(['cut off', false]);
});

it('one without an answer counts for as long as a standby would wait', async () => {
  const { clock, writes, send, end } = begin();
  send();
  expect([await end('reject'), writes.any]).toEqual(['cut off', true]);
  await clock.advance(14_999);
  expect(writes.any).toBe(true);
  await clock.advance(1);
  expect(writes.any).toBe(false);
});
