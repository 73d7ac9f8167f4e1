import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { stateNames } from '../../../src/engines/postgres/names.ts';
import { situationOf } from '../../../src/engines/postgres/observe/situation.ts';
import { planPostgres } from '../../../src/engines/postgres/plan/plan.ts';
import { postgresWorld, type Story } from '../../support/postgres-situation.ts';
import { type PlanRow, planned } from '../../support/postgres-words.ts';

const table = (rows: readonly PlanRow[]): void =>
  it.each(rows)('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

/** With `strict`, members copy in another way. */
const copyMethod = expect.stringContaining('apply ConfigMap db-patroni: patroni.yml=') as string;
const nothingYet = { numbers: [], primary: 'nobody', status: {}, children: () => [] } as const satisfies Story;
const state = stateNames('db');
/** Nobody has told of a database yet. */
const blank = { systemId: undefined, role: undefined, postgres: 'uninitialized', isStreaming: false } as never;
const withoutInitialize: Story['children'] = (objects) =>
  objects.map((object) =>
    object.metadata.name === 'db-config' || object.metadata.name === 'db-leader'
      ? { ...object, metadata: { ...object.metadata, annotations: {} } }
      : object,
  );

describe('a cluster that is whole', () => {
  table([
    ['is left alone', {}, ['settled']],
    ['is left alone with one member', { spec: { instances: 1 } }, ['settled']],
    ['is left alone without synchronous replication', { spec: { synchronous: { count: 0 } } }, ['settled']],
    [
      'is left alone though nobody can read the authorities',
      { observed: { authorities: undefined } as never },
      ['settled'],
    ],
  ]);
});

describe('a new cluster', () => {
  table([
    [
      'gets the ConfigMaps of Patroni before anything that runs',
      nothingYet,
      [
        'create Secret db-app',
        'create ConfigMap db-config',
        'create ConfigMap db-leader',
        'create ConfigMap db-failover',
        'create ConfigMap db-sync',
        'create ServiceAccount db-postgres',
        'create ConfigMap db-patroni',
        'create ConfigMap db-members',
        'create Service db',
        'create Service db-primary',
        'create Service db-replicas',
        'create PodDisruptionBudget db',
        'create StatefulSet db-0',
        'create StatefulSet db-1',
        'create StatefulSet db-2',
        'create Role db-postgres',
        'create RoleBinding db-postgres',
        'wait Forming',
      ],
    ],
    [
      'gets its Secret though the operator was killed after it had made a ConfigMap of Patroni',
      {
        ...nothingYet,
        children: (objects) =>
          withoutInitialize(
            objects.filter(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'db-config'),
          ),
      },
      [
        'create Secret db-app',
        'create ConfigMap db-leader',
        'create ConfigMap db-failover',
        'create ConfigMap db-sync',
        'create ServiceAccount db-postgres',
        'create ConfigMap db-patroni',
        'create ConfigMap db-members',
        'create Service db',
        'create Service db-primary',
        'create Service db-replicas',
        'create PodDisruptionBudget db',
        'create StatefulSet db-0',
        'create StatefulSet db-1',
        'create StatefulSet db-2',
        'create Role db-postgres',
        'create RoleBinding db-postgres',
        'wait Forming',
      ],
    ],
    [
      'gets its Secret where an operator ended after it had made the ConfigMaps of Patroni',
      {
        ...nothingYet,
        children: (objects) => withoutInitialize(objects).filter(({ metadata }) => state.includes(metadata.name)),
      },
      expect.arrayContaining(['create Secret db-app', 'create ServiceAccount db-postgres']),
    ],
    [
      'forms: nobody is primary, and nobody has data',
      {
        status: {},
        primary: 'nobody',
        starts: { 0: 'form', all: 'join' },
        members: { all: blank },
        claims: { all: 'blank' },
        children: withoutInitialize,
      },
      ['wait Forming'],
    ],
    [
      'marks each volume as soon as its member tells of the database',
      {
        status: {},
        starts: { 0: 'form', all: 'join' },
        claims: { all: 'blank' },
        members: { 1: blank, 2: 'silent' },
      },
      ['data-db-0-0: postgres-system 7001', 'data-db-0-0: postgres-version 17', 'wait MembersNotReady'],
    ],
    [
      'is formed once: the member that has formed it goes on like the others',
      { starts: { 0: 'form' } },
      ['apply ConfigMap db-members: db-0.start=resume', 'settled'],
    ],
    [
      'is looked at again once its status says that it has been formed: nothing else tells',
      { status: {}, starts: { 0: 'form', all: 'join' } },
      ['wait Forming'],
    ],
    [
      'waits until commits wait for a standby',
      { members: { 1: { isSynchronous: false }, 2: { isSynchronous: false } } },
      ['wait MembersNotReady'],
    ],
  ]);
});

const onlyClaims: Story['children'] = (objects) => objects.filter(({ kind }) => kind === 'PersistentVolumeClaim');
const restoredOnly: Story = {
  status: {},
  numbers: [0],
  primary: 'nobody',
  claims: { 0: 'restored' },
  members: { 0: 'gone' },
};

describe('a volume that a restore has filled', () => {
  it('is what the first member begins with, and nobody makes a database beside it', () => {
    const { cluster, children, observed } = postgresWorld({
      ...restoredOnly,
      before: { instances: 1 },
      children: onlyClaims,
    });
    const plan = planPostgres(situationOf(cluster, children, observed), () => undefined);
    const made = plan.steps.flatMap((step) => (step.type === 'create' ? [step.object] : []));
    const roster = made.find(({ metadata }) => metadata.name === 'db-members')?.data as Record<string, string>;
    expect(Object.keys(roster)).toEqual(['db-0.start', 'db-0.bootstrap.yml', 'db-1.start', 'db-2.start', 'version']);
    expect(roster).toMatchObject({ 'db-0.start': 'restore', 'db-1.start': 'join' });
    // Where the volume has been lost since, no database is made.
    expect(JSON.parse(roster['db-0.bootstrap.yml'] ?? '')).toMatchObject({
      bootstrap: { method: 'restore', restore: { command: 'false' } },
    });
    expect(roster['db-0.bootstrap.yml']).not.toContain('initdb');
  });

  table([
    [
      'is marked with the database as every other one',
      {
        status: {},
        starts: { 0: 'restore', all: 'join' },
        claims: { all: 'blank', 0: 'restored' },
        members: { 1: blank, 2: 'silent' },
      },
      ['data-db-0-0: postgres-system 7001', 'data-db-0-0: postgres-version 17', 'wait MembersNotReady'],
    ],
    [
      'is used once: the member that has begun with it goes on like the others',
      { starts: { 0: 'restore' } },
      ['apply ConfigMap db-members: db-0.start=resume', 'settled'],
    ],
  ]);
});

describe('data of another database', () => {
  const foreign = ['blocked ForeignData'];
  table([
    ['on a volume blocks everything', { claims: { 1: 'foreign' } }, foreign],
    ['told by a member blocks everything', { members: { 2: { systemId: '9009' } } }, foreign],
    ['blocks a change of the size', { claims: { 1: 'foreign' }, spec: { instances: 5 }, before: {} }, foreign],
    ['blocks a restart', { claims: { 1: 'foreign' }, pods: { all: 'outdated' } }, foreign],
    ['blocks parking', { claims: { 1: 'foreign' }, spec: { instances: 0 }, before: {} }, foreign],
    [
      'does not keep a volume from growing',
      { claims: { 1: 'foreign' }, spec: { storage: { size: '20Gi' } }, before: {} },
      [...[0, 1, 2].map((i) => `try data-db-${i}-0: spec.resources.requests.storage 20Gi`), 'blocked ForeignData'],
    ],
    ['on a retired volume is nobody’s', { claims: { 3: 'retired' } }, ['settled']],
  ]);
});

describe('no primary', () => {
  table([
    ['is waited for, and nobody is promoted', { primary: 'nobody' }, ['wait NoPrimary']],
    [
      'is waited for, though one member alone is left',
      { primary: 'nobody', members: { 0: 'gone', 1: 'silent' } },
      ['wait NoPrimary'],
    ],
    ['is what a member without the lock is, though it takes writes', { leader: 1 }, ['wait NoPrimary']],
    [
      'is what a member is that holds the lock and takes no writes',
      { primary: 'nobody', leader: 1 },
      ['wait NoPrimary'],
    ],
    ['restarts nobody', { primary: 'nobody', pods: { all: 'outdated' } }, ['wait NoPrimary']],
    ['removes nobody', { primary: 'nobody', spec: { instances: 1 }, before: {} }, ['wait NoPrimary']],
    [
      'configures nobody',
      { primary: 'nobody', spec: { parameters: { work_mem: '8MB' } }, before: {} },
      ['wait NoPrimary'],
    ],
    ['takes the label from nobody', { primary: 'nobody', labelled: [1] }, ['wait NoPrimary']],
  ]);
});

describe('the label of the primary', () => {
  table([
    ['is taken from an old primary', { primary: 1, labelled: [0, 1] }, ['db-0-0: role replica', 'wait Updating']],
    [
      'is taken from one that does not answer',
      { primary: 1, labelled: [0, 1], members: { 0: 'silent' } },
      ['db-0-0: role replica', 'wait MembersNotReady'],
    ],
    ['is left to Patroni where the primary has none yet', { labelled: [] }, ['settled']],
  ]);
});

describe('a member that is not well', () => {
  const due = { pods: { 2: 'outdated' } } as const satisfies Story;
  const waits = ['wait MembersNotReady'];
  table([
    ['because it has no pod: nobody restarts', { ...due, members: { 1: 'gone' } }, waits],
    ['because it is silent: nobody restarts', { ...due, members: { 1: 'silent' } }, waits],
    ['because it does not stream: nobody restarts', { ...due, members: { 1: { isStreaming: false } } }, waits],
    ['because it is on another timeline: nobody restarts', { ...due, members: { 1: { timeline: 2 } } }, waits],
    ['because PostgreSQL starts: nobody restarts', { ...due, members: { 1: { postgres: 'starting' } } }, waits],
    [
      'because it takes writes without the lock: nobody restarts',
      { ...due, members: { 1: { role: 'primary' } } },
      waits,
    ],
    ['because it is not ready: nobody restarts', { pods: { 1: 'unready', 2: 'outdated' } }, waits],
    ['because it stops: nobody restarts', { pods: { 1: 'stopping', 2: 'outdated' } }, waits],
    ['because the primary is not ready: nobody restarts', { pods: { 0: 'unready', 2: 'outdated' } }, waits],
    [
      'holds up the removal of another',
      {
        spec: { instances: 1, synchronous: { count: 0 } },
        before: { synchronous: { count: 0 } },
        members: { 1: 'silent' },
      },
      ['configure primary_start_timeout=300', ...waits],
    ],
    [
      'does not hold up members that are added',
      { spec: { instances: 4 }, before: {}, members: { 1: 'silent' } },
      [
        'apply ConfigMap db-members: db-3.start=join',
        'create StatefulSet db-3',
        'apply Role db-postgres: rules[2].resourceNames',
        ...waits,
      ],
    ],
    [
      'does not hold up a setting',
      { spec: { parameters: { work_mem: '8MB' } }, before: {}, members: { 1: 'silent' } },
      ['configure postgresql.parameters.work_mem=8MB', ...waits],
    ],
  ]);
});

describe('the shared configuration', () => {
  const withConfig = (config: unknown): Story => ({ observed: { config } as never });
  table([
    [
      'gets a setting',
      { spec: { parameters: { work_mem: '8MB' } }, before: {} },
      ['configure postgresql.parameters.work_mem=8MB', 'wait Updating'],
    ],
    [
      'loses a setting that is in the spec no more',
      { spec: {}, before: { parameters: { work_mem: '8MB' } } },
      ['configure postgresql.parameters.work_mem=null', 'wait Updating'],
    ],
    [
      'follows the spec in what Patroni does',
      { spec: { failover: { ttl: '40s' }, synchronous: { count: 2, strict: true } }, before: {} },
      [
        copyMethod,
        'configure ttl=40 loop_wait=10 retry_timeout=10 synchronous_mode_strict=true synchronous_node_count=2',
        'wait Updating',
      ],
    ],
    [
      'gets a corrected setting, and nothing else, where no Patroni answers: PostgreSQL may let it in no more',
      {
        spec: { parameters: { work_mem: '8MB' }, synchronous: { count: 0 }, failover: { ttl: '40s' } },
        before: { parameters: { session_preload_libraries: 'typo', max_prepared_transactions: '10' } },
        primary: 'nobody',
        members: { all: 'silent' },
      },
      [
        'db-config: metadata.annotations[config].postgresql.parameters.work_mem 8MB, metadata.annotations[config].postgresql.parameters.session_preload_libraries null',
        expect.stringMatching(/^wait /),
      ],
    ],
    [
      'lets the commits of a single instance wait for nobody',
      { spec: { instances: 1, synchronous: { strict: true } }, before: { instances: 1 } },
      ['settled'],
    ],
    [
      'comes before a restart',
      { spec: { parameters: { work_mem: '8MB' } }, before: {}, pods: { 1: 'outdated' } },
      ['configure postgresql.parameters.work_mem=8MB', 'wait Updating'],
    ],
    ['that nobody tells changes nothing', withConfig(undefined), ['wait MembersNotReady']],
  ]);
  it('that is no object is written whole', () => {
    const [line = ''] = planned(withConfig({ postgresql: 'none' }));
    expect(line).toMatch(/^configure ttl=20 .* postgresql\.use_pg_rewind=true .*postgresql\.parameters\.jit=off/);
  });
});

describe('certificates', () => {
  /** Patroni's next CA is trusted beside the one that signs. */
  const nextTrusted = (() => {
    const { certificates } = postgresWorld().observed;
    const { patroni } = certificates ?? {};
    const facts = { ...patroni?.authority.facts, hasNext: true };
    return { certificates: { ...certificates, patroni: { ...patroni, authority: { digest: 'a', facts } } } } as never;
  })();
  const set1 =
    (change: (object: KubeObject) => object): NonNullable<Story['children']> =>
    (objects) =>
      objects.map((object) =>
        object.kind === 'StatefulSet' && object.metadata.name === 'db-1' ? (change(object) as KubeObject) : object,
      );
  const signs = 'issue db-patroni-ca';
  it.each<[string, Story, boolean]>([
    ['signs once every member has started with it', {}, true],
    ['does not sign while a member is not well', { members: { 2: { isStreaming: false } } }, false],
    ['does not sign while a member has yet to restart', { pods: { 1: 'outdated' } }, false],
    [
      'does not sign while Kubernetes has yet to take up the template with which members restart',
      { children: set1(({ metadata, ...object }) => ({ ...object, metadata: { ...metadata, generation: 2 } })) },
      false,
    ],
  ])('the next CA %s', (_, story, isSigning) => {
    expect(planned({ ...story, observed: nextTrusted }).includes(signs)).toBe(isSigning);
  });
  it('that are lost block members from starting anew', () => {
    expect(planned({ observed: { certificates: undefined } as never })).toEqual(['blocked CertificatesLost']);
  });
  it.each<[string, Story, string]>([
    ['say so', {}, 'blocked CertificatesLost'],
    ['let a cluster be parked, which ends it', { spec: { instances: 0 }, before: {} }, 'wait Parking'],
  ])('of which the operator has none, and can make none, %s', (_, story, outcome) => {
    const observed = { credentialsProblem: 'Secret db-patroni-operator-tls has no certificate' };
    expect(planned({ primary: 'nobody', members: { all: 'silent' }, observed, ...story }).at(-1)).toBe(outcome);
  });
  it('are made first', () => {
    const lines = planned({ ...nothingYet, observed: { certificates: undefined } as never });
    expect(lines.slice(0, 9)).toEqual([
      ...['ca', 'server-tls', 'replication-tls', 'rewind-tls', 'operator-tls'].map((name) => `issue db-${name}`),
      ...['patroni-ca', 'patroni-tls', 'patroni-operator-tls'].map((name) => `issue db-${name}`),
      'create Secret db-app',
    ]);
  });
});
