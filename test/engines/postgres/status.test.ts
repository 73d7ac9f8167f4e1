import { describe, expect, it } from 'vitest';
import type { ClusterStatus } from '../../../src/api/status.ts';
import { situationOf } from '../../../src/engines/postgres/observe/situation.ts';
import { planPostgres } from '../../../src/engines/postgres/plan/plan.ts';
import { postgresStatus } from '../../../src/engines/postgres/status.ts';
import { postgresWorld, type Story } from '../../support/postgres-situation.ts';
import { coherent } from '../../support/truthful-engine.ts';

function statusOf(story: Story) {
  const { cluster, children, observed } = postgresWorld(story);
  const situation = situationOf(cluster, children, observed);
  return coherent(
    postgresStatus(
      situation,
      planPostgres(situation, () => undefined),
    ),
  );
}

/** `Ready/True/AllMembersReady`: the phase, why it is ready or not, and what else is true. */
function words(story: Story): string {
  const { phase, conditions } = statusOf(story);
  const ready = conditions.find(({ type }) => type === 'Ready');
  const others = conditions.filter(({ type, status }) => type !== 'Ready' && status === 'True').map(({ type }) => type);
  return [`${phase}/${ready?.status}/${ready?.reason}`, ...others].join(' ');
}

const message = (story: Story): string | undefined =>
  statusOf(story).conditions.find(({ type }) => type === 'Ready')?.message;

const ready = { initialized: true, observedGeneration: 1, phase: 'Ready' } as const;
const changed = { status: ready, metadata: { generation: 2 } };
const degraded = 'Progressing Degraded Reconciling';
const changing = 'Progressing Reconciling';

describe('a status', () => {
  it.each<[string, Story, string]>([
    [
      'of a new cluster',
      { numbers: [], primary: 'nobody', status: {}, children: () => [] },
      `Creating/False/Forming ${changing}`,
    ],
    [
      'of a new cluster whose commits wait for nobody yet',
      { status: { phase: 'Creating' }, members: { 1: { isSynchronous: false }, 2: { isSynchronous: false } } },
      `Creating/False/MembersNotReady ${changing}`,
    ],
    ['of one that is whole', {}, 'Ready/True/AllMembersReady'],
    [
      'of one whose member is away',
      { status: ready, members: { 1: 'silent' } },
      `Degraded/False/MembersNotReady ${degraded}`,
    ],
    ['of one without a primary', { status: ready, primary: 'nobody' }, `Degraded/False/NoPrimary ${degraded}`],
    [
      'of one without a primary while it is changed',
      { ...changed, primary: 'nobody' },
      `Degraded/False/NoPrimary ${degraded}`,
    ],
    [
      'of one whose commits wait for too few',
      { status: ready, members: { 1: { isSynchronous: false }, 2: { isSynchronous: false } } },
      `Degraded/False/MembersNotReady ${degraded}`,
    ],
    ['of one that grows', { ...changed, spec: { instances: 5 }, before: {} }, `Updating/False/Scaling ${changing}`],
    ['of one that shrinks', { ...changed, before: { instances: 5 } }, `Updating/False/Scaling ${changing}`],
    [
      'of one whose member still leaves',
      {
        ...changed,
        before: { instances: 4 },
        rostered: [0, 1, 2],
        pods: { 3: 'stopping' },
        children: (objects) =>
          objects.filter(({ kind, metadata }) => kind !== 'StatefulSet' || metadata.name !== 'db-3'),
      },
      `Updating/False/Scaling ${changing}`,
    ],
    ['of one that restarts', { ...changed, pods: { 1: 'outdated' } }, `Updating/False/Restarting ${changing}`],
    ['of one that hands over', { ...changed, pods: { 0: 'outdated' } }, `Updating/False/SwitchingOver ${changing}`],
    [
      'of one that restarts after the spec was taken up',
      { status: ready, members: { 1: { restartPending: true } } },
      `Updating/False/Restarting ${changing}`,
    ],
    [
      'of one whose settings are changed',
      { ...changed, spec: { parameters: { work_mem: '8MB' } }, before: {} },
      `Updating/False/Updating ${changing}`,
    ],
    [
      'of one whose settings somebody else has changed',
      { status: ready, spec: {}, before: { parameters: { work_mem: '8MB' } } },
      `Degraded/False/Updating ${degraded}`,
    ],
    [
      'of one whose member is away while it is changed',
      { status: { ...ready, phase: 'Updating' }, members: { 1: 'silent' } },
      `Updating/False/MembersNotReady ${changing}`,
    ],
    ['of one that parks', { ...changed, spec: { instances: 0 }, before: {} }, `Updating/False/Parking ${changing}`],
    [
      'of one that is parked',
      { ...changed, spec: { instances: 0 }, numbers: [0, 1, 2], primary: 'nobody', members: { all: 'gone' } },
      'Ready/True/Parked',
    ],
    [
      'of one with data of another database',
      { status: ready, claims: { 1: 'foreign' } },
      'Blocked/False/ForeignData Degraded Stalled',
    ],
    [
      'of one that never was, with data of another database',
      { status: {}, primary: 'nobody', claims: { 1: 'foreign' } },
      'Blocked/False/ForeignData Stalled',
    ],
    [
      'of one whose lock is lost with the state',
      { status: ready, missing: ['leader', 'sync'] },
      'Blocked/False/StateLost Degraded Stalled',
    ],
    [
      'of one whose volumes grow after the spec was taken up',
      { status: ready, children: grown, spec: { storage: { size: '20Gi' } } },
      `Updating/False/ExpandingVolumes ${changing} VolumesTooSmall`,
    ],
    [
      'of one whose volumes grow',
      { ...changed, children: grown, spec: { storage: { size: '20Gi' } } },
      `Updating/False/ExpandingVolumes ${changing} VolumesTooSmall`,
    ],
  ])('%s', (_, story, said) => expect(words(story)).toBe(said));

  it('tells who is primary, what runs, and where to connect', () => {
    const { primary, version, replicas, readyReplicas, members, connection, initialized } = statusOf({ primary: 1 });
    expect({ primary, version, replicas, readyReplicas, initialized }).toEqual({
      primary: 'db-1-0',
      version: '17.12',
      replicas: 3,
      readyReplicas: 3,
      initialized: true,
    });
    expect(members?.map(({ name, role }) => `${name} ${role}`)).toEqual([
      'db-0-0 standby',
      'db-1-0 primary',
      'db-2-0 standby',
    ]);
    expect(connection).toEqual({
      services: [
        { role: 'primary', host: 'db-primary', port: 5432 },
        { role: 'replicas', host: 'db-replicas', port: 5432 },
      ],
      secretName: 'db-app',
    });
  });

  const whole = postgresWorld().observed.application;
  const named = { name: 'db-app' };
  const bound = { ...ready, binding: named };
  it.each<[string, Story, object | undefined]>([
    [
      'has what a workload is bound with',
      { observed: { application: { ...whole, isBindable: true } as never } },
      named,
    ],
    ['is older and has no type', { status: bound }, undefined],
    [
      'cannot be looked at now, and had it',
      { status: bound, observed: { application: { state: 'unknown', why: 'no answer' } } },
      named,
    ],
    ['has not been looked at', { primary: 'nobody' }, undefined],
  ])('names the Secret for bindings only if it is one: it %s', (_, story, expected) => {
    expect((statusOf(story) as ClusterStatus).binding).toEqual(expected);
  });

  it('calls nobody primary who does not hold the lock', () => {
    const { members } = statusOf({ leader: 1, status: ready });
    expect(members?.map(({ role }) => role)).not.toContain('primary');
  });

  it('remembers who was primary and which version ran while nobody answers', () => {
    const story: Story = { primary: 'nobody', leader: 'nobody', members: { all: 'silent' } };
    const before = { ...ready, primary: 'db-2-0', version: '17.11' };
    const { primary, version, members } = statusOf({ ...story, status: before });
    expect({ primary, version }).toEqual({ primary: 'db-2-0', version: '17.11' });
    expect(members?.map(({ role }) => role)).toEqual(['unknown', 'unknown', 'unknown']);
  });

  it('is initialized from the first primary on, and stays so', () => {
    expect(statusOf({ status: {} }).initialized).toBe(true);
    expect(statusOf({ status: {}, primary: 'nobody', leader: 'nobody' }).initialized).toBeUndefined();
    expect(statusOf({ primary: 'nobody' }).initialized).toBe(true);
  });
});

