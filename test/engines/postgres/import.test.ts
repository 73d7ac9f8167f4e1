/** A cluster whose data comes from a PostgreSQL that runs elsewhere: what the operator tells the first member, and what it says of it. */
import { describe, expect, it } from 'vitest';
import { type ImportSeen, importSeen } from '../../../src/engines/postgres/observe/import-seen.ts';
import { situationOf } from '../../../src/engines/postgres/observe/situation.ts';
import { planPostgres } from '../../../src/engines/postgres/plan/plan.ts';
import { postgresStatus } from '../../../src/engines/postgres/status.ts';
import { postgresWorld, type Story } from '../../support/postgres-situation.ts';
import { type PlanRow, planned } from '../../support/postgres-words.ts';

const table = (rows: readonly PlanRow[]): void =>
  it.each(rows)('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

const spec = {
  bootstrap: {
    importFrom: {
      host: 'db.example.com',
      user: 'importer',
      password: { name: 'source' },
      tls: { ca: { name: 'source-ca' } },
    },
  },
} as const;
const withoutInitialize: Story['children'] = (objects) =>
  objects.map((object) =>
    object.metadata.name === 'db-config' ? { ...object, metadata: { ...object.metadata, annotations: {} } } : object,
  );
const follows: ImportSeen = {
  phase: 'following',
  source: 0x4000148,
  received: 0x4000148,
  replayed: 0x4000100,
  notes: [],
  digest: 'd',
};
/** The first member imports, and there is no other. */
const importing = (seen: Partial<ImportSeen> = {}, annotations: Readonly<Record<string, string>> = {}): Story => ({
  spec,
  metadata: { annotations },
  status: {},
  numbers: [0],
  primary: 'nobody',
  starts: { 0: 'import' },
  claims: { 0: 'blank' },
  pods: { 0: 'unready' },
  members: {
    0: {
      postgres: 'importing',
      role: undefined,
      version: undefined,
      systemId: undefined,
      lsn: undefined,
      server: undefined,
      imported: { ...follows, ...seen },
    } as never,
  },
  children: withoutInitialize,
  observed: { source: { state: 'seen', digest: 'd' } },
});
const cutOver = (value: string) => ({ 'clusterwright.dev/cut-over': value });
const said = (story: Story): string => {
  const { cluster, children, observed } = postgresWorld(story);
  const situation = situationOf(cluster, children, observed);
  const plan = planPostgres(situation, () => undefined);
  const { phase } = postgresStatus(situation, plan);
  return plan.outcome.state === 'settled' ? String(phase) : `${phase}: ${plan.outcome.message}`;
};

describe('a new cluster that imports', () => {
  it('has one member, whatever the spec says, and everything else', () => {
    const plan = planned({ spec, numbers: [], primary: 'nobody', status: {}, children: () => [] });
    expect(plan.filter((line) => /StatefulSet|wait/.test(line))).toEqual(['create StatefulSet db-0', 'wait Importing']);
  });

  it('does not begin with what an earlier cluster of the name has left', () => {
    const left: Story = { spec, status: {}, numbers: [0], rostered: [], primary: 'nobody', members: { 0: 'gone' } };
    expect(planned(left)).toEqual(['blocked DataExists']);
    expect(said(left)).toContain('an import never writes over data');
  });

  it('is parked without a member', () => {
    const parked = { ...spec, instances: 0 } as const;
    const plan = planned({ spec: parked, numbers: [], primary: 'nobody', status: {}, children: () => [] });
    expect(plan.filter((line) => /StatefulSet|settled|wait/.test(line))).toEqual(['settled']);
  });
});

describe('the first member', () => {
  table([
    [
      'is told the password of the source',
      importing({ digest: undefined } as never),
      ['tell db-0-0 of the source', 'wait Importing'],
    ],
    [
      'is told a password that has changed',
      importing({ digest: 'old' }),
      ['tell db-0-0 of the source', 'wait Importing'],
    ],
    [
      'is told nothing where the Secret is not there',
      {
        ...importing({ digest: 'old' }),
        observed: { source: { state: 'unusable', why: 'Secret source has no key password' } },
      },
      ['blocked SecretMissing'],
    ],
    ['copies', importing({ phase: 'copying', copied: 1, total: 2 }), ['wait Importing']],
    ['follows, and nobody joins', importing(), ['wait Following']],
    ['follows, and the source does not answer', importing({ problem: 'the source: refused' }), ['wait ImportFailing']],
    ['cannot log in', importing({ phase: 'connecting', problem: 'the source: no' }), ['wait ImportFailing']],
    ['gets on by itself later', importing({ phase: 'failing', problem: 'no space' }), ['wait ImportFailing']],
    ['refuses the source', importing({ phase: 'refused', problem: 'it is a standby' }), ['blocked ImportRefused']],
    [
      'becomes a database of its own',
      importing({ phase: 'cutting-over', asked: 'verified@uid-db' }, cutOver('verified@uid-db')),
      ['wait CuttingOver'],
    ],
    [
      'runs an older template: it goes on where it was',
      { ...importing(), pods: { 0: 'outdated' } },
      ['delete Pod db-0-0', 'wait Restarting'],
    ],
    [
      'is not interrupted while it becomes a database',
      { ...importing({ phase: 'cutting-over' }), pods: { 0: 'outdated' } },
      ['wait CuttingOver'],
    ],
    ['has not begun', { ...importing(), members: { 0: 'silent' } }, ['wait Importing']],
  ]);

  it('is said to follow, with how far behind it is, and what a person writes to cut over', () => {
    expect(said(importing({ notes: ['passwords of these roles are stored as md5'] }))).toBe(
      'Creating: follows db.example.com:5432: 72 bytes behind, source 0/4000148, here 0/4000100; to cut over, stop the clients of the source and set clusterwright.dev/cut-over=verified@uid-db, or stop the source in order and set stopped@uid-db; passwords of these roles are stored as md5',
    );
    expect(said(importing({ phase: 'copying', copied: 3_000_000, total: 9_000_000 }))).toBe(
      'Creating: a base backup of db.example.com:5432 is taken: 3 of about 9 MiB',
    );
  });
});

describe('a request to cut over', () => {
  const verified = cutOver('verified@uid-db');
  table([
    ['is passed on', importing({}, verified), ['cut over db-0-0: verified@uid-db', 'wait CuttingOver']],
    [
      'is passed on while the source does not answer',
      importing({ problem: 'no' }, verified),
      ['cut over db-0-0: verified@uid-db', 'wait CuttingOver'],
    ],
    ['names a position', importing({}, cutOver('0/4000100')), ['cut over db-0-0: 0/4000100', 'wait CuttingOver']],
    [
      'accepts other collations',
      importing({}, cutOver('verified@uid-db,collations-differ')),
      ['cut over db-0-0: verified@uid-db,collations-differ', 'wait CuttingOver'],
    ],
    ['waits for the copy', importing({ phase: 'copying' }, verified), ['wait Importing']],
    ['is being verified', importing({ asked: 'verified@uid-db' }, verified), ['wait CuttingOver']],
    [
      'was refused',
      importing({ asked: 'verified@uid-db', refusal: 'the source still writes' }, verified),
      ['blocked CutOverRefused'],
    ],
    [
      'was withdrawn',
      importing({ asked: 'verified@uid-db', refusal: 'no' }),
      ['withdraw the cut-over of db-0-0', 'wait CuttingOver'],
    ],
    ['is for another cluster', importing({}, cutOver('verified@uid-old')), ['blocked CutOverRefused']],
    [
      'says that the source is stopped',
      importing({}, cutOver('stopped@uid-db')),
      ['cut over db-0-0: stopped@uid-db', 'wait CuttingOver'],
    ],
    ['is no request', importing({}, cutOver('true')), ['blocked CutOverRefused']],
    ['is no request, with a command in it', importing({}, cutOver('0/1;x')), ['blocked CutOverRefused']],
  ]);

  it('goes when the cluster has its data, and the others join then', () => {
    const done: Story = {
      spec,
      metadata: { annotations: verified },
      status: {},
      numbers: [0],
      starts: { 0: 'import' },
    };
    const plan = planned(done);
    expect(plan).toContain('db: cut-over undefined');
    expect(plan.filter((line) => line.startsWith('create StatefulSet'))).toEqual([
      'create StatefulSet db-1',
      'create StatefulSet db-2',
    ]);
  });
});

describe('what a member says of its import', () => {
  it('is bounded, and in one line', () => {
    const seen = importSeen({
      phase: 'following',
      problem: `a\nb\u0000${'c'.repeat(5000)}`,
      source: -1,
      replayed: 1.5,
      received: '7',
      notes: Array.from({ length: 100 }, () => 'n'),
      refusal: { toString: () => 'x' },
    });
    expect(seen).toEqual({
      phase: 'following',
      problem: expect.stringMatching(/^a b c+…$/),
      notes: Array(8).fill('n'),
    });
    expect(seen?.problem).toHaveLength(1000);
  });

  it.each([undefined, null, 'following', [], { phase: 'promoted' }])('is nothing where it says %j', (answer) => {
    expect(importSeen(answer)).toBeUndefined();
  });
});
