/** What interrupts members of PostgreSQL without a new template, and waits for a maintenance window all the same. */
import { describe, expect, it } from 'vitest';
import { postgresKind } from '../../../src/engines/postgres/kind/schema.ts';
import { situationOf } from '../../../src/engines/postgres/observe/situation.ts';
import { planPostgres } from '../../../src/engines/postgres/plan/plan.ts';
import { postgresStatus } from '../../../src/engines/postgres/status.ts';
import { withoutSuperseded } from '../../../src/plan/template-use.ts';
import { heldBack, judgedBoth } from '../../support/held-back.ts';
import { now, postgresWorld, type Story } from '../../support/postgres-situation.ts';
import { at, before, jobOf, spec, withJobs } from '../../support/postgres-upgrade.ts';
import { words } from '../../support/postgres-words.ts';

const status = { initialized: true, phase: 'Ready', observedGeneration: 1 } as const;

function held(story: Story) {
  const { cluster, children, observed } = postgresWorld({ status, ...story });
  const situation = situationOf(cluster, children, observed);
  const plan = planPostgres(situation, () => undefined);
  const assessment = judgedBoth(plan, (one) => postgresStatus(situation, one));
  const found = heldBack('window', cluster, children, assessment, { at: now, resource: postgresKind.resource });
  return { ...found, lines: words(found.plan as ReturnType<typeof planPostgres>) };
}

const waits = ['wait WaitingForWindow'];
const memory = (limit: string) => ({ resources: { limits: { memory: limit } } });
const pending: Story = { members: { 1: { restartPending: true } } };
const other = 'mine.example/postgres:17';
const rehearsed = withJobs(jobOf({ mode: 'rehearse' }, { says: 'system=9' }));

describe('outside of a maintenance window', () => {
  it.each<readonly [string, Story, string[]]>([
    ['no server restarts for its settings', pending, waits],
    [
      'no primary hands over or restarts for its settings',
      { spec: { instances: 1 }, members: { 0: { restartPending: true } } },
      waits,
    ],
    ['a rollout that has begun goes on', { pods: { 1: 'outdated' } }, ['delete Pod db-1-0', 'wait Restarting']],
    ['a major upgrade is rehearsed', { spec, before }, ['create Job db-rehearsal', 'wait Rehearsing']],
    ['and does not begin', { spec, before, ...rehearsed }, waits],
    [
      'a member that is away is what the cluster waits for',
      { ...pending, members: { 1: { restartPending: true }, 2: 'silent' } },
      ['wait MembersNotReady'],
    ],
    ['nothing waits where nothing is to be done', {}, ['settled']],
    [
      'a standby restarts that has fewer connections than its primary: it could not follow it for long',
      { members: { 1: { restartPending: true, raised: { max_connections: 100 } } } },
      ['restart db-1-0', 'wait Restarting'],
    ],
    [
      'and one that has fewer than its primary, which is to get more itself',
      {
        members: {
          0: { restartPending: true, raised: { max_connections: 200 } },
          1: { restartPending: true, raised: { max_connections: 100 } },
          2: { restartPending: true, raised: { max_connections: 200 } },
        },
      },
      ['restart db-1-0', 'wait Restarting'],
    ],
    [
      'only that standby restarts, though other members have settings that wait',
      {
        members: {
          0: { restartPending: true, awaitsPrimary: true },
          1: { restartPending: true },
          2: { restartPending: true, raised: { max_connections: 100 } },
        },
      },
      ['restart db-2-0', 'wait Restarting'],
    ],
    [
      'that standby restarts also while a template waits',
      {
        spec: { image: 'mine.example/postgres:17' },
        before: {},
        members: { 2: { restartPending: true, raised: { max_connections: 100 } } },
      },
      ['restart db-2-0', 'wait Restarting'],
    ],
    [
      'nobody restarts for connections that the primary has yet to get, too',
      { members: { all: { restartPending: true, raised: { max_connections: 100 } } } },
      waits,
    ],
    [
      'no setting goes ahead of the memory that it follows from',
      { spec: memory('16Gi'), before: memory('2Gi') },
      waits,
    ],
    [
      'nor a size that the user sets together with the memory',
      {
        spec: { ...memory('16Gi'), parameters: { shared_buffers: '4GB' } },
        before: { ...memory('2Gi'), parameters: { shared_buffers: '512MB' } },
      },
      waits,
    ],
    [
      'no library goes ahead of the image that has it: a server that starts again would not find it',
      {
        spec: { image: other, parameters: { shared_preload_libraries: 'auto_explain,pg_cron' } },
        before: { parameters: { shared_preload_libraries: 'auto_explain' } },
      },
      waits,
    ],
    [
      'nor one for sessions, which could not begin',
      { spec: { image: other, parameters: { session_preload_libraries: 'anon' } }, before: {} },
      waits,
    ],
    [
      'a library goes before the image that does not have it any more',
      {
        spec: { image: other, parameters: { shared_preload_libraries: 'pg_cron' } },
        before: { parameters: { shared_preload_libraries: 'auto_explain,pg_cron' } },
      },
      ['configure postgresql.parameters.shared_preload_libraries=pg_cron', 'wait Updating'],
    ],
    [
      'a library that waits holds up no other setting',
      {
        spec: { image: other, parameters: { shared_preload_libraries: 'pg_cron', work_mem: '8MB' } },
        before: {},
      },
      ['configure postgresql.parameters.work_mem=8MB', 'wait Updating'],
    ],
    [
      'a library of the present image is written',
      { spec: { parameters: { shared_preload_libraries: 'auto_explain' } }, before: {} },
      ['configure postgresql.parameters.shared_preload_libraries=auto_explain', 'wait Updating'],
    ],
  ])('%s', (_, story, lines) => expect(held(story).lines).toEqual(lines));

  it.each<readonly [string, Story]>([
    ['for its settings', pending],
    ['for a major upgrade', { spec, before, ...rehearsed }],
    [
      'for a major upgrade that was cancelled once',
      { spec, before, record: at('cancelled', { why: 'x', generation: 0 }), ...rehearsed },
    ],
    [
      'for its settings, after a time in which a member was away,',
      { ...pending, status: { ...status, phase: 'Degraded' } },
    ],
  ])('a cluster that waits to restart %s is ready', (_, story) => {
    const found = held(story);
    expect(found.status.phase).toBe('Ready');
    expect(found.status.conditions[0]).toMatchObject({ type: 'Ready', status: 'True', reason: 'WaitingForWindow' });
  });
});

