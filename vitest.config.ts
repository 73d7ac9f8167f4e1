import { defineConfig } from 'vitest/config';

/**
 * Unit tests run anywhere in seconds. Tests of a whole engine on real processes need the sandbox's programs, and are
 * skipped where those have not been compiled. End-to-end tests need a real Kubernetes, and run after them, one file at a time.
 */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/e2e/**', 'test/engines/*/real-members*.test.ts'],
          globalSetup: ['test/redis-server.setup.ts'],
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'members',
          include: ['test/engines/*/real-members*.test.ts'],
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: ['test/e2e/sandbox.ts'],
          fileParallelism: false,
          sequence: { groupOrder: 2 },
          testTimeout: 300_000,
          hookTimeout: 600_000,
        },
      },
    ],
  },
});
