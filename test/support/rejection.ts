/**
 * The error that a promise is rejected with. For tests of one file that run at the same time and wait: Vitest counts an
 * `expect(…).rejects` that fails for the test that began last, though the test that owns it asks again.
 */
export async function rejection(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
  throw new Error('it was not rejected');
}
