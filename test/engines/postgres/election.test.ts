import { describe, expect, it } from 'vitest';
import { situationOf } from '../../../src/engines/postgres/observe/situation.ts';
import { planPostgres } from '../../../src/engines/postgres/plan/plan.ts';
import type { Start } from '../../../src/engines/postgres/resources/roster.ts';
import type { Pod } from '../../../src/resources/children.ts';
import { now, postgresWorld, type Story } from '../../support/postgres-situation.ts';

const again = (story: Story): unknown => {
  const { cluster, children, observed } = postgresWorld(story);
  const { outcome } = planPostgres(situationOf(cluster, children, observed), () => undefined);
  return outcome.state === 'settled' ? 'settled' : [outcome.reason, outcome.recheckMs];
};
const creating: Story['children'] = (objects) =>
  objects.map((object) =>
    object.kind === 'Pod'
      ? ({
          ...object,
          status: {
            phase: 'Pending',
            startTime: '2026-01-01T00:00:00Z',
            containerStatuses: [{ name: 'postgres', state: { waiting: { reason: 'ContainerCreating' } } }],
          },
        } as typeof object)
      : object,
  );
const withoutPods: Story['children'] = (objects) => objects.filter(({ kind }) => kind !== 'Pod');

describe('a cluster without a primary is looked at again', () => {
  it.each<readonly [string, Story, unknown]>([
    ['every second while members elect one: no event tells of it', { primary: 'nobody' }, ['NoPrimary', 1000]],
    [
      'when a pod runs, and not before',
      { primary: 'nobody', members: {}, children: withoutPods },
      ['NoPrimary', undefined],
    ],
    [
      'while a pod waits for its volumes: no event tells of a Secret that is gone',
      { primary: 'nobody', members: {}, children: creating },
      ['NoPrimary', 10_000],
    ],
    [
      'when its first pod runs',
      { numbers: [], primary: 'nobody', status: {}, children: () => [] },
      ['Forming', undefined],
    ],
  ])('%s', (_, story, expected) => expect(again(story)).toEqual(expected));
});

/** As Patroni leaves them before anybody has led. */
const unfinished: Story['children'] = (objects) =>
  objects.map((object) => {
    const annotations = { 'db-config': { initialize: '' }, 'db-leader': {}, 'db-sync': {} }[object.metadata.name];
    return annotations === undefined ? object : { ...object, metadata: { ...object.metadata, annotations } };
  });

