/**
 * An answer, or a signal's reason as soon as it aborts, whichever comes first.
 *
 * For what may go on after it was aborted: a request that waits for a connection, a credentials plugin that hangs. What
 * comes of it afterwards is nobody's business any more, its failure included.
 */
export function untilAborted<Answer>(signal: AbortSignal, begun: Promise<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    const leave = (): void => signal.removeEventListener('abort', abort);
    begun.then(resolve, reject).finally(leave);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}
