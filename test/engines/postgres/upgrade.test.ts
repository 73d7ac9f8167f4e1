/** A major upgrade, from every state in which an operator may find it. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { situationOf } from '../../../src/engines/postgres/observe/situation.ts';
import { planPostgres } from '../../../src/engines/postgres/plan/plan.ts';
import { afterDigest } from '../../../src/engines/postgres/resources/after-upgrade.ts';
import { upgradeAnnotation } from '../../../src/engines/postgres/resources/upgrade-job.ts';
import { postgresCluster, postgresWorld, type Story, systemId } from '../../support/postgres-situation.ts';
import {
  allGone,
  at,
  base,
  before,
  type Ending,
  jobOf,
  kept,
  recordAfter,
  spec,
  told,
  withJobs,
  withPause,
} from '../../support/postgres-upgrade.ts';
import { type PlanRow, planned } from '../../support/postgres-words.ts';

const rehearsed = jobOf({ mode: 'rehearse' }, { says: 'system=9' });
const due = { spec, before } satisfies Story;
const table = (rows: readonly PlanRow[]): void =>
  it.each(rows)('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

function messageOf(story: Story): string {
  const { cluster, children, observed } = postgresWorld(story);
  const { outcome } = planPostgres(situationOf(cluster, children, observed), () => undefined);
  return outcome.state === 'settled' ? '' : outcome.message;
}

describe('a higher version in the spec', () => {
  table([
    ['restarts nobody, and begins with a rehearsal', due, ['create Job db-rehearsal', 'wait Rehearsing']],
    [
      'needs a backup, or consent',
      { ...due, spec: { ...spec, upgrade: { withoutBackup: false } } },
      ['blocked UpgradeNeedsBackup'],
    ],
    ['waits for a member that is not well', { ...due, members: { 2: 'silent' } }, ['wait MembersNotReady']],
    [
      'is not begun while a volume goes with its pod',
      { ...due, claims: { 2: 'going' }, ...withJobs(rehearsed) },
      ['blocked VolumesGoing'],
    ],
    ['waits for the rehearsal', { ...due, ...withJobs(jobOf({ mode: 'rehearse' }, 'running')) }, ['wait Rehearsing']],
    [
      'is refused in the words of pg_upgrade, and nothing stops',
      { ...due, ...withJobs(jobOf({ mode: 'rehearse' }, { fails: 3, says: 'aclitem' })) },
      ['blocked UpgradeRefused'],
    ],
    [
      'is not begun when the rehearsal could not be carried out',
      { ...due, ...withJobs(jobOf({ mode: 'rehearse' }, { fails: 1, says: 'no room' })) },
      ['blocked RehearsalFailed'],
    ],
    [
      'takes no rehearsal for another generation of the spec',
      { ...due, ...withJobs(jobOf({ mode: 'rehearse' }, { says: 'system=9' }, '15-17-0')) },
      ['delete Job db-rehearsal', 'wait Rehearsing'],
    ],
    [
      'does not begin while a person has paused Patroni: its end would be the end of that pause',
      { ...due, children: withPause() },
      ['wait FailoverPaused'],
    ],
    [
      'is nothing while the cluster is parked',
      { ...due, spec: { ...spec, instances: 0 }, numbers: [], primary: 'nobody' },
      ['settled'],
    ],
  ]);

  it('begins after the rehearsal: the record comes before anything else', () => {
    expect(recordAfter({ ...due, ...withJobs(rehearsed) })).toMatchObject({
      version: '15',
      upgrade: { ...base, image: 'postgres:17' },
    });
  });

  it('says what pg_upgrade has said', () => {
    const story = { ...due, ...withJobs(jobOf({ mode: 'rehearse' }, { fails: 3, says: 'uses "aclitem"' })) };
    expect(messageOf(story)).toContain('uses "aclitem"');
  });
});

describe('a lower version in the spec', () => {
  table([['is refused', { spec: { version: '15' }, before: { version: '17' } }, ['blocked DowngradeRefused']]]);
});

const cancelled = 'wait UpgradeCancelled';

const upgrading = { ...due, ...allGone, record: at('upgrading', kept) } satisfies Story;
const upgrade = (ending: Ending) => jobOf({ mode: 'upgrade', index: 0 }, ending);

describe('pg_upgrade on the volume of the leader', () => {
  table([
    [
      'is a Job, while nobody runs',
      { ...upgrading, children: withPause() },
      ['create Job db-upgrade', 'wait Upgrading'],
    ],
    ['is waited for', { ...upgrading, children: withPause(upgrade('running')) }, ['wait Upgrading']],
    [
      'is run again where nobody knows what it came to: it finds what is done',
      { ...upgrading, children: withPause(upgrade('lost')) },
      ['delete Job db-upgrade', 'wait Upgrading'],
    ],
    [
      'is not made again and again where no watch shows its pods',
      { ...upgrading, children: withPause(upgrade('robbed at once')) },
      ['wait Upgrading'],
    ],
    [
      'is run again at once where somebody has deleted its pod: Kubernetes would wait',
      { ...upgrading, children: withPause(upgrade('robbed')) },
      ['delete Job db-upgrade', 'wait Upgrading'],
    ],
    [
      'is deleted before the volume is put back: its next pod would upgrade it again',
      { ...upgrading, spec: { ...spec, version: '15' }, children: withPause(upgrade('robbed')) },
      ['delete Job db-upgrade', 'wait Upgrading'],
    ],
    [
      'has to end before the volume is put back',
      { ...upgrading, spec: { ...spec, version: '15' }, children: withPause(upgrade('orphaned')) },
      ['wait Upgrading'],
    ],
    [
      'that fails otherwise stops everything: nothing is started on a volume in doubt',
      { ...upgrading, children: withPause(upgrade({ fails: 137, says: '' })) },
      ['blocked UpgradeFailed'],
    ],
    [
      'that tells no other identifier stops everything',
      { ...upgrading, children: withPause(upgrade({ says: `system=${systemId}` })) },
      ['blocked UpgradeFailed'],
    ],
    [
      'is put back on request after a failure',
      {
        ...upgrading,
        record: at('undoing', kept),
        spec: { ...spec, version: '15' },
        children: withPause(upgrade({ fails: 1, says: 'x' })),
      },
      ['create Job db-undo-upgrade', cancelled],
    ],
    [
      'cannot be put back once the new version has run: nothing is started',
      {
        ...upgrading,
        spec: { ...upgrading.spec, version: '15' },
        record: at('undoing', kept),
        children: withPause(jobOf({ mode: 'undo', index: 0 }, { fails: 3, says: 'has run' })),
      },
      ['blocked UpgradeFailed'],
    ],
    [
      'goes on instead, where the new version has run and is wanted again',
      {
        ...upgrading,
        record: at('undoing', kept),
        children: withPause(jobOf({ mode: 'undo', index: 0 }, { fails: 3, says: 'has run' })),
      },
      ['apply ConfigMap db-members: data.upgrade', 'wait Upgrading'],
    ],
  ]);

  it('that is refused has put everything back: the old version starts again, with the reason', () => {
    const record = recordAfter({ ...upgrading, children: withPause(upgrade({ fails: 3, says: 'Checking … fatal' })) });
    expect(record).toMatchObject({ version: '15', upgrade: { stage: 'cancelled' } });
    expect(JSON.stringify(record)).toContain('Checking … fatal');
  });

  it('that has succeeded when it is not wanted any more goes on: the old version cannot read that data', () => {
    const story = {
      ...upgrading,
      spec: { ...spec, version: '15' },
      children: withPause(upgrade({ says: 'system=8008' })),
    } satisfies Story;
    expect(recordAfter(story)).toMatchObject({ upgrade: { stage: 'switching' } });
  });

  it('that has succeeded is written down with the new identifier before anything else', () => {
    expect(
      recordAfter({ ...upgrading, children: withPause(upgrade({ says: 'system=8008\nstate=shut down' })) }),
    ).toMatchObject({
      version: '15',
      upgrade: { stage: 'switching', newSystem: '8008', kept: [1, 2] },
    });
  });

  it('is put back on request: the record first', () => {
    const story = {
      ...upgrading,
      spec: { ...spec, version: '15' },
      children: withPause(upgrade({ fails: 1, says: 'x' })),
    } as const;
    expect(recordAfter(story)).toMatchObject({ upgrade: { stage: 'undoing' } });
  });
});

/** As the switch leaves them, from the first object on. */
const switched =
  (count: number): NonNullable<Story['children']> =>
  (objects) => {
    const order = ['data-db-0-0', 'data-db-1-0', 'data-db-2-0', 'db-leader', 'db-sync', 'db-config'];
    return withPause()(objects).map((object) => {
      const place = order.indexOf(object.metadata.name);
      if (place < 0 || place >= count || object.kind === 'StatefulSet') return object;
      const { annotations = {} } = object.metadata;
      const changed: Record<string, Record<string, string>> = {
        'data-db-0-0': {
          ...annotations,
          'clusterwright.dev/postgres-system': '8008',
          'clusterwright.dev/postgres-version': '17',
        },
        'data-db-1-0': { ...annotations, 'clusterwright.dev/retired': 'true' },
        'data-db-2-0': { ...annotations, 'clusterwright.dev/retired': 'true' },
        'db-leader': {},
        'db-sync': { leader: 'db-0-0', sync_standby: '', quorum: '0' },
        'db-config': {
          initialize: '8008',
          config: JSON.stringify({ ...JSON.parse(annotations.config ?? '{}'), pause: undefined }),
        },
      };
      return { ...object, metadata: { ...object.metadata, annotations: changed[object.metadata.name] ?? annotations } };
    });
  };
