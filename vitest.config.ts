import { defineConfig } from 'vitest/config';

/** Each test may be held up by its neighbours: these limits end only what would go on for ever. */
const patient = { testTimeout: 30_000, hookTimeout: 60_000, expect: { poll: { timeout: 20_000 } } };
const endToEnd = { globalSetup: ['test/e2e/sandbox.ts'], testTimeout: 900_000, hookTimeout: 600_000 };

/**
 * Unit tests run anywhere in seconds. Tests of a whole engine on real processes need the sandbox's programs, and are
 * skipped where those have not been compiled. A sample of the fault matrix takes a minute or two. End-to-end tests need
 * a real Kubernetes; those that stop one of its nodes have it for themselves. Each kind runs after the one before it.
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
          ...patient,
          maxWorkers: '100%',
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'members',
          include: ['test/engines/*/real-members*.test.ts', 'test/agent/real-*.test.ts'],
          ...patient,
          testTimeout: 120_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'faults',
          include: ['test/faults/sample/*.test.ts'],
          maxWorkers: '100%',
          sequence: { groupOrder: 2 },
          testTimeout: 300_000,
        },
      },
      {
        test: {
          ...endToEnd,
          name: 'e2e',
          include: ['test/e2e/*.test.ts'],
          // Each plays in a namespace and with an operator of its own, and mostly waits.
          maxWorkers: 2,
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          ...endToEnd,
          name: 'e2e-nodes',
          include: ['test/e2e/nodes/*.test.ts'],
          fileParallelism: false,
          sequence: { groupOrder: 4 },
        },
      },
    ],
  },
});
