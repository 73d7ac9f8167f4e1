/** What follows where a major upgrade was given up, and the members run the old version again. */
import { describe, expect, it } from 'vitest';
import type { Story } from '../../support/postgres-situation.ts';
import { at, before, spec, withPause } from '../../support/postgres-upgrade.ts';
import { type PlanRow, planned } from '../../support/postgres-words.ts';

const due = { spec, before } satisfies Story;
const table = (rows: readonly PlanRow[]): void =>
  it.each(rows)('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

describe('a cancelled upgrade', () => {
  const why = 'no standby has the last checkpoint';
  table([
    [
      'ends the pause first, also while nobody is primary',
      { ...due, record: at('cancelled'), primary: 'nobody', leader: 0, children: withPause() },
      ['db-config: metadata.annotations[config].pause false', 'wait NoPrimary'],
    ],
    [
      'is forgotten where it may be tried again',
      { ...due, spec: { ...spec, version: '15' }, record: at('cancelled') },
      ['apply ConfigMap db-members: ', 'settled'],
    ],
    [
      'is not tried again for the same spec',
      { ...due, record: at('cancelled', { why, isResumed: true }) },
      ['blocked UpgradeCancelled'],
    ],
    [
      'writes down that its own pause is over',
      { ...due, record: at('cancelled', { why }) },
      ['apply ConfigMap db-members: data.upgrade', 'blocked UpgradeCancelled'],
    ],
    [
      'leaves a pause to whoever has paused Patroni since',
      { ...due, record: at('cancelled', { why, isResumed: true }), children: withPause() },
      ['blocked UpgradeCancelled'],
    ],
    [
      'is tried again for another one',
      { ...due, metadata: { generation: 2 }, record: at('cancelled', { why }) },
      ['create Job db-rehearsal', 'wait Rehearsing'],
    ],
  ]);
});