const switching = { ...upgrading, record: at('switching', told) } satisfies Story;

describe('another system identifier', () => {
  it.each([0, 1, 2, 3, 4, 5])('is told to the rest after %i of six objects, and nobody runs', (count) => {
    const plan = planned({ ...switching, children: switched(count) });
    expect(plan).toHaveLength(6 - count + 1);
    expect(plan.at(-1)).toBe('wait Upgrading');
    expect(plan.slice(0, -1).every((step) => /^(data-db|db-)/.test(step))).toBe(true);
  });

  it('then the leader starts alone, on the new version', () => {
    const story = { ...switching, children: switched(6) };
    expect(recordAfter(story)).toEqual({
      'db-0.start': 'join',
      version: '17',
      'first-database': 'filled',
      upgrade: expect.objectContaining({ stage: 'starting', newSystem: '8008' }),
    });
    const plan = planned(story);
    expect(plan).toEqual(expect.arrayContaining(['delete StatefulSet db-1', 'delete StatefulSet db-2']));
    expect(plan.find((step) => step.startsWith('apply StatefulSet db-0'))).toContain('spec.replicas');
    expect(plan.some((step) => step.startsWith('create StatefulSet'))).toBe(false);
  });

  table([
    [
      'of neither database is foreign even now',
      { ...switching, claims: { 1: 'foreign' }, children: withPause() },
      ['blocked ForeignData'],
    ],
    ['is foreign where no upgrade is written down', { claims: { 1: 'foreign' } }, ['blocked ForeignData']],
    [
      'is foreign before pg_upgrade has told it',
      { ...upgrading, claims: { 1: 'foreign' }, children: withPause() },
      ['blocked ForeignData'],
    ],
    [
      'is foreign once the new version runs, though it is that of the old data',
      {
        spec,
        record: at('finishing', { ...told, oldSystem: '9009', newSystem: systemId }),
        claims: { 1: 'foreign' },
      },
      ['blocked ForeignData'],
    ],
    [
      'is foreign once the new version runs',
      { spec, record: at('starting', told), numbers: [0], claims: { 0: 'foreign' } },
      ['blocked ForeignData'],
    ],
  ]);

  it('stays as it is where the record cannot be read', () => {
    const children: NonNullable<Story['children']> = (objects) =>
      objects.map((object) =>
        object.metadata.name === 'db-members'
          ? { ...object, data: { ...(object.data as object), upgrade: '{' } }
          : object,
      );
    expect(planned({ ...upgrading, children })).toEqual(['blocked UpgradeRecordUnreadable']);
  });

  it('starts nobody where only the pause is left, and says how a pause of a person ends', () => {
    const anew: Story = {
      spec: { version: '15' },
      status: {},
      rostered: [],
      primary: 'nobody',
      members: { all: 'gone' },
    };
    const withoutRoster: NonNullable<Story['children']> = (objects) =>
      withPause()(objects).filter(({ metadata }) => metadata.name !== 'db-members');
    const { cluster, children, observed } = postgresWorld({ ...anew, children: withoutRoster });
    const { outcome, steps } = planPostgres(situationOf(cluster, children, observed), () => undefined);
    expect([steps, outcome]).toEqual([
      [],
      {
        state: 'blocked',
        reason: 'UpgradeRecordUnreadable',
        message: expect.stringContaining('If a person has, end the pause: take it out of that annotation'),
      },
    ]);
  });

  it.each(['upgrade', 'undo'] as const)(
    'starts nobody beside the Job %s where somebody has removed the record alone',
    (mode) => {
      const children = withPause(jobOf({ mode, index: 0 }, 'running'));
      const { record: _, ...others } = upgrading;
      expect(planned({ ...others, children })).toEqual(['blocked UpgradeRecordUnreadable']);
    },
  );
});

