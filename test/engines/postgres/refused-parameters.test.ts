/** Settings of the spec that PostgreSQL refuses: what the status says, and what the operator does not do while PostgreSQL would not start with one of them. */
import { describe, expect, it } from 'vitest';
import type { SettingSeen } from '../../../src/engines/postgres/client/questions/server.ts';
import { retiredAnnotation } from '../../../src/engines/postgres/names.ts';
import type { LiveMember } from '../../../src/engines/postgres/observe/observed.ts';
import { situationOf } from '../../../src/engines/postgres/observe/situation.ts';
import { planPostgres } from '../../../src/engines/postgres/plan/plan.ts';
import { memberLabel } from '../../../src/resources/metadata.ts';
import { now, postgresWorld, type Story } from '../../support/postgres-situation.ts';
import { planned } from '../../support/postgres-words.ts';

const inFile: SettingSeen = { name: '', value: '', isDefault: false, isText: false, isPending: false };
const text = (name: string, value: string, more: Partial<SettingSeen> = {}): SettingSeen => ({
  ...{ ...inFile, name, value, isText: true },
  ...more,
});

/** What the server of the primary says of the settings of the spec. */
function world(parameters: Readonly<Record<string, string>>, seen: readonly SettingSeen[], more: Story = {}): Story {
  const [primary] = postgresWorld({ spec: { parameters } }).observed.members;
  if (primary?.state !== 'answering' || primary.server?.state !== 'seen') throw new Error('there is no primary');
  const settings = [...primary.server.settings.filter(({ name }) => !seen.some((one) => one.name === name)), ...seen];
  return {
    ...more,
    spec: { ...more.spec, parameters },
    members: { 0: { server: { ...primary.server, settings } }, ...more.members },
  };
}
function messageOf(story: Story): string {
  const { cluster, children, observed } = postgresWorld(story);
  const { outcome } = planPostgres(situationOf(cluster, children, observed), () => undefined);
  return outcome.state === 'settled' ? '' : outcome.message;
}
const refused = ['blocked ParametersRefused'];
const german = { lc_messages: 'de_DE.UTF-8' };
const english = [text('lc_messages', 'C.UTF-8')];

describe('what a server says of a setting of the spec', () => {
  it.each<readonly [string, Readonly<Record<string, string>>, readonly SettingSeen[], readonly string[]]>([
    ['it has a text in force', german, [text('lc_messages', 'de_DE.UTF-8')], ['settled']],
    ['it has kept another text', german, english, refused],
    ['it has kept the text of initdb', german, [text('lc_messages', 'C', { isDefault: true })], refused],
    ['it takes the text when it restarts', german, [text('lc_messages', 'C', { isPending: true })], ['settled']],
    ['it spells a text otherwise', { timezone: 'utc' }, [text('timezone', 'UTC')], ['settled']],
    ['it names an offset', { timezone: '-3' }, [text('timezone', '<-03>+03')], ['settled']],
    ['it knows no such offset', { timezone: '200' }, [text('timezone', 'UTC')], refused],
    ['it names an interval', { timezone: "INTERVAL '+03:00'" }, [text('timezone', '<+03>-03')], ['settled']],
    [
      'it has the text of initdb, and would show another one in words of its own',
      { datestyle: 'iso, dym' },
      [text('datestyle', 'ISO, MDY', { isDefault: true })],
      refused,
    ],
    ['it completes a text', { datestyle: 'iso' }, [text('datestyle', 'ISO, MDY')], ['settled']],
    [
      'it has its own text, as the file has',
      { event_source: 'PostgreSQL' },
      [text('event_source', 'PostgreSQL')],
      ['settled'],
    ],
    [
      'its session has another text, and nobody knows that of the file',
      { search_path: 'app, public' },
      [{ ...inFile, name: 'search_path', value: 'pg_catalog' }],
      ['settled'],
    ],
    ['it spells a text otherwise that has to be spelled so', { lc_messages: 'c.utf-8' }, english, refused],
    ['nobody can compare a text', { log_line_prefix: 'ü ' }, [text('log_line_prefix', 'Ã¼ ')], ['settled']],
    ['it names another offset', { log_timezone: '.5' }, [text('log_timezone', '<+00:30>-00:30')], ['settled']],
    [
      'a number that it refuses is in the file',
      { max_stack_depth: '64MB' },
      [{ ...inFile, name: 'max_stack_depth', value: '2048', isDefault: true }],
      refused,
    ],
    ['it has kept another time zone', { timezone: 'Europe/Berln' }, [text('timezone', 'UTC')], refused],
    [
      'it has the number of initdb, since Patroni has left out the other one',
      { max_wal_size: '4X' },
      [{ ...inFile, name: 'max_wal_size', value: '1024', isDefault: true }],
      refused,
    ],
    [
      'it takes a number when it restarts, in its window',
      { max_files_per_process: '2000' },
      [{ ...inFile, name: 'max_files_per_process', value: '1000', isDefault: true, isPending: true }],
      ['settled'],
    ],
  ])('%s', (_, parameters, seen, plan) => expect(planned(world(parameters, seen))).toEqual(plan));
});