it.each<readonly [string, Story]>([
  ['to restart for its settings', pending],
  ['for a major upgrade', { spec, before, ...rehearsed }],
])('a cluster that waits %s is degraded when it loses a member', (_, story) => {
  const found = held({ ...story, members: { ...story.members, 2: 'silent' } });
  expect(found.status.phase).toBe('Degraded');
});

describe('the place among clusters that roll out', () => {
  type Hint = 'isUnderway' | 'isUnfinished';
  const hints = (story: Story): readonly Hint[] => {
    const { cluster, children, observed } = postgresWorld({ status, ...story });
    const plan = planPostgres(situationOf(cluster, children, observed), () => undefined);
    return (['isUnderway', 'isUnfinished'] as const).filter((hint) => plan[hint] === true);
  };

  it.each<readonly [string, Story, readonly Hint[]]>([
    ['is not needed where nothing is to be done', {}, []],
    ['is kept, once it is used, while other servers have yet to restart', pending, ['isUnfinished']],
    [
      'is kept while a server restarts, which the kubelet has yet to notice',
      { members: { 1: { postgres: 'restarting' } } },
      ['isUnfinished'],
    ],
    [
      'is used while a major upgrade stops the members',
      { spec, before, record: at('stopping'), ...rehearsed },
      ['isUnderway'],
    ],
  ])('%s', (_, story, found) => expect(hints(story)).toEqual(found));
});

it('a server whose pod gets another template restarts with it, once; by itself only where no template is taken', () => {
  const { cluster, children, observed } = postgresWorld({
    status,
    spec: { image: 'mine.example/postgres:17' },
    before: {},
    members: { all: { restartPending: true } },
  });
  const plan = planPostgres(situationOf(cluster, children, observed), () => undefined);
  expect(words(plan).filter((line) => !line.startsWith('apply StatefulSet'))).toEqual([
    'restart db-1-0',
    'wait Restarting',
  ]);
  const restart = plan.steps.find(({ type }) => type === 'act');
  expect(restart).toMatchObject({ unlessWritten: ['db-0', 'db-1', 'db-2'] });
  expect(words(withoutSuperseded(plan) as typeof plan)).not.toContain('restart db-1-0');
});
