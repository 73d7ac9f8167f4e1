import { defineConfig } from 'vitest/config';

/**
 * Unit tests run anywhere in seconds. Tests of a whole engine on real processes need the sandbox's programs, and are
 * skipped where those have not been compiled. A sample of the fault matrix takes a minute or two. End-to-end tests need
 * a real Kubernetes. Each kind runs after the one before it, the last one file at a time.
 */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [
            'test/e2e/**',
            'test/faults/sample/**',
            'test/engines/*/real-members*.test.ts',
            'test/agent/real-*.test.ts',
          ],
          globalSetup: ['test/redis-server.setup.ts'],
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'members',
          include: ['test/engines/*/real-members*.test.ts', 'test/agent/real-*.test.ts'],
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'faults',
          include: ['test/faults/sample/*.test.ts'],
          sequence: { groupOrder: 2 },
          testTimeout: 300_000,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: ['test/e2e/sandbox.ts'],
          fileParallelism: false,
          sequence: { groupOrder: 3 },
          testTimeout: 300_000,
          hookTimeout: 600_000,
        },
      },
    ],
  },
});