describe('a text with which PostgreSQL does not start', () => {
  it('is named, with what is in force', () => {
    expect(messageOf(world(german, english))).toBe(
      'lc_messages=de_DE.UTF-8 is not valid, and C.UTF-8 is in force until the next start, which fails: no member is restarted; correct or remove it in spec.parameters, and if it needs another image, set it again once the members run that',
    );
  });
  it.each<readonly [string, Story, readonly string[]]>([
    ['restarts no pod for its template', world(german, english, { pods: { 2: 'outdated' } }), refused],
    [
      'restarts no server for its settings',
      world(german, english, { members: { 2: { restartPending: true } } }),
      refused,
    ],
    [
      'has nobody hand over',
      world(german, english, { metadata: { annotations: { 'clusterwright.dev/switchover-to': 'db-2-0' } } }),
      refused,
    ],
    [
      'is followed by no new template',
      world(german, english, { before: { parameters: german }, spec: { scheduling: { priorityClassName: 'high' } } }),
      refused,
    ],
    [
      'is followed by what is not a member',
      world(german, english, {
        spec: { pooler: {} },
        children: (objects) =>
          objects.filter(({ kind, metadata }) => kind !== 'StatefulSet' || metadata.name !== 'db-pooler'),
      }),
      ['create StatefulSet db-pooler', ...refused],
    ],
    [
      'may be a number that Patroni does not check',
      world({ max_stack_depth: '64MB' }, [{ ...inFile, name: 'max_stack_depth', value: '2048', isDefault: true }], {
        pods: { 2: 'outdated' },
      }),
      refused,
    ],
    [
      'is no number that Patroni leaves out',
      world({ max_wal_size: '4X' }, [{ ...inFile, name: 'max_wal_size', value: '1024', isDefault: true }], {
        pods: { 2: 'outdated' },
      }),
      ['delete Pod db-2-0', 'wait Restarting'],
    ],
    [
      'is corrected',
      { ...world({}, []), before: { parameters: german } },
      ['configure postgresql.parameters.lc_messages=null', 'wait Updating'],
    ],
  ])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

  const failing = {
    postgres: 'start failed',
    isStreaming: false,
    isSynchronous: false,
  } as const satisfies Partial<LiveMember>;
  const since = new Date(now - 600_000).toISOString();
  const down =
    (number: number): NonNullable<Story['children']> =>
    (objects) =>
      objects.map((object) =>
        object.kind === 'Pod' && object.metadata.name === `db-${number}-0`
          ? {
              ...object,
              status: {
                phase: 'Running',
                podIP: '10.0.0.2',
                conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: since }],
                containerStatuses: [{ name: 'postgres', restartCount: 1, state: { running: { startedAt: since } } }],
              },
            }
          : object,
      );
  it('is not told of a server that has yet to read the settings', () => {
    const story = world(german, english, { members: { 2: failing } });
    const first = story.members?.[0] as Partial<LiveMember> | undefined;
    const server = first?.server;
    const facts = { ...(server?.state === 'seen' ? server.facts : {}), config: 'other' };
    const unread = { ...story, members: { ...story.members, 0: { server: { ...server, facts } as never } } };
    expect(messageOf(story)).toContain('is not valid');
    expect(messageOf(unread)).not.toContain('is not valid');
  });

  it('replaces no member that does not start, and says why it does not', () => {
    const story = { ...world(german, english, { members: { 2: failing } }), children: down(2) };
    expect(planned(story)).toEqual(['wait MembersNotReady']);
    expect(messageOf(story)).toMatch(/db-2-0.*; lc_messages=de_DE.UTF-8 is not valid, .* which fails/);
  });

  const corrected = { lc_messages: 'C.UTF-8' };
  it.each<
    readonly [story: string, spec: NonNullable<Story['spec']>, config: 'old' | 'new', ageMs: number, last: string]
  >([
    [
      'the text has been corrected, and nobody has read that',
      { parameters: corrected },
      'old',
      900_000,
      'wait MembersNotReady',
    ],
    ['it has been removed, and nobody has read that', { parameters: {} }, 'old', 900_000, 'wait MembersNotReady'],
    [
      'another setting has changed',
      { parameters: { ...german, work_mem: '8MB' } },
      'old',
      900_000,
      'wait MembersNotReady',
    ],
    ['the lock lasts longer', { parameters: german, failover: { ttl: '60s' } }, 'old', 900_000, 'wait MembersNotReady'],
    ['the primary has read the correction just now', { parameters: corrected }, 'new', 20_000, 'wait MembersNotReady'],
    ['and long ago', { parameters: corrected }, 'new', 900_000, 'wait Replacing'],
  ])(
    'a member that does not start is replaced only once the settings are known to be good: %s',
    (_, spec, config, configAgeMs, last) => {
      const story = { ...world(german, english, { members: { 2: failing } }), children: down(2), spec };
      const [now] = postgresWorld({ spec }).observed.members;
      if (now?.state !== 'answering' || now.server?.state !== 'seen') throw new Error('there is no primary');
      const known = now.server;
      const facts = { ...known.facts, configAgeMs, ...(config === 'old' ? { config: 'of before' } : {}) };
      const server = {
        ...known,
        settings: [...known.settings.filter(({ name }) => name !== 'lc_messages'), ...english],
        facts,
      };
      expect(planned({ ...story, members: { ...story.members, 0: { server } } }).at(-1)).toBe(last);
    },
  );

  it.each<readonly [string, string, string]>([
    ['made shortly before', '2030-06-01T11:10:00Z', 'wait MembersNotReady'],
    ['made long before', '2030-06-01T10:30:00Z', 'wait Replacing'],
    ['made afterwards', '2030-06-01T12:10:00Z', 'wait Replacing'],
  ])('a member that has copied and does not start, beside the volume of one that has left: %s', (_, made, last) => {
    const claims: NonNullable<Story['children']> = (objects) =>
      down(4)(objects).flatMap((object) => {
        if (object.metadata.name !== 'data-db-4-0') return [object];
        const metadata = { ...object.metadata, creationTimestamp: '2030-06-01T12:00:00Z' };
        const annotations = { ...metadata.annotations, [retiredAnnotation]: 'true' };
        const labels = { ...metadata.labels, [memberLabel]: 'db-3' };
        const former = { ...metadata, name: 'data-db-3-0', creationTimestamp: made, labels, annotations };
        return [
          { ...object, metadata },
          { ...object, metadata: former },
        ];
      });
    const story: Story = { numbers: [0, 1, 4], starts: { 4: 'join' }, members: { 4: failing }, children: claims };
    expect(planned(story).at(-1)).toBe(last);
  });
});
