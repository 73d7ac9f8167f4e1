import { defineConfig } from 'vitest/config';

/** The unit tests as the mutation tester runs them: without what builds, spawns servers or takes longer than a mutant may. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [
      'test/e2e/**',
      'test/faults/**',
      'test/package/**',
      'test/sandbox/**',
      'test/bench/**',
      'test/**/real-*.test.ts',
    ],
    testTimeout: 30_000,
  },
});
