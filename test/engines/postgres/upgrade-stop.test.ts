/** The cluster stops for a major upgrade, and whatever is not as it must be cancels it. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { situationOf } from '../../../src/engines/postgres/observe/situation.ts';
import { planPostgres } from '../../../src/engines/postgres/plan/plan.ts';
import type { UpgradeRecord } from '../../../src/engines/postgres/resources/upgrade-record.ts';
import { now, postgresWorld, type Story, systemId } from '../../support/postgres-situation.ts';
import {
  allGone,
  at,
  base,
  before,
  checkpoint,
  compared,
  paused,
  recordAfter,
  spec,
  withJobs,
  withPause,
} from '../../support/postgres-upgrade.ts';
import { type PlanRow, planned } from '../../support/postgres-words.ts';

const due = { spec, before } satisfies Story;
const table = (rows: readonly PlanRow[]): void =>
  it.each(rows)('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

const stopping = { ...due, record: base } satisfies Story;
const cancelled = 'wait UpgradeCancelled';

describe('stopping', () => {
  const unpause = 'db-config: metadata.annotations[config].pause false';
  const set = (number: number) => `apply StatefulSet db-${number}: spec.replicas`;
  table([
    ['pauses Patroni first', stopping, ['db-config: metadata.annotations[config].pause true', 'wait Upgrading']],
    [
      'waits until every Patroni knows',
      { ...stopping, members: { 0: { isPaused: true } }, children: withPause() },
      ['wait Upgrading'],
    ],
    ['stops the primary first', { ...stopping, members: paused, children: withPause() }, [set(0), 'wait Upgrading']],
    [
      'waits for the primary while it stops',
      { ...stopping, running: [1, 2], pods: { 0: 'stopping' }, members: paused, children: withPause() },
      ['wait Upgrading'],
    ],
    [
      'then stops the standbys',
      {
        ...stopping,
        running: [1, 2],
        members: { ...paused, 0: 'gone' },
        leader: 0,
        primary: 'nobody',
        children: withPause(),
      },
      [set(1), set(2), 'wait Upgrading'],
    ],
    [
      'compares all volumes once nobody runs',
      { ...stopping, ...allGone, children: withPause() },
      [0, 1, 2].map((number) => `create Job db-checkpoint-${number}`).concat('wait Upgrading'),
    ],
    [
      'makes a Job again that somebody has deleted',
      {
        ...stopping,
        ...allGone,
        children: withPause(...compared(checkpoint('shut down'), checkpoint('shut down in recovery'))),
      },
      ['create Job db-checkpoint-2', 'wait Upgrading'],
    ],
    [
      'makes a Job again of which nobody knows what it came to',
      { ...stopping, ...allGone, children: withPause(...compared('lost', 'running', 'running')) },
      ['delete Job db-checkpoint-0', 'wait Upgrading'],
    ],
  ]);

  const endsInCancel: readonly (readonly [string, Story, string | undefined])[] = [
    ['another member has become primary', { ...stopping, primary: 1 }, undefined],
    ['a member is not well any more', { ...stopping, members: { 2: 'silent' } }, undefined],
    ['the version is not wanted any more', { ...stopping, spec: { ...spec, version: '15' } }, undefined],
    [
      'the primary was not shut down in order',
      {
        ...stopping,
        ...allGone,
        children: withPause(
          ...compared(
            checkpoint('in production'),
            checkpoint('shut down in recovery'),
            checkpoint('shut down in recovery'),
          ),
        ),
      },
      'not shut down in order',
    ],
    [
      'the volume is of another database',
      {
        ...stopping,
        ...allGone,
        children: withPause(
          ...compared(
            checkpoint('shut down', '0/1', '9'),
            checkpoint('shut down in recovery'),
            checkpoint('shut down in recovery'),
          ),
        ),
      },
      'not shut down in order',
    ],
    [
      'no standby has everything',
      {
        ...stopping,
        ...allGone,
        children: withPause(
          ...compared(
            checkpoint('shut down'),
            checkpoint('shut down in recovery', '0/1'),
            checkpoint('shut down in recovery', '0/2'),
          ),
        ),
      },
      'no standby has the last checkpoint',
    ],
    [
      'a standby has been promoted meanwhile, and another one is equal',
      {
        ...stopping,
        ...allGone,
        children: withPause(
          ...compared(
            checkpoint('shut down'),
            checkpoint('shut down', '0/F8157700', systemId, 3),
            checkpoint('shut down in recovery'),
          ),
        ),
      },
      'db-1-0 may have later commits than db-0-0',
    ],
    [
      'a standby has been promoted, and ended before its first checkpoint',
      {
        ...stopping,
        ...allGone,
        children: withPause(
          ...compared(
            checkpoint('shut down'),
            checkpoint('shut down in recovery'),
            checkpoint('in production', '0/F8157600'),
          ),
        ),
      },
      'db-2-0 may have later commits than db-0-0',
    ],
    [
      'a volume cannot be read',
      {
        ...stopping,
        ...allGone,
        children: withPause(...compared(checkpoint('shut down'), { fails: 1, says: 'input/output error' }, 'running')),
      },
      'input/output error',
    ],
  ];
  it.each(endsInCancel)('ends, and all members start again, when %s', (_, story, why) => {
    expect(planned(story).at(-1)).toBe(cancelled);
    const record = recordAfter(story)?.upgrade as UpgradeRecord;
    expect(record.stage).toBe('cancelled');
    if (why === undefined) expect(record.why).toBeUndefined();
    else expect(record.why).toContain(why);
    if (story.running !== undefined)
      expect(planned(story)).toEqual(expect.arrayContaining([unpause, set(0), set(1), set(2)]));
  });

  it('ends where somebody has ended the pause, and another member has been elected: that one is not stopped', () => {
    const story = { ...stopping, running: [1, 2], members: { 0: 'gone' }, primary: 1 } satisfies Story;
    expect(planned(story)).toEqual(['apply ConfigMap db-members: data.upgrade', set(0), cancelled]);
    expect(recordAfter(story)).toMatchObject({ upgrade: { stage: 'cancelled' } });
  });

  describe('a Job whose pod finds no node', () => {
    /** Of the last standby. */
    const unscheduled = (ageMs: number): Story => {
      const [own = [], first = []] = compared(checkpoint('shut down'), checkpoint('shut down in recovery'));
      const [job, pod] = compared('running', 'running', 'running')[2] ?? [];
      const creationTimestamp = new Date(now - ageMs).toISOString();
      const conditions = [{ type: 'PodScheduled', status: 'False', message: '0/3 nodes are available' }];
      const last = [
        { ...job, metadata: { ...job?.metadata, creationTimestamp } },
        { ...pod, status: { phase: 'Pending', conditions } },
      ] as KubeObject[];
      return { ...stopping, ...allGone, children: withPause(own, first, last) };
    };
    const outcomeOf = (story: Story) => {
      const { cluster, children, observed } = postgresWorld(story);
      return planPostgres(situationOf(cluster, children, observed), () => undefined).outcome;
    };

    it('is said, since nobody is served meanwhile', () => {
      expect(planned(unscheduled(60_000))).toEqual(['wait Upgrading']);
      expect(outcomeOf(unscheduled(60_000))).toMatchObject({
        message: expect.stringContaining('db-checkpoint-2-x1y2z cannot be scheduled: 0/3 nodes are available'),
      });
    });

    it('is no Job of an earlier upgrade, which is being deleted', () => {
      const [own = [], first = []] = compared(checkpoint('shut down'), checkpoint('shut down in recovery'));
      const [job] = compared('running', 'running', 'running')[2] ?? [];
      const [creationTimestamp, deletionTimestamp] = [3_600_000, 1000].map((ageMs) =>
        new Date(now - ageMs).toISOString(),
      );
      const going = { ...job, metadata: { ...job?.metadata, creationTimestamp, deletionTimestamp } } as KubeObject;
      expect(planned({ ...stopping, ...allGone, children: withPause(own, first, [going]) })).toEqual([
        'wait Upgrading',
      ]);
    });

    it('is not waited for: all members start again on the old version', () => {
      const late = unscheduled(301_000);
      expect(planned(late)).toEqual(expect.arrayContaining([unpause, set(0), set(1), set(2), cancelled]));
      expect(recordAfter(late)).toMatchObject({
        upgrade: { stage: 'cancelled', why: expect.stringContaining('cannot be scheduled: 0/3 nodes are available') },
      });
    });

    it('goes once the upgrade is given up, also where nobody is primary yet, and those that have ended stay', () => {
      const [own = [], first = [], last = []] = compared(checkpoint('shut down'), checkpoint('shut down'), 'running');
      const record = at('cancelled', { why: 'it was late', isResumed: true });
      const story = { ...due, record, ...withJobs(own, first, last) };
      expect(planned(story)).toEqual(['delete Job db-checkpoint-2', 'wait Updating']);
      expect(planned({ ...story, primary: 'nobody' })).toEqual(['delete Job db-checkpoint-2', 'wait NoPrimary']);
    });
  });

  it('goes on with the standbys that are proven equal', () => {
    const children = withPause(
      ...compared(
        checkpoint('shut down'),
        checkpoint('shut down in recovery', '0/1'),
        checkpoint('shut down in recovery'),
      ),
    );
    expect(recordAfter({ ...stopping, ...allGone, children })).toMatchObject({
      version: '15',
      upgrade: { stage: 'upgrading', kept: [2] },
    });
  });
});
