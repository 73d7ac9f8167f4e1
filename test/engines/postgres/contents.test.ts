/** Plans for databases and users, one story a row: from what a server says to what is done. The statements themselves run in real-contents. */
import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../../src/api/cluster.ts';
import { contentHandler } from '../../../src/engine/content-handler.ts';
import type { KindHandler } from '../../../src/engine/engine.ts';
import { postgresDatabase, postgresUser } from '../../../src/engines/postgres/contents.ts';
import type { DatabaseSpec } from '../../../src/engines/postgres/kind/database.ts';
import type { PostgresSpec } from '../../../src/engines/postgres/kind/schema.ts';
import type { UserSpec } from '../../../src/engines/postgres/kind/user.ts';
import { type DatabaseSeen, noDatabase } from '../../../src/engines/postgres/observe/database.ts';
import { noUser, type UserSeen } from '../../../src/engines/postgres/observe/user.ts';
import { planDatabase, planDatabaseRemoval } from '../../../src/engines/postgres/plan/database.ts';
import { planUser, planUserRemoval } from '../../../src/engines/postgres/plan/user.ts';
import { userSecrets } from '../../../src/engines/postgres/resources/user.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import { noChildren } from '../../../src/resources/children.ts';
import { filledSecret } from '../../../src/resources/secret.ts';
import { contentResource, targetOf } from '../../support/postgres-contents.ts';
import { truthful } from '../../support/truthful-engine.ts';

const target = targetOf({}) as Cluster<PostgresSpec>;

/** Steps, then the reason, or the reason and the message of what is blocked. */
const words = ({ steps, outcome }: Plan): readonly string[] => [
  ...steps.map((step) => (step.type === 'act' ? step.summary : `${step.type} Secret`)),
  outcome.state === 'settled' ? 'settled' : outcome.reason,
];

const database = (spec: object = {}) =>
  contentResource('PostgresDatabase', 'shop', { name: 'shop', owner: 'app', ...spec }) as Cluster<DatabaseSpec>;
const nowhere = noDatabase as DatabaseSeen;
const there: DatabaseSeen['facts'] = {
  ...nowhere.facts,
  exists: true,
  owner: 'app',
  connectionLimit: -1,
  encoding: 'UTF8',
  locale: 'C.utf8',
  madeFor: 'shop',
};
const seen = (facts: Partial<DatabaseSeen['facts']> = {}): DatabaseSeen => ({
  ...nowhere,
  facts: { ...there, ...facts },
});

describe('a PostgresDatabase', () => {
  it.each<[string, object, DatabaseSeen, readonly string[]]>([
    ['is there', {}, seen(), ['settled']],
    ['is somebody else’s', {}, seen({ madeFor: undefined, owner: 'other' }), ['AlreadyExists']],
    ['is that of another resource', {}, seen({ madeFor: 'older' }), ['AlreadyExists']],
    [
      'is adopted',
      { adopt: true },
      seen({ madeFor: undefined, owner: 'other' }),
      ['give database shop from other to app', 'Updating'],
    ],
    ['is to be adopted, and not there', { adopt: true }, nowhere, ['NothingToAdopt']],
    ['has no owner', {}, seen({ hasOwner: false, owner: 'other' }), ['OwnerMissing']],
    [
      'would be a superuser’s',
      {},
      { ...nowhere, facts: { ...nowhere.facts, isOwnerSuperuser: true } },
      ['OwnerRefused'],
    ],
    [
      'would be of a role that runs programs on the server',
      {},
      { ...nowhere, facts: { ...nowhere.facts, mayActAsOwner: false, ownerPower: 'pg_execute_server_program' } },
      ['OwnerRefused'],
    ],
    [
      'is of a role that a superuser has given more to, and for which the operator acts already',
      {},
      seen({ ownerPower: 'app' }),
      ['settled'],
    ],
    [
      'was begun by an operator that has ended',
      {},
      { ...nowhere, facts: { ...nowhere.facts, isBegun: true } },
      ['mark database shop as created for this resource, and give it its name', 'Updating'],
    ],
    [
      'is for a role that the operator does not act for yet',
      {},
      { ...nowhere, facts: { ...nowhere.facts, mayActAsOwner: false } },
      [
        "make the operator's role a member of role app, for which it acts",
        'create database shop, first under a temporary name',
        'mark database shop as created for this resource, and give it its name',
        'Updating',
      ],
    ],
  ])('that %s', (_, spec, observed, expected) =>
    expect(words(planDatabase({ resource: database(spec), target, observed }))).toEqual(expected),
  );

  it.each<[string, object, DatabaseSeen, readonly string[]]>([
    ['it was created for', {}, seen(), ['drop database shop', 'Dropping']],
    ['has adopted it', { adopt: true }, seen(), ['settled']],
    ['finds another one of the name', {}, seen({ madeFor: undefined }), ['settled']],
    ['finds that of another resource', {}, seen({ madeFor: 'older' }), ['settled']],
    [
      'had begun it',
      {},
      { ...nowhere, facts: { ...nowhere.facts, isBegun: true } },
      ['drop database clusterwright-0000-shop', 'Dropping'],
    ],
    ['finds nothing', {}, nowhere, ['settled']],
  ])('that goes under Delete, where the resource %s', (_, spec, observed, expected) =>
    expect(words(planDatabaseRemoval({ resource: database(spec), target, observed }))).toEqual(expected),
  );

  it('is not judged while the primary does not answer, and is not dropped', () => {
    const observed = { state: 'unreachable', why: 'nobody answers' } as const;
    expect(words(planDatabase({ resource: database(), target, observed }))).toEqual(['NotObserved']);
    expect(words(planDatabaseRemoval({ resource: database(), target, observed }))).toEqual(['NotObserved']);
  });

  it('says what PostgreSQL has refused, and asks again once a minute', () => {
    const conditions = [
      {
        type: 'StatementRefused',
        status: 'True',
        reason: 'Refused',
        message: 'no',
        observedGeneration: 1,
        lastTransitionTime: '',
      },
    ];
    const resource = { ...database({ connectionLimit: 2 }), status: { conditions } } as Cluster<DatabaseSpec>;
    const plan = planDatabase({ resource, target, observed: seen() });
    expect(plan.outcome).toEqual({ state: 'wait', reason: 'StatementRefused', message: 'no', recheckMs: 60_000 });
    expect(plan.steps).toMatchObject([{ unhurried: true }]);
  });
});

