import { defineConfig } from 'vitest/config';

/** The unit tests as `screen.mjs` runs them: one after the other in one process. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/{e2e,faults,package,sandbox,bench}/**', 'test/**/real-*.test.ts'],
    globalSetup: ['test/programs.setup.ts'],
    runner: './test/mutation/runner.mjs',
    isolate: false,
    pool: 'threads',
    maxWorkers: 1,
    testTimeout: 60_000,
    dangerouslyIgnoreUnhandledErrors: true,
  },
});
