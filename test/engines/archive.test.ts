/** The archive of a cluster's log beside its engine: which objects there are, and what its state means for the cluster. */
import { describe, expect, it } from 'vitest';
import type { DesiredCondition } from '../../src/api/condition.ts';
import type { ArchiveStatus } from '../../src/api/status.ts';
import { desiredConditions } from '../../src/engine/desired-conditions.ts';
import type { Assessment } from '../../src/engine/engine.ts';
import type { EngineContext } from '../../src/engine/engine-context.ts';
import { keptBy } from '../../src/engines/postgres/backup/archive.ts';
import { postgres } from '../../src/engines/postgres/index.ts';
import { judgeArchive } from '../../src/jobs/archive/judge.ts';
import { type ArchiveSeen, observeArchive } from '../../src/jobs/archive/observe.ts';
import { judged } from '../../src/jobs/archive/status.ts';
import { defineEngine } from '../../src/jobs/handlers.ts';
import { settled, wait } from '../../src/plan/plan.ts';
import { noChildren, type Pod } from '../../src/resources/children.ts';
import { claimContradictions } from '../../src/testing/claim-contradictions.ts';
import { postgresCluster } from '../support/postgres-situation.ts';

const at = Date.parse('2026-01-01T00:10:00Z');
const ago = (seconds: number): string => new Date(at - seconds * 1000).toISOString();
const said = { state: 'following', since: ago(100), storedAt: ago(5), end: '0/30', hasBase: true } as const;
const begun = { state: 'following', since: ago(3), storedAt: ago(1), end: '0/30' } as const;
const problem = { reason: 'TargetUnreachable', message: 'the store is away' };
const known = (state: ArchiveStatus['state'], storedAt = ago(5)): ArchiveStatus => ({
  state,
  since: ago(500),
  storedAt,
});

describe('the state of an archive', () => {
  it.each<[string, ArchiveSeen, ArchiveStatus | undefined, ArchiveStatus['state'], RegExp | undefined]>([
    ['follows', { report: said, at }, known('Following'), 'Following', undefined],
    ['is new', { silence: 'its pod is Pending', at }, undefined, 'Starting', /its pod is Pending/],
    ['has no base yet', { report: { ...said, hasBase: false }, at }, known('Starting'), 'Starting', /no base backup/],
    [
      'has started anew, and has yet to look for its base',
      { report: begun, at },
      known('Following'),
      'Following',
      undefined,
    ],
    ['is new, and has yet to look for a base', { report: begun, at }, known('Starting'), 'Starting', /no base backup/],
    [
      'cannot look for its base',
      { report: { ...begun, upkeepProblem: 'a list is refused' }, at },
      known('Following'),
      'Starting',
      /a list is refused/,
    ],
    [
      'has not looked for its base for long',
      { report: { ...begun, since: ago(61) }, at },
      known('Following'),
      'Starting',
      /no base backup/,
    ],
    [
      'is interrupted for a moment',
      { silence: 'its pod is not there', at },
      known('Following'),
      'Following',
      undefined,
    ],
    [
      'is late',
      { report: { ...said, state: 'failing', problem, storedAt: ago(61) }, kept: { state: 'kept', bytes: 5e6 }, at },
      known('Following'),
      'Late',
      /the store is away; up to 8 MiB/,
    ],
    [
      'is late while nobody answers',
      { silence: 'its pod is not there', at },
      known('Following', ago(61)),
      'Late',
      /its pod is not there/,
    ],
    [
      'has lost its slot, however short it was away',
      { silence: 'its pod is not there', kept: { state: 'lost', message: 'wal_status lost' }, at },
      known('Following'),
      'Gap',
      /wal_status lost/,
    ],
    [
      'has a gap, and no base behind it',
      { report: { ...said, gap: '0/1 to 0/2' }, at },
      known('Following'),
      'Gap',
      /0\/1 to 0\/2/,
    ],
    ['begins again behind a gap', { report: { ...said, hasBase: false }, at }, known('Gap'), 'Gap', /no base backup/],
    ['has a base behind the gap', { report: said, at }, known('Gap'), 'Following', undefined],
  ])('%s', (_, seen, status, state, message) => {
    const judged = judgeArchive(seen, 60_000, status);
    expect(judged.status.state).toBe(state);
    if (message === undefined) expect(judged.verdict).toBeUndefined();
    else expect(judged.verdict?.message).toMatch(message);
  });

  it('is looked at again while it is interrupted', () => {
    expect(judgeArchive({ silence: 'its pod is not there', at }, 60_000, known('Following')).interruption).toBe(
      'its pod is not there',
    );
    expect(judgeArchive({ report: said, at }, 60_000, known('Following')).interruption).toBeUndefined();
  });

  it('says the end anew when what it says is five minutes old', () => {
    const old = { ...known('Following', ago(299)), end: '0/10' };
    expect(judgeArchive({ report: said, at }, 60_000, old).status).toMatchObject({
      end: '0/10',
      storedAt: ago(299),
    });
    const older = { ...known('Following', ago(300)), end: '0/10' };
    expect(judgeArchive({ report: said, at }, 60_000, older).status).toMatchObject({
      end: '0/30',
      storedAt: ago(5),
    });
  });
});

