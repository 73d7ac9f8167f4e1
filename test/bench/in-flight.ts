/** Work on many items with a bounded number in flight: the one way in which the bench puts load on a server. */

/** Resolves when all are done; rejects with the first failure, after what is in flight has ended. */
export async function inFlight<T>(limit: number, items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const iterator = items[Symbol.iterator]();
  let failed = false;
  const lane = async (): Promise<void> => {
    for (let next = iterator.next(); !failed && next.done !== true; next = iterator.next()) {
      try {
        await work(next.value);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: limit }, lane));
  const failure = lanes.find((each) => each.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
}

export function* range(from: number, to: number): Generator<number> {
  for (let i = from; i < to; i++) yield i;
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
