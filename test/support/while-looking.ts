/**
 * Runs `work`, and `look` again and again until it has ended. A look that fails is made up for by the next; where the
 * last one failed nobody knows what there was to see, and its error rejects.
 */
export async function whileLooking<T>(
  look: () => Promise<unknown>,
  everyMs: number,
  work: () => Promise<T>,
): Promise<T> {
  let isOver = false;
  let failure: unknown;
  const looking = (async () => {
    while (!isOver) {
      failure = await look().then(
        () => undefined,
        (error: unknown) => error,
      );
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  })();
  let result: T;
  try {
    result = await work();
  } finally {
    isOver = true;
    await looking;
  }
  if (failure !== undefined) throw failure;
  return result;
}