describe('the status of a cluster that is well otherwise', () => {
  const well = { reason: 'AllMembersReady', message: 'all are well' };
  const healthy = {
    plan: { steps: [], outcome: settled },
    status: {
      phase: 'Ready',
      conditions: [
        { type: 'Ready', status: 'True', ...well },
        { type: 'Progressing', status: 'False', ...well },
        { type: 'Degraded', status: 'False', ...well },
      ],
    },
  } satisfies Pick<Assessment, 'plan' | 'status'>;

  it.each<[string, ArchiveSeen, string]>([
    ['its archive follows', { report: said, at }, 'Ready, Ready True, Progressing False, Degraded False'],
    [
      'its archive starts',
      { report: { ...said, hasBase: false }, at },
      'Creating, Ready False, Progressing True, Degraded False, Reconciling True',
    ],
    [
      'its archive has a gap',
      { report: { ...said, gap: '0/1 to 0/2' }, at },
      'Degraded, Ready False, Progressing False, Degraded True, ArchiveGap True',
    ],
  ])('%s', (_, seen, words) => {
    const { status } = judged(healthy, judgeArchive(seen, 60_000, undefined));
    const { phase, conditions } = status as typeof healthy.status;
    expect([phase, ...conditions.map((one) => `${one.type} ${one.status}`)].join(', ')).toBe(words);
    expect(claimContradictions({ phase, conditions })).toEqual([]);
  });

  it.each<[phase: 'Creating' | 'Updating' | 'Blocked' | 'Degraded', conditions: DesiredCondition[], trouble: string]>([
    ['Creating', desiredConditions('False', 'Forming', 'no member yet', { progressing: true }), 'Creating'],
    ['Updating', desiredConditions('False', 'Restarting', 'one restarts', { progressing: true }), 'Degraded'],
    ['Blocked', desiredConditions('False', 'X', 'choose', { stalled: true }), 'Blocked'],
    ['Degraded', desiredConditions('False', 'MembersNotReady', 'one is away', { degraded: true }), 'Degraded'],
  ])('agrees with itself also while the database is %s', (phase, conditions, trouble) => {
    const plan = { steps: [], outcome: wait('X', 'x') };
    const phases = [
      { report: { ...said, hasBase: false }, at },
      { report: { ...said, gap: '0/1 to 0/2' }, at },
    ].map((seen) => {
      const { status } = judged({ plan, status: { phase, conditions } }, judgeArchive(seen, 60_000, undefined));
      expect(claimContradictions(status)).toEqual([]);
      return status.phase;
    });
    expect(phases).toEqual([phase, trouble]);
  });
});

it.each<[string, object, RegExp]>([
  [
    'a lost node',
    { deletionTimestamp: ago(61) },
    /once the node is off, .*kubectl delete pod -n apps db-archive-0 --force/,
  ],
  ['a pod that stops', { deletionTimestamp: ago(59) }, /does not answer: connect EHOSTUNREACH/],
  ['a slow network', {}, /does not answer: connect EHOSTUNREACH/],
])('a pod that does not answer is told of: %s', async (_, metadata, words) => {
  const io = { ...({ signal: new AbortController().signal } as EngineContext), now: () => at };
  const silent = {
    ...io,
    exchange: () => Promise.reject(new Error('connect EHOSTUNREACH')),
    sleep: () => new Promise<void>(() => undefined),
  };
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'db-archive-0', namespace: 'apps', ...metadata },
    status: { phase: 'Running', podIP: '10.0.0.9' },
  } as Pod;
  const support = { isParked: () => false, kept: () => Promise.resolve({ state: 'kept' } as const) };
  expect((await observeArchive(postgresCluster(), pod, noChildren, support, silent)).silence).toMatch(words);
});

it.each([
  [{ end: 100n, status: 'lost', restart: undefined }, { state: 'lost' }],
  [
    { end: 100n, status: 'extended', restart: 40n },
    { state: 'kept', bytes: 60 },
  ],
  [{ end: 100n, status: undefined, restart: undefined }, { state: 'kept' }],
] as const)('says what the slot keeps', (slot, expected) => {
  expect(keptBy(slot)).toMatchObject(expected);
});

describe('its objects', () => {
  const backup = { target: { s3: { endpoint: 'https://s3.example', bucket: 'backups', credentials: 'store-access' } } };
  const objectsOf = (spec: object) =>
    defineEngine(postgres)
      .handler('agent:1')
      .resources(postgresCluster(spec))
      .map(({ object }) => object);

  it('are there with `backup.archive` alone', () => {
    const names = (spec: object) => objectsOf(spec).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    const archived = names({ backup: { ...backup, archive: {} } });
    expect(archived.filter((name) => !names({ backup }).includes(name))).toEqual([
      'ConfigMap db-archive-task',
      'StatefulSet db-archive',
    ]);
  });

  it('have the credentials of the store, which no pod of the database has', () => {
    const sets = objectsOf({ backup: { ...backup, archive: {} } }).filter(({ kind }) => kind === 'StatefulSet');
    const mounting = sets
      .filter((set) => JSON.stringify(set).includes('store-access'))
      .map(({ metadata }) => metadata.name);
    expect(sets.length).toBeGreaterThan(1);
    expect(mounting).toEqual(['db-archive']);
  });

  it('run nothing while the cluster is parked', () => {
    const set = objectsOf({ instances: 0, backup: { ...backup, archive: {} } }).find(
      ({ metadata }) => metadata.name === 'db-archive',
    );
    expect((set?.spec as { replicas: number } | undefined)?.replicas).toBe(0);
  });
});