describe('a database that was begun and not finished', () => {
  const idle = { systemId: undefined, role: undefined, isStreaming: false } as never;
  interface Begun {
    readonly first?: object | 'silent';
    readonly start?: Start;
    /** For so long its container has run. */
    readonly upMs?: number;
    /** Its container has ended with it. */
    readonly exitCode?: number;
    /** Besides on the ConfigMap of the lock. */
    readonly lock?: Readonly<Record<string, string>>;
    readonly pods?: Story['pods'];
    /** What Patroni has written of the database. */
    readonly identifier?: string;
  }
  const planned = (begun: Begun) => {
    const { identifier = '' } = begun;
    const { first = { postgres: 'stopped' }, start = 'form', upMs = 90_000, lock = {}, pods, exitCode } = begun;
    const running = { running: { startedAt: new Date(now - upMs).toISOString() } };
    const ended = { waiting: { reason: 'CrashLoopBackOff' } };
    const status = {
      containerStatuses: [
        exitCode === undefined
          ? { name: 'postgres', state: running }
          : { name: 'postgres', state: ended, lastState: { terminated: { exitCode } } },
      ],
    };
    const { cluster, children, observed } = postgresWorld({
      status: {},
      primary: 'nobody',
      starts: { 0: start, all: 'join' },
      claims: { all: 'blank' },
      members: {
        all: { ...(idle as object), postgres: 'stopped' },
        0: first === 'silent' ? first : { ...(idle as object), ...first },
      },
      ...(pods === undefined ? {} : { pods }),
      children: (objects) =>
        (unfinished?.(objects) ?? []).map((object) => {
          if (object.metadata.name === 'db-config')
            return { ...object, metadata: { ...object.metadata, annotations: { initialize: identifier } } };
          if (object.metadata.name === 'db-leader')
            return { ...object, metadata: { ...object.metadata, annotations: lock } };
          return object.kind === 'Pod' && object.metadata.name === 'db-0-0'
            ? ({ ...object, status: { ...(object as Pod).status, ...status } } as typeof object)
            : object;
        }),
    });
    const { steps, outcome } = planPostgres(situationOf(cluster, children, observed), () => undefined);
    const deleted = steps.flatMap((step) => (step.type === 'delete' ? step.ref.name : []));
    const marked = steps.flatMap((step) => (step.type === 'patch' ? (step.changes ?? []).map(({ path }) => path) : []));
    return { deleted, marked, said: outcome.state === 'settled' ? '' : `${outcome.reason}: ${outcome.message}` };
  };

  it.each([
    ['stopped', true],
    ['uninitialized', true],
    ['initializing new cluster', false],
    ['running', false],
  ])('is told, and its pod starts again, where nobody is at work on it: %s', (postgres, isIdle) => {
    const { deleted, said } = planned({ first: { postgres } });
    expect([deleted, said.includes('initialize is empty in ConfigMap db-config')]).toEqual([
      isIdle ? ['db-0-0'] : [],
      isIdle,
    ]);
  });

  it.each<readonly [string, Begun]>([
    ['has just started', { upMs: 59_000 }],
    ['does not answer', { first: 'silent' }],
    ['is being stopped', { pods: { 0: 'stopping' } }],
    ['has data', { first: { postgres: 'stopped', systemId: '7001' } }],
    ['has had the lock', { lock: { acquireTime: '2030-01-01T00:00:00Z' } }],
    ['starts with the data of a backup', { start: 'restore' }],
    ['starts with the data of another PostgreSQL', { start: 'import' }],
  ])('its pod goes on where the member %s', (_, begun) => expect(planned(begun).deleted).toEqual([]));

  it('no volume is marked with an identifier that Patroni has not written down: the next database has another one', () =>
    expect(planned({ first: { postgres: 'running', systemId: '7001' } }).marked).toEqual([
      'metadata.annotations[clusterwright.dev/postgres-version]',
    ]));

  it.each<readonly [string, Begun, RegExp]>([
    ['does not answer', { first: 'silent' }, /^Forming: .*it begins anew when it starts again \(see its log\)$/],
    [
      'has data',
      { first: { postgres: 'stopped', systemId: '7001' } },
      /^NoPrimary: .*begins anew when it starts again: delete the pod$/,
    ],
    ['makes one', {}, /^Forming: .*it begins anew when it starts again, and is restarted a minute after its start$/],
    [
      'cannot move aside what it has made',
      { first: 'silent', exitCode: 80 },
      /^Forming: db-0-0 does not start: .* cannot be moved aside \(see its log\)\. If that lasts: no member has had the lock, .*, and create it again/,
    ],
    [
      'starts with the data of a backup',
      { start: 'restore' },
      /^Forming: .*makes no empty database in place of what was restored/,
    ],
    [
      'is blank and somebody has had the lock',
      { first: 'silent', exitCode: 78, lock: { optime: '67109192' } },
      /^DataLost: no member has data \(db-0-0, db-1-0, db-2-0\), and there was a database/,
    ],
    [
      'is blank and its database has had an identifier',
      { identifier: '7001' },
      /^DataLost: no member has data \(db-0-0, db-1-0, db-2-0\), and there was a database/,
    ],
    [
      'is blank and its database has had an identifier, and somebody led a moment ago',
      { identifier: '7001', lock: { optime: '67109192', renewTime: new Date(now - 5000).toISOString() } },
      /^NoPrimary: /,
    ],
    [
      'has had the lock',
      { lock: { optime: '67109192' } },
      /^NoPrimary: .*a member has had the lock: db-0-0 goes on with the data on its volume, and makes no other database/,
    ],
  ])('says what follows where the member %s', (_, begun, expected) => expect(planned(begun).said).toMatch(expected));
});
