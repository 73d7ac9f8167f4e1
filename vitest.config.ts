import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Each test may be held up by its neighbours: these limits end only what would go on for ever. */
const patient = { testTimeout: 30_000, hookTimeout: 60_000, expect: { poll: { timeout: 20_000 } } };
const endToEnd = { globalSetup: ['test/e2e/sandbox.ts'], testTimeout: 900_000, hookTimeout: 600_000 };

/**
 * What needs real processes of a database or of the object store is named `real-*`. It is skipped where these programs have not
 * been compiled.
 */
const realProcesses = 'test/**/real-*.test.ts';

/**
 * Unit tests run anywhere, within a minute. A sample of the fault matrix takes a few minutes. End-to-end tests need a real
 * Kubernetes; those that stop one of its nodes have it for themselves. Each kind runs after the one before it. `npm test` runs the
 * essential stories; `npm run test:all` also those in `test/e2e/exhaustive`, which a release and a new engine have to pass.
 */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/e2e/**', 'test/faults/sample/**', 'test/package/registry/**', realProcesses],
          globalSetup: ['test/programs.setup.ts'],
          ...patient,
          maxWorkers: '100%',
          // Modules are loaded once a worker and not once a file: that halves the time. No test may leave anything behind.
          isolate: false,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'members',
          include: [realProcesses],
          globalSetup: ['test/programs.setup.ts', 'test/helm.setup.ts', 'test/gitops.setup.ts'],
          // Where three files share two cores with everybody else, a test takes several times as long as alone.
          testTimeout: 300_000,
          hookTimeout: 180_000,
          expect: { poll: { timeout: 60_000 } },
          // Most of the time these tests wait for a database.
          maxWorkers: 3,
          // How many tests of one file run at once. Each can be a database with several members.
          maxConcurrency: 3,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'faults',
          include: ['test/faults/sample/*.test.ts'],
          maxWorkers: '100%',
          sequence: { groupOrder: 2 },
          testTimeout: 600_000,
        },
      },
      {
        test: {
          ...endToEnd,
          name: 'e2e',
          include: ['test/e2e/*.test.ts'],
          // Each plays in a namespace and with an operator of its own, and mostly waits.
          maxWorkers: 3,
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
      {
        test: {
          ...endToEnd,
          name: 'e2e-exhaustive',
          include: ['test/e2e/exhaustive/*.test.ts'],
          // With three on two cores, pods take longer to start than stories wait.
          maxWorkers: Math.min(3, Math.max(2, availableParallelism() - 1)),
          sequence: { groupOrder: 5 },
        },
      },
      {
        test: {
          name: 'registry',
          include: ['test/package/registry/*.test.ts'],
          ...patient,
          sequence: { groupOrder: 6 },
        },
      },
    ],
  },
});