describe('a status names', () => {
  it.each<[string, Story, RegExp]>([
    ['who does not answer, and why', { members: { 1: 'silent' } }, /^db-1-0 does not answer \(no answer\)$/],
    ['who does not stream', { members: { 2: { isStreaming: false } } }, /^db-2-0 does not stream from the primary$/],
    [
      'who is on another timeline',
      { members: { 2: { timeline: 2 } } },
      /^db-2-0 is on timeline 2, and the primary on 1$/,
    ],
    [
      'who takes writes without the lock',
      { members: { 2: { role: 'primary' } } },
      /^db-2-0 takes writes without the lock$/,
    ],
    ['what PostgreSQL does', { members: { 2: { postgres: 'starting' } } }, /^PostgreSQL of db-2-0 is starting$/],
    [
      'who has no pod, and everybody else',
      { members: { 1: 'gone', 2: 'silent' } },
      /^db-1-0 has no pod; db-2-0 does not answer/,
    ],
    ['who is still leaving', { before: { instances: 4 }, rostered: [0, 1, 2] }, /^db-3-0 is leaving$/],
    ['which ConfigMaps are lost', { missing: ['leader', 'sync'] }, /^ConfigMaps db-leader, db-sync are gone/],
    ['whose data is foreign', { claims: { 1: 'foreign' } }, /volume data-db-1-0 about 9009/],
  ])('%s', (_, story, said) => expect(message({ status: ready, ...story })).toMatch(said));
});

/** The claims have been asked to grow, and have not yet. Everything else is as the spec says. */
function grown(objects: Parameters<NonNullable<Story['children']>>[0]) {
  return objects.map((object) =>
    object.kind === 'PersistentVolumeClaim'
      ? { ...object, status: { phase: 'Bound', capacity: { storage: '10Gi' } } }
      : object,
  );
}