describe('a PostgresUser', () => {
  const user = (spec: object = {}) =>
    contentResource('PostgresUser', 'reports', { name: 'reports', ...spec }) as Cluster<UserSpec>;
  const nobody = noUser as UserSeen;
  const role: UserSeen['role'] = { ...nobody.role, exists: true, login: true, mayActAs: true, madeFor: 'reports' };
  const known = (facts: Partial<UserSeen['role']> = {}, more: Partial<UserSeen> = {}): UserSeen => ({
    ...nobody,
    role: { ...role, ...facts },
    password: { state: 'right' },
    ...more,
  });
  const membership = (of: string, power?: string): UserSeen['memberships'][number] => ({
    role: of,
    exists: true,
    isMember: false,
    isOurs: false,
    inherits: undefined,
    power,
  });
  it.each<[string, object, UserSeen, readonly string[]]>([
    [
      'is new',
      {},
      nobody,
      ['create Secret', 'create role reports, with the password of Secret reports-login', 'Updating'],
    ],
    [
      'is a new group',
      { login: false },
      { ...nobody, password: { state: 'untried' } },
      ['create role reports', 'Updating'],
    ],
    ['brings a Secret that is not there', { passwordSecret: { name: 'given' } }, nobody, ['SecretMissing']],
    ['is there', {}, known(), ['settled']],
    [
      'has another password',
      {},
      known({}, { password: { state: 'wrong' } }),
      ['set the password of role reports to that of Secret reports-login', 'Updating'],
    ],
    [
      'has lost its Secret',
      {},
      known({}, { password: { state: 'missing' } }),
      ['create Secret', 'set the password of role reports to that of Secret reports-login', 'Updating'],
    ],
    [
      'has a password that clients encode differently',
      {},
      known({}, { password: { state: 'refused', why: 'odd' } }),
      ['PasswordRefused'],
    ],
    ['is somebody else’s', {}, known({ madeFor: undefined }), ['AlreadyExists']],
    ['is a superuser', { adopt: true }, known({ isSuperuser: true }), ['AlreadyExists']],
    ['is the initial owner', { name: 'app' }, nobody, ['NameReserved']],
    [
      'would adopt a role that runs programs on the server',
      { adopt: true },
      known(
        { madeFor: undefined, mayActAs: false, power: 'pg_execute_server_program' },
        { password: { state: 'wrong' } },
      ),
      ['RoleRefused'],
    ],
    ['has adopted a role that was given more since', { adopt: true }, known({ power: 'reports' }), ['settled']],
    [
      'wants to be a member of roles, of which one reads files of the server',
      { memberOf: ['readers', 'files'] },
      known({}, { memberships: [membership('files', 'pg_read_server_files'), membership('readers')] }),
      ['make reports a member of role readers', 'Updating'],
    ],
    [
      'was made a member of a role that reads files, by a person',
      { memberOf: ['files'] },
      known({}, { memberships: [{ ...membership('files', 'pg_read_server_files'), isMember: true }] }),
      ['settled'],
    ],
    [
      'is changed by hand',
      { createDatabase: true },
      known({ connectionLimit: 3 }),
      ['change CREATEDB, CONNECTION LIMIT of role reports', 'Updating'],
    ],
  ])('that %s', (_, spec, observed, expected) =>
    expect(words(planUser({ resource: user(spec), target, observed }))).toEqual(expected),
  );

  const held = {
    database: 'shop',
    exists: true,
    isOwner: false,
    owner: 'app',
    usable: true,
    ownerPower: undefined,
    allowsConnections: true,
    privileges: ['CONNECT', 'CREATE'],
    schemas: [],
    defaults: [],
  };
  it.each<[string, object, readonly string[]]>([
    [
      'takes away what is not in grants',
      { grants: [{ database: 'shop' }] },
      ['revoke CREATE on database shop from reports', 'Updating'],
    ],
    [
      'takes away everything where there are none',
      { grants: [] },
      ['revoke CONNECT, CREATE on database shop from reports', 'Updating'],
    ],
    ['touches nothing without grants', {}, ['settled']],
    [
      'waits for a database',
      { grants: [{ database: 'shop', privileges: ['CONNECT', 'CREATE'] }, { database: 'later' }] },
      ['ObjectMissing'],
    ],
  ])('that %s', (_, spec, expected) =>
    expect(words(planUser({ resource: user(spec), target, observed: known({}, { databases: [held] }) }))).toEqual(
      expected,
    ),
  );

  it('says which role is refused, and why', () => {
    const of = (memberships: UserSeen['memberships'], databases: UserSeen['databases'] = []) => {
      const spec = {
        memberOf: memberships.map((each) => each.role),
        ...(databases.length === 0 ? {} : { grants: [] }),
      };
      const { outcome } = planUser({ resource: user(spec), target, observed: known({}, { memberships, databases }) });
      return outcome.state === 'blocked' ? outcome.message : outcome.state;
    };
    const attributes = 'is a superuser, or has CREATEROLE, REPLICATION or BYPASSRLS';
    const end = 'the operator makes nobody a member of it; a superuser can';
    expect(of([membership('files', 'pg_read_server_files')])).toBe(
      `role files is a member of role pg_read_server_files: ${end}`,
    );
    expect(of([membership('dba', 'dba')])).toBe(`role dba ${attributes}: ${end}`);
    expect(of([membership('dba', 'boss')])).toBe(`role dba is a member of role boss, which ${attributes}: ${end}`);
    const foreign = { ...held, owner: 'boss', usable: false, ownerPower: 'boss' };
    expect(of([], [foreign])).toBe(
      `role boss ${attributes}: it owns database shop, and the operator does not make itself a member of it to grant or revoke there`,
    );
  });

  it.each<[string, object, UserSeen, readonly string[]]>([
    [
      'was created for it',
      { grants: [] },
      known({}, { databases: [held] }),
      ['revoke CONNECT, CREATE on database shop from reports', 'drop role reports', 'Dropping'],
    ],
    ['has adopted it', { adopt: true }, known(), ['settled']],
    ['finds another one of the name', {}, known({ madeFor: undefined }), ['settled']],
    ['finds nothing', {}, nobody, ['settled']],
  ])('that goes under Delete, where it %s', (_, spec, observed, expected) =>
    expect(words(planUserRemoval({ resource: user(spec), target, observed }))).toEqual(expected),
  );
});

