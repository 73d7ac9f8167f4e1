/** The fence of simulated pods. `real-fence.test.ts` has the same with real servers. */
import { describe, expect, it } from 'vitest';
import { ask, dataPods, podCluster } from './pod-cluster.ts';

describe.each([1, 2, 3])('a primary that is cut off where no replica is needed, seed %i', (seed) => {
  it.each(['Isolated', 'Strict'] as const)(
    'refuses writes in time, and takes them when it is back (%s)',
    async (mode) => {
      const stage = await podCluster(seed, { fence: { mode } });
      for (const pod of dataPods) await ask(stage, pod, 'CONFIG SET min-replicas-to-write 0');
      const everybody = [...stage.processes.dataNodes, ...stage.processes.sentinels].map(({ ip }) => ip);
      const near = mode === 'Strict' ? ['db-0', 'db-1'] : ['db-0'];
      const own = near.map((pod) => stage.ip(pod));
      const refusedAfter = async (): Promise<number> => {
        const began = stage.time.monotonic();
        while ((await ask(stage, 'db-0', 'SET late 1')) === 'OK') await stage.time.advance(100);
        return stage.time.monotonic() - began;
      };
      // Sentinels that do not run elect nobody.
      const sentinels = [...stage.processes.sentinels];
      for (const sentinel of sentinels) sentinel.freeze();
      const heal = stage.network.cut(
        own,
        everybody.filter((ip) => !own.includes(ip)),
      );
      const took = await refusedAfter();
      expect(took).toBeGreaterThan(8000);
      expect(took).toBeLessThan(13_000);
      expect(await ask(stage, 'db-0', 'SET late 1')).toBe('NOREPLICAS Not enough good replicas to write.');
      for (const sentinel of sentinels) sentinel.thaw();
      heal();
      expect(
        await stage.time.advanceUntil(
          () => stage.processes.data(stage.ip('db-0'))?.settings.text('min-replicas-to-write') === '0',
          2500,
        ),
      ).toBe(true);
    },
  );
});