const alone = { spec, numbers: [0], rostered: [0] } satisfies Story;
const afterJob = (ending: Ending) =>
  jobOf({ mode: 'after' }, ending, `15-17-${afterDigest(postgresCluster(spec).spec)}`);

describe('the new version', () => {
  table([
    [
      'starts alone: nobody copies from it before it takes writes',
      { ...alone, record: at('starting', told), primary: 'nobody', members: { 0: { role: 'replica' } } },
      ['wait Upgrading'],
    ],
    [
      'is not upgraded further on the way',
      { ...alone, spec: { ...spec, version: '18' }, before: spec, record: at('starting', told), primary: 'nobody' },
      ['wait Upgrading'],
    ],
    [
      'gets its statistics beside everything else',
      { ...alone, spec: { ...spec, instances: 1 }, record: at('finishing', told) },
      ['create Job db-after-upgrade', 'wait Updating'],
    ],
    [
      'serves while its statistics are collected',
      { ...alone, spec: { ...spec, instances: 1 }, record: at('finishing', told), ...withJobs(afterJob('running')) },
      ['wait Upgrading'],
    ],
    [
      'serves though the SQL after it has failed, and that is said',
      {
        ...alone,
        spec: { ...spec, instances: 1 },
        record: at('finishing', told),
        ...withJobs(afterJob({ fails: 3, says: 'afterSql' })),
      },
      ['blocked AfterUpgradeFailed'],
    ],
    [
      'is all there is: the record and the Jobs go',
      {
        ...alone,
        spec: { ...spec, instances: 1 },
        record: at('finishing', told),
        ...withJobs(afterJob({ says: 'state=done' }), rehearsed),
      },
      ['apply ConfigMap db-members: ', 'delete Job db-after-upgrade', 'delete Job db-rehearsal', 'wait Upgrading'],
    ],
    [
      'loses the Jobs that are left where the operator has ended between the record and them',
      { spec, ...withJobs(jobOf({ mode: 'upgrade', index: 0 }, { says: 'system=8008' }), rehearsed) },
      ['delete Job db-upgrade', 'delete Job db-rehearsal', 'settled'],
    ],
    [
      'loses the rehearsal of an upgrade that was given up',
      { spec: before, before, ...withJobs(jobOf({ mode: 'rehearse' }, { fails: 3, says: 'aclitem' })) },
      ['delete Job db-rehearsal', 'settled'],
    ],
  ]);

  it('gets new standbys with new numbers', () => {
    const plan = planned({ ...alone, claims: {}, record: at('finishing', told), ...withJobs(afterJob('running')) });
    expect(plan).toEqual(expect.arrayContaining(['create StatefulSet db-1', 'create StatefulSet db-2']));
  });
});

