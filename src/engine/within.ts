/** A question to a database process that is given up after a while. */
import type { EngineContext } from './engine-context.ts';

/** Made once: an abort without a reason makes an exception with a stack each time. */
const isOver = new Error('the exchange is over');

/** No answer came in time. What was asked for may have been done, or may go on. */
export class Unanswered extends Error {
  override readonly name = 'Unanswered';
}

/**
 * Rejects with {@link Unanswered} when `work` takes longer than `ms`. The signal that `work` gets aborts then, and also when it is over: whatever
 * was opened with it can be closed by it.
 *
 * @param what names the process in the message, and what it was asked for: `10.0.0.7 (GET /config)`
 */
export async function within<T>(
  io: Pick<EngineContext, 'sleep'>,
  ms: number,
  what: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const late = io.sleep(ms, over.signal).then(() => {
    throw new Unanswered(`${what} did not answer within ${ms} ms`);
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([work(over.signal), late]);
  } finally {
    over.abort(isOver);
  }
}
