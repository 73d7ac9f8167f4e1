/** Waiting for the world: asks again and again until the answer is right, or the time is over. */

export interface Patience {
  /** Default two minutes: a machine under load may need them. */
  readonly withinMs?: number;
  /** Pause between two questions; default 100 ms. */
  readonly everyMs?: number;
}

/** Resolves with the first answer that is not an exception. When the time is over it rejects with the last exception. */
export async function until<T>(what: string, ask: () => Promise<T> | T, patience: Patience = {}): Promise<T> {
  const { withinMs = 120_000, everyMs = 100 } = patience;
  const deadline = performance.now() + withinMs;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (performance.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, everyMs));
        continue;
      }
      if (error instanceof Error) error.message = `${what}: not within ${withinMs} ms\n${error.message}`;
      throw error;
    }
  }
}
