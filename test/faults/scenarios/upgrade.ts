/**
 * The primary's machine is away for a moment while the replicas of an older version restart as a newer one, so that one of
 * the newer version is elected. The primary comes back as it was.
 */
import type { Scenario, Spec, Stage } from './scenario.ts';

const wanted = '8.0';
const lookMs = 200;
/** For the new template to get as far as the second replica, also where nobody may write for a while. */
const patienceMs = 120_000;
/** For an election. */
const awayMs = 12_000;

/** One replica is back with the new version, and the other is on its way: nobody else can be elected. */
function isHalfWay(stage: Stage): boolean {
  const versions = [...stage.versions().values()];
  return versions.length === 2 && versions.includes(wanted);
}

export function failoverWithin(before: Spec): Omit<Scenario, 'engine'> {
  return {
    id: 'S5',
    title: 'version 7.0→8.0, with a failover during the upgrade',
    touches: ['version'],
    // Each on a machine of its own.
    before: { ...before, version: '7.0', scheduling: { topologySpread: 'Required' } },
    async act(stage) {
      const primary = stage.primary();
      await stage.change({ version: wanted });
      for (let ms = 0; ms < patienceMs && !isHalfWay(stage); ms += lookMs) await stage.pause(lookMs);
      await stage.powerOff([primary], awayMs);
    },
    end: 'whole',
    writes: 60,
    written: true,
  };
}
