/** O7: the process itself: nothing unhandled, no end of its own accord, and an orderly one when asked. */
import type { Oracle } from '../record.ts';

/** The grace period of its pod: passes that have begun are finished within it, or told to end. */
const patienceMs = 30_000;

export const process: Oracle = {
  id: 'O7',
  promise: 'the process handles every error and ends when asked',
  check: ({ unhandled, lives, stopMs }) => [
    ...unhandled.map((error) => `not handled: ${error}`),
    ...lives.filter(({ end }) => end === 'failed').map(({ id, error }) => `process ${id} ended by itself: ${error}`),
    ...(stopMs === undefined || stopMs > patienceMs ? ['it did not end when asked'] : []),
  ],
};
