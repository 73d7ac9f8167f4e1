/**
 * The clock of one process that can be made to stand still, as under SIGSTOP: timers fall due but do not ring, requests
 * are not sent and answers not heard, until it goes on. Time itself goes on meanwhile.
 */

import type { Transport } from '../../../src/runtime/transport.ts';
import type { Clock } from '../../../src/system/clock.ts';

export interface PausableClock extends Clock {
  pause(ms: number): void;
  /** Resolves when the process runs. */
  running(): Promise<void>;
  /** The same wire, for a process on this clock. */
  transport(inner: Transport): Transport;
}

export function pausableClock(clock: Clock): PausableClock {
  let until = 0;
  const isPaused = (): boolean => clock.monotonic() < until;
  const running = async (): Promise<void> => {
    while (isPaused()) {
      await new Promise<void>((resolve) => {
        clock.after(until - clock.monotonic(), resolve);
      });
    }
  };
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    after(ms, call) {
      let cancelled = false;
      const cancel = clock.after(ms, () => {
        if (!isPaused()) return call();
        void running().then(() => {
          if (!cancelled) call();
        });
      });
      return () => {
        cancelled = true;
        cancel();
      };
    },
    pause(ms) {
      until = Math.max(until, clock.monotonic() + ms);
    },
    running,
    transport: (inner) => ({
      async request(request) {
        if (isPaused()) await running();
        try {
          return await inner.request(request);
        } finally {
          // Nor is a connection heard to break.
          if (isPaused()) await running();
        }
      },
      stream: (request) => inner.stream(request),
      close: () => inner.close(),
    }),
  };
}