describe('a PostgresUser whose Secret would be that of a cluster', () => {
  const of = (name: string, spec: object = {}) =>
    contentResource('PostgresUser', name, { name: 'app2', ...spec }) as Cluster<UserSpec>;
  const plan = (resource: Cluster<UserSpec>) => words(planUser({ resource, target, observed: noUser })).at(-1);
  it.each(['db-pooler', 'other-exporter'])('%s is refused, and its Secret is never taken for its own', (name) => {
    expect(plan(of(name))).toBe('NameReserved');
    expect(postgresUser.resources(of(name), target)).toEqual([]);
    expect(plan(of(name, { passwordSecret: { name: 'given' } }))).toBe('SecretMissing');
  });
  it('has another name otherwise', () => expect(plan(of('pooler'))).toBe('Updating'));
});

/** The API server refuses these by the CRD: here somebody has edited it. */
describe('a name of PostgreSQL or of the operator is refused, whatever the CRD lets through', () => {
  const outcome = ({ steps, outcome: it }: Plan) => [steps.length, it.state === 'settled' ? '' : it.reason];
  const reserved = [
    'clusterwright',
    'clusterwright_monitor',
    'Clusterwright_Pooler',
    'REPLICATOR',
    'Pg_monitor',
    'Postgres',
  ];
  it.each(reserved)('%s', (name) => {
    const asUser = (spec: object) => ({
      resource: { ...contentResource('PostgresUser', 'reports', { name: 'reports' }), spec: { ...user, ...spec } },
      target,
      observed: { ...noUser, role: { ...(noUser as UserSeen).role, exists: true, madeFor: 'reports' } } as UserSeen,
    });
    const { spec: user } = contentResource('PostgresUser', 'reports', { name: 'reports' }) as Cluster<UserSpec>;
    const schemas = [{ name: 'public', privileges: [], tables: [], sequences: [], createdBy: [name] }];
    const grants = [{ database: 'shop', privileges: [], schemas }];
    for (const spec of [{ name }, { name, adopt: true }, { memberOf: [name] }, { grants }]) {
      expect(outcome(planUser(asUser(spec)))).toEqual([0, 'NameReserved']);
      expect(outcome(planUserRemoval(asUser(spec)))).toEqual([0, '']);
    }
    const asDatabase = (spec: object) => ({
      resource: { ...database(), spec: { ...database().spec, ...spec } },
      target,
      observed: seen(),
    });
    for (const spec of [{ owner: name }, { schemas: [{ name: 'a', owner: name }] }]) {
      expect(outcome(planDatabase(asDatabase(spec)))).toEqual([0, 'NameReserved']);
      expect(outcome(planDatabaseRemoval(asDatabase(spec)))).toEqual([0, '']);
    }
  });
  it.each(['postgres', 'Template1', 'clusterwright-0000-shop'])('database %s', (name) => {
    const resource = { ...database(), spec: { ...database().spec, name } };
    expect(outcome(planDatabase({ resource, target, observed: seen() }))).toEqual([0, 'NameReserved']);
    expect(outcome(planDatabaseRemoval({ resource, target, observed: seen() }))).toEqual([0, '']);
  });
});

