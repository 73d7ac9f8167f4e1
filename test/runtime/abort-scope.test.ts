import { getMaxListeners } from 'node:events';
import { expect, it } from 'vitest';
import { createAbortScope } from '../../src/runtime/abort-scope.ts';

it('follows its parent, with its reason', () => {
  const parent = new AbortController();
  const scope = createAbortScope(parent.signal);
  parent.abort('over');
  expect(scope.signal.reason).toBe('over');
  expect(createAbortScope(parent.signal).signal.reason).toBe('over');
});

it('does not lead it, and leaves it on demand', () => {
  const parent = new AbortController();
  const [own, disposed] = [createAbortScope(parent.signal), createAbortScope(parent.signal)];
  own.abort('mine');
  disposed.dispose();
  expect([own.signal.reason, parent.signal.aborted]).toEqual(['mine', false]);
  parent.abort('over');
  expect(disposed.signal.aborted).toBe(false);
});

it('may be listened to by every connection of a pass', () => {
  expect(getMaxListeners(createAbortScope().signal)).toBe(Number.POSITIVE_INFINITY);
});
