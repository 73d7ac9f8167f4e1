/** A setting with which PostgreSQL does not start: what a person corrects in the spec reaches Patroni though nobody is primary. */
import { describe, expect, it } from 'vitest';
import type { Story } from '../../support/postgres-situation.ts';
import { at, told, spec as upgraded } from '../../support/postgres-upgrade.ts';
import { type PlanRow, planned } from '../../support/postgres-words.ts';

const wrong = { shared_preload_libraries: 'nobody_has_it' };
const one = { instances: 1, synchronous: { count: 0 } } as const;
const nobody = { primary: 'nobody', leader: 'nobody' } as const;
const failed = { postgres: 'start failed' } as const;
const single = { before: { ...one, parameters: wrong }, ...nobody } satisfies Story;
const taken = 'configure postgresql.parameters.shared_preload_libraries=null';

describe('with nobody primary', () => {
  const rows: readonly PlanRow[] = [
    [
      'a setting that is gone from the spec goes',
      { ...single, spec: one, members: { 0: failed } },
      [taken, 'wait NoPrimary'],
    ],
    [
      'one that is corrected is written',
      { ...single, spec: { ...one, parameters: { shared_preload_libraries: 'auto_explain' } }, members: { 0: failed } },
      ['configure postgresql.parameters.shared_preload_libraries=auto_explain', 'wait NoPrimary'],
    ],
    [
      'it reaches the members that wait for those that do not start',
      {
        before: { parameters: wrong },
        spec: {},
        ...nobody,
        members: { 0: failed, 1: 'silent', 2: { postgres: 'running' } },
      },
      [taken, 'wait NoPrimary'],
    ],
    [
      'nothing is changed that decides who may be elected',
      {
        before: { parameters: wrong },
        spec: { synchronous: { count: 0 }, failover: { ttl: '60s' } },
        ...nobody,
        members: { all: failed },
      },
      [taken, 'wait NoPrimary'],
    ],
    [
      'max_prepared_transactions of a server that runs stays',
      {
        before: { parameters: { ...wrong, max_prepared_transactions: '10' } },
        spec: {},
        ...nobody,
        members: { 0: failed, 2: { postgres: 'running' } },
      },
      [taken, 'wait NoPrimary'],
    ],
    [
      'and goes where none runs: with it, none may start',
      {
        before: { ...one, parameters: { max_prepared_transactions: '10' } },
        spec: one,
        ...nobody,
        members: { 0: failed },
      },
      ['configure postgresql.parameters.max_prepared_transactions=null', 'wait NoPrimary'],
    ],
    ['an election is not disturbed', { before: { parameters: wrong }, spec: {}, ...nobody }, ['wait NoPrimary']],
  ];
  it.each(rows)('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

  it('another image, which has what it needs, is started', () => {
    const spec = { ...one, parameters: wrong };
    const story = { spec, ...nobody, members: { 0: failed }, pods: { 0: 'outdated and crashing' } } satisfies Story;
    expect(planned(story)).toEqual(['delete Pod db-0-0', 'wait Restarting']);
  });

  it.each<[string, Story]>([
    ['a person has paused Patroni', { members: { 0: { ...failed, isPaused: true } }, ...nobody }],
    ['PostgreSQL is on its way', { members: { 0: { postgres: 'starting' } }, ...nobody }],
    [
      'somebody else is primary, whose data Patroni may be copying',
      { members: { 1: failed }, pods: { 0: 'outdated' } },
    ],
  ])('no pod is started again where %s', (_, story) => {
    const pods = { ...story.pods, [story.primary === 'nobody' ? 0 : 1]: 'outdated and crashing' } as const;
    expect(planned({ ...story, pods })).not.toEqual(expect.arrayContaining([expect.stringMatching(/^delete Pod/)]));
  });

  it('a member that has left is not told', () => {
    const story = { before: { parameters: wrong }, spec: {}, ...nobody, rostered: [1, 2], members: { 0: failed } };
    expect(planned(story as Story)).not.toContain(taken);
  });
});

describe('with a new version that does not start after an upgrade', () => {
  const starting = { spec: upgraded, record: at('starting', told), numbers: [0], ...nobody } satisfies Story;

  it('a corrected setting is passed on', () => {
    const story = { ...starting, before: { ...upgraded, parameters: wrong }, members: { 0: failed } } satisfies Story;
    expect(planned(story)).toContain(taken);
  });

  it('and written where it lets nobody in', () => {
    const parameters = { session_preload_libraries: 'only_15_has_it' };
    const story = { ...starting, before: { ...upgraded, parameters }, members: { 0: 'silent' } } satisfies Story;
    expect(planned(story)).toEqual([
      'db-config: metadata.annotations[config].postgresql.parameters.session_preload_libraries null',
      'wait Upgrading',
    ]);
  });

  it.each<[string, NonNullable<Story['members']>]>([
    ['PostgreSQL fails', { 0: failed }],
    ['nothing answers', { 0: 'silent' }],
  ])('another template is taken where %s', (_, members) => {
    const story = { ...starting, members, pods: { 0: 'outdated and crashing' } } satisfies Story;
    expect(planned(story)).toEqual(['delete Pod db-0-0', 'wait Upgrading']);
  });

  it('a server that is on its way is left alone', () => {
    const story = { ...starting, members: { 0: { postgres: 'starting' } }, pods: { 0: 'outdated' } } satisfies Story;
    expect(planned(story)).toEqual(['wait Upgrading']);
  });
});