describe('a resource about a cluster', () => {
  const [databases, users] = [contentHandler(postgresDatabase), contentHandler(postgresUser)].map(truthful) as [
    KindHandler,
    KindHandler,
  ];
  const io = {} as never;

  it('waits for the cluster, and while that is paused', async () => {
    const missing = await databases.assess(database(), noChildren, io);
    expect([...words(missing.plan), missing.status.phase]).toEqual(['ClusterMissing', 'Creating']);
    expect(words((await databases.assess(database(), noChildren, io, targetOf({ paused: true }))).plan)).toEqual([
      'Paused',
    ]);
    expect(await databases.removal?.(database(), io)).toBeUndefined();
    for (const [content, resource] of [
      [databases, database()],
      [users, contentResource('PostgresUser', 'a', { name: 'a' })],
    ] as const)
      expect((await content.removal?.(resource, io, targetOf({ paused: true })))?.plan).toMatchObject({
        steps: [],
        outcome: { state: 'wait', reason: 'Paused' },
      });
  });

  it.each<[string, object, string]>([
    ['is older', { creationTimestamp: '2025-01-01T00:00:00Z' }, 'NameTaken'],
    ['is of the same second, with a name that comes first', {}, 'NameTaken'],
  ])('is refused where one of the same content %s', async (_, metadata, reason) => {
    const peer = contentResource('PostgresDatabase', 'earlier', { name: 'shop', owner: 'app' }, metadata);
    const { plan, status } = await databases.assess(database(), noChildren, io, target, [peer]);
    expect([...words(plan), status.phase]).toEqual([reason, 'Blocked']);
  });

  const user = contentResource('PostgresUser', 'a', { name: 'a' });
  const [generated] = userSecrets(user as Cluster<UserSpec>, target);
  const values = generated === undefined ? {} : filledSecret(generated.object, { password: 'pw' });
  const { type: _, ...older } = values;
  it.each<[string, Readonly<Record<string, string>> | undefined, object | undefined]>([
    ['if it has what a workload is bound with', values, { name: 'a-login' }],
    ['not if it is older and has no type', older, undefined],
    ['not if it is not there', undefined, undefined],
  ])('names the Secret for bindings: %s', async (_, secret, binding) => {
    const read = async (name: string) => (name === 'a-login' ? secret : undefined);
    const reading = { secret: read, signal: new AbortController().signal } as never;
    const { status } = await users.assess(user, noChildren, reading, target);
    expect(status).toMatchObject({ secretName: 'a-login' });
    expect((status as { readonly binding?: object }).binding).toEqual(binding);
  });

  it('is planned offline as if nothing were there', () => {
    expect(words(databases.planOffline(database(), target))[0]).toContain('create database shop');
    expect(
      words(users.planOffline(contentResource('PostgresUser', 'a', { name: 'a', memberOf: ['b'] }), target)),
    ).toEqual([
      'create Secret',
      'create role a, with the password of Secret a-login',
      'make a a member of role b',
      'Updating',
    ]);
  });
});