describe('the Job', () => {
  it('runs in the image that has both versions, and says what it is for', () => {
    const { cluster, children, observed } = postgresWorld(due);
    const { steps } = planPostgres(situationOf(cluster, children, observed), () => undefined);
    const [step] = steps;
    const object = step?.type === 'create' ? step.object : undefined;
    expect(object?.metadata.annotations?.[upgradeAnnotation]).toBe('15-17-1');
    expect(JSON.stringify(object)).toContain('"image":"postgres:17"');
  });

  it('copies without a slot where a connection that confirms the log would count as a standby', () => {
    const copies = (strict: boolean): string => {
      const { cluster, children, observed } = postgresWorld({ ...due, spec: { ...spec, synchronous: { strict } } });
      return JSON.stringify(planPostgres(situationOf(cluster, children, observed), () => undefined).steps);
    };
    expect([copies(true), copies(false)].map((steps) => steps.includes('NO_SLOT'))).toEqual([true, false]);
  });
});

describe('a backup', () => {
  const job = (name: string): KubeObject[] => [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `${name}-task`, namespace: 'apps' } },
    { apiVersion: 'batch/v1', kind: 'Job', metadata: { name, namespace: 'apps' } },
  ];
  const consent = { ...due, spec: { ...spec, upgrade: { withoutBackup: false } } } satisfies Story;

  it('comes after the rehearsal, and before anything stops', () => {
    const take = (_: unknown, { name }: { name: string }) => job(name);
    expect(planned(consent, take)).toEqual(['create Job db-rehearsal', 'wait Rehearsing']);
    expect(planned({ ...consent, ...withJobs(rehearsed) }, take)).toEqual([
      'create ConfigMap db-version-backup-task',
      'create Job db-version-backup',
      'wait VersionBackup',
    ]);
  });

  it('of the new version ends the upgrade', () => {
    const take = (_: unknown, { name }: { name: string }) => job(name);
    const story: Story = {
      ...alone,
      spec: { ...spec, instances: 1 },
      record: at('finishing', told),
      ...withJobs(afterJob({ says: 'state=done' })),
    };
    expect(planned(story, take)).toEqual([
      'create ConfigMap db-upgraded-backup-task',
      'create Job db-upgraded-backup',
      'wait VersionBackup',
    ]);
  });
});
