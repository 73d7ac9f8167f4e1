/** What is said while nobody is promoted, and the survivor that a person names. */
import { describe, expect, it } from 'vitest';
import { situationOf } from '../../../src/engines/postgres/observe/situation.ts';
import { planPostgres } from '../../../src/engines/postgres/plan/plan.ts';
import { now, postgresWorld, type Story } from '../../support/postgres-situation.ts';
import { type PlanRow, planned } from '../../support/postgres-words.ts';

const table = (rows: readonly PlanRow[]): void =>
  it.each(rows)('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

const messageOf = (story: Story): string => {
  const { cluster, children, observed } = postgresWorld(story);
  const { outcome } = planPostgres(situationOf(cluster, children, observed), () => undefined);
  return outcome.state === 'settled' ? '' : outcome.message;
};

const quorum = { leader: 'db-0-0', sync_standby: 'db-1-0,db-2-0', quorum: '1' };
const ago = (seconds: number) => ({ renewTime: new Date(now - seconds * 1000).toISOString() });
/** The primary and one voter are away, for long. */
const lost: Story = {
  primary: 'nobody',
  leader: 0,
  members: { 0: 'silent', 1: 'silent', 2: { lsn: 0x3000148, timeline: 4 } },
  sync: quorum,
  lock: ago(61),
};
const request = 'db-2-0@uid-db/1/0/3000148';
const asked = (value: string, story: Story = lost): Story => ({
  ...story,
  metadata: { annotations: { 'clusterwright.dev/recover-from': value } },
});

describe('nobody is promoted', () => {
  const away = (...numbers: readonly number[]): Story => ({
    ...lost,
    members: Object.fromEntries(numbers.map((number) => [number, 'silent'])),
  });
  table([
    ['while the primary and one voter are away', away(0, 1), ['wait QuorumLost']],
    ['while no voter is there', away(0, 1, 2), ['wait QuorumLost']],
    [
      'but not of an only member, which has to start',
      { ...lost, spec: { instances: 1 }, sync: { leader: 'db-0-0' }, members: { 0: 'silent' } },
      ['wait NoPrimary'],
    ],
    ['yet: the others are enough', away(0), ['wait NoPrimary']],
    ['yet: the former primary has every commit, and needs nobody', away(1, 2), ['wait NoPrimary']],
    [
      'yet: a quorum of none needs nobody else',
      { ...away(0, 1), sync: { ...quorum, quorum: '0' } },
      ['wait NoPrimary'],
    ],
    [
      'while those who are there are no voters',
      { ...away(0, 1), sync: { leader: 'db-0-0', sync_standby: 'db-1-0', quorum: '0' } },
      ['wait QuorumLost'],
    ],
  ]);

  it('says who may have commits, and after a minute what a person can do', () => {
    const words = messageOf(lost);
    expect(words).toContain('commits may be on db-0-0, db-1-0, and db-2-0 may not have them');
    expect(words).toContain(
      `clusterwright.dev/recover-from=POD@UID/GENERATION/LSN of the member to go on with: ${request}`,
    );
    expect(messageOf({ ...lost, lock: ago(59) })).not.toContain('recover-from');
  });

  it('offers nobody where a member takes writes and its Patroni knows a leader: the lock that was read is an old one', () => {
    const led: Story = { ...lost, members: { 0: 'silent', 1: { role: 'primary', isUnlocked: false } } };
    expect(messageOf(led)).toContain('nobody is primary');
    expect(messageOf(led)).not.toContain('recover-from');
    const unlocked: Story = { ...lost, members: { 0: 'silent', 1: { role: 'primary', isUnlocked: true } } };
    expect(messageOf(unlocked)).toContain('recover-from');
  });
});

describe('a survivor that a person names', () => {
  const stopped = (objects: readonly { kind: string; metadata: { name: string } }[]) =>
    objects.filter(({ kind, metadata }) => !/^(StatefulSet db-[01]|Pod db-[01]-0)$/.test(`${kind} ${metadata.name}`));
  const alone: Story = asked(request, {
    ...lost,
    members: { 2: { lsn: 0x3000148 }, 0: 'gone', 1: 'gone' },
    children: stopped as never,
  });
  const rest = ['apply ConfigMap db-members: data.recover-from', 'apply Role db-postgres: rules[2].resourceNames'];
  it.each([
    ['stops the others', asked(request)],
    ['becomes primary', alone],
  ])('may be without the first database when it %s: it is asked for again', (_, story) => {
    const { cluster, children, observed } = postgresWorld(story);
    const { steps } = planPostgres(situationOf(cluster, children, observed), () => undefined);
    const roster = steps.flatMap((step) =>
      step.type === 'apply' && step.object.metadata.name === 'db-members' ? Object.keys(Object(step.object.data)) : [],
    );
    expect(roster).toContain('recover-from');
    expect(roster).not.toContain('first-database');
  });
  table([
    [
      'stops the others first, and keeps their volumes',
      asked(request),
      [
        'data-db-0-0: retired true',
        'data-db-1-0: retired true',
        ...rest,
        'delete StatefulSet db-0',
        'delete StatefulSet db-1',
        'wait Recovering',
      ],
    ],
    ['becomes primary when nobody else runs', alone, [...rest, 'promote db-2-0', 'wait Recovering']],
    ['is waited for while the loss is young', asked(request, { ...lost, lock: ago(59) }), ['wait QuorumLost']],
    ['is dropped as soon as there is a primary', asked(request, {}), ['db: recover-from undefined', 'wait Updating']],
    [
      'takes the ConfigMaps with it that are lost',
      { ...alone, missing: ['config', 'sync', 'leader'] },
      [
        'create ConfigMap db-config',
        'create ConfigMap db-leader',
        'create ConfigMap db-sync',
        ...rest,
        'promote db-2-0',
        'wait Recovering',
      ],
    ],
  ]);

  it.each<[string, string, Story, RegExp]>([
    ['in another form', 'db-2-0', lost, /must be POD@UID\/GENERATION\/LSN/],
    ['for another cluster', 'db-2-0@other/1/0/3000148', lost, /is for the cluster with the UID other/],
    ['for another generation', 'db-2-0@uid-db/7/0/3000148', lost, /is for generation 7 of the spec, which is at 1/],
    ['for another position', 'db-2-0@uid-db/1/0/3000149', lost, /is for db-2-0 at 0\/3000149, and it is at 0\/3000148/],
    [
      'while somebody leads',
      request,
      { ...lost, members: { 0: 'silent', 1: 'silent', 2: { role: 'primary', isUnlocked: false } } },
      /is not carried out: db-2-0 takes writes, and Patroni says that there is a leader/,
    ],
    [
      'that does not answer',
      'db-1-0@uid-db/1/0/3000148',
      lost,
      /names db-1-0, no member of this cluster whose PostgreSQL runs/,
    ],
    [
      'while another one takes writes',
      request,
      { ...lost, members: { ...lost.members, 1: { role: 'primary' } } },
      /and db-1-0 takes writes/,
    ],
  ])('%s is refused', (_, value, story, words) => {
    expect(planned(asked(value, story)).at(-1)).toBe('blocked RecoveryRefused');
    expect(messageOf(asked(value, story))).toMatch(words);
  });

  it('goes on after a crash, though it has moved on', () => {
    const begun: Story = {
      ...alone,
      rostered: [2],
      members: { 0: 'gone', 1: 'gone', 2: { lsn: 0x3000200 } },
      children: (objects) =>
        (stopped(objects as never) as unknown as typeof objects).map((object) =>
          object.metadata.name === 'db-members'
            ? { ...object, data: { ...(object.data as object), 'recover-from': request } }
            : object,
        ),
    };
    expect(planned(begun).slice(-2)).toEqual(['promote db-2-0', 'wait Recovering']);
  });

  it('is offered where Patroni’s ConfigMaps are lost', () => {
    expect(messageOf({ ...lost, missing: ['config', 'sync'] })).toContain(`go on with: ${request}`);
  });
});
