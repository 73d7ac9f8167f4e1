/** A question to a database process that is given up after a while. */
import type { EngineContext } from './engine-context.ts';

/** Made once: an abort without a reason makes an exception with a stack each time. */
const isOver = new Error('the exchange is over');

/**
 * Rejects when `work` takes longer than `ms`. The signal that `work` gets aborts then, and also when it is over: whatever
 * was opened with it can be closed by it.
 *
 * @param what names the process in the message
 */
export async function within<T>(
  io: Pick<EngineContext, 'sleep'>,
  ms: number,
  what: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const late = io.sleep(ms, over.signal).then(() => {
    throw new Error(`${what} did not answer within ${ms} ms`);
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([work(over.signal), late]);
  } finally {
    over.abort(isOver);
  }
}
