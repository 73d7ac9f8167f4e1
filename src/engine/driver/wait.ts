/** Waits that end: nobody's silence holds the agent up for longer than it is told. */

import type { AgentContext } from './agent-context.ts';
import type { Failure } from './failure.ts';

export type Patience = Pick<AgentContext, 'clock' | 'signal'> & { readonly idleMs: number };

/**
 * Rejects with `late` once nothing came for the idle time, and with the signal's reason when it aborts. Whoever made the
 * promise has to end what stands behind it.
 */
export function inTime<T>(promise: Promise<T>, { clock, signal, idleMs }: Patience, late: () => Failure): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    if (signal.aborted) {
      // Nobody waits for it any more.
      promise.catch(() => undefined);
      return reject(signal.reason);
    }
    const abort = (): void => end(() => reject(signal.reason));
    const cancel = clock.after(idleMs, () => end(() => reject(late())));
    const end = (settle: () => void): void => {
      cancel();
      signal.removeEventListener('abort', abort);
      settle();
    };
    signal.addEventListener('abort', abort);
    promise.then(
      (value) => end(() => resolve(value)),
      (error) => end(() => reject(error)),
    );
  });
}

/**
 * The same content, each piece of it in time. `stop` ends whatever the content comes from: it is called when the reader
 * has enough, when time is up and when the signal aborts.
 */
export async function* piecesInTime(
  content: AsyncIterable<Uint8Array>,
  patience: Patience,
  late: () => Failure,
  stop: () => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  const pieces = content[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await inTime(pieces.next(), patience, late);
      if (done) return;
      yield value;
    }
  } finally {
    stop();
  }
}
