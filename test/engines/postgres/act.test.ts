import { describe, expect, it } from 'vitest';
import type { EngineContext } from '../../../src/engine/engine-context.ts';
import { actPostgres } from '../../../src/engines/postgres/act/act.ts';
import type { PostgresAction } from '../../../src/engines/postgres/action.ts';
import { observeApplication } from '../../../src/engines/postgres/observe/application.ts';
import { observePostgres } from '../../../src/engines/postgres/observe/observe.ts';
import { applicationSecret } from '../../../src/engines/postgres/resources/resources.ts';
import { filledSecret } from '../../../src/resources/secret.ts';
import { sleep, systemClock } from '../../../src/system/clock.ts';
import { authentication, refusal, table } from '../../support/postgres-messages.ts';
import { postgresWorld, type Story } from '../../support/postgres-situation.ts';
import { postgresSecrets, type Script, scriptedPatroni } from '../../support/scripted-patroni.ts';
import { settle } from '../../support/scripted-redis.ts';
import { tlsPostgres } from '../../support/tls-postgres.ts';

const via = { pod: 'db-0-0', address: '10.0.0.0' };
const world = postgresWorld();
const secrets = postgresSecrets(world.cluster, Date.now());

async function act(action: PostgresAction, script?: Script, known = secrets) {
  const network = scriptedPatroni(world.observed, known, script);
  const result = await settle(network.clock, actPostgres(action, world.cluster, network.io));
  return { result, asked: network.asked };
}

const requests: readonly (readonly [PostgresAction, string])[] = [
  [{ type: 'postgres.configure', via, patch: { ttl: 40, x: null } }, 'PATCH 10.0.0.0:8008 /config {"ttl":40,"x":null}'],
  [
    { type: 'postgres.switchover', via, from: 'db-0-0', to: 'db-1-0' },
    'POST 10.0.0.0:8008 /switchover {"leader":"db-0-0","candidate":"db-1-0"}',
  ],
  [{ type: 'postgres.restart', member: via }, 'POST 10.0.0.0:8008 /restart {"restart_pending":true}'],
  [{ type: 'postgres.reload', member: via }, 'POST 10.0.0.0:8008 /reload {}'],
  [{ type: 'postgres.reinitialize', member: via }, 'POST 10.0.0.0:8008 /reinitialize {}'],
  [{ type: 'postgres.failover', member: via }, 'POST 10.0.0.0:8008 /failover {"candidate":"db-0-0"}'],
];

describe('an action', () => {
  it.each(requests)('%o is one request', async (action, line) => {
    const { result, asked } = await act(action);
    expect([result.status, asked]).toEqual(['fulfilled', [line]]);
  });

  it.each(requests)('%o fails where nobody answers, and is not repeated', async (action) => {
    const { io, clock, asked } = scriptedPatroni(world.observed, secrets, () => 'hang');
    const failed = expect(actPostgres(action, world.cluster, io)).rejects.toThrow('did not answer');
    // A switchover waits for a checkpoint.
    await clock.advance(60_000);
    await failed;
    expect(asked).toHaveLength(1);
  });

  it.each(requests)('%o fails where Patroni refuses, in its words', async (action) => {
    const { result, asked } = await act(action, () => ({ status: 412, body: 'candidate does not exist\n' }));
    expect(result).toMatchObject({ status: 'rejected', reason: { name: 'PatroniRefusal', status: 412 } });
    expect(result.status === 'rejected' && String(result.reason)).toContain('candidate does not exist');
    expect(asked).toHaveLength(1);
  });

  it.each(requests)('%o asks nobody without the certificate of the operator', async (action) => {
    const { 'db-patroni-operator-tls': _, ...others } = secrets;
    const { result, asked } = await act(action, undefined, others);
    expect(result).toMatchObject({ status: 'rejected', reason: { name: 'SecretUnusable' } });
    expect(asked).toEqual([]);
  });
});

interface Talk {
  /** Who logged in, and every statement. */
  readonly said: string[];
  readonly io: EngineContext;
}

/** A PostgreSQL with the cluster's certificate. It answers each statement with `answer`, or as if it was carried out. */
function postgres(...how: Parameters<typeof tlsPostgres> extends [unknown, ...infer Rest] ? Rest : never): Talk {
  const { said, connect } = tlsPostgres(secrets, ...how);
  const { io } = scriptedPatroni(world.observed, secrets, undefined, () => connect());
  return { said, io: { ...io, sleep: (ms, signal) => sleep(systemClock, ms, signal) } };
}

const make = (hasOwner: boolean, hasDatabase: boolean): PostgresAction => ({
  type: 'postgres.makeApplication',
  via,
  hasOwner,
  hasDatabase,
});
const withoutVerifier = (said: readonly string[]): string[] =>
  said.map((line) => line.replace(/'SCRAM-SHA-256\$4096:[A-Za-z0-9+/=$:]+'/, 'VERIFIER'));

describe('the first database', () => {
  it.each<[string, PostgresAction, readonly string[]]>([
    [
      'is made with its owner',
      make(false, false),
      ['CREATE ROLE "app" LOGIN PASSWORD VERIFIER', 'GRANT "app" TO CURRENT_USER', 'CREATE DATABASE "app" OWNER "app"'],
    ],
    [
      'is made for an owner that is there',
      make(true, false),
      ['ALTER ROLE "app" PASSWORD VERIFIER', 'GRANT "app" TO CURRENT_USER', 'CREATE DATABASE "app" OWNER "app"'],
    ],
    ['stays while its owner gets a password', make(true, true), ['ALTER ROLE "app" PASSWORD VERIFIER']],
    ['stays while its owner is made', make(false, true), ['CREATE ROLE "app" LOGIN PASSWORD VERIFIER']],
  ])('%s', async (_, action, statements) => {
    const { said, io } = postgres(() => undefined);
    await actPostgres(action, world.cluster, io);
    expect(withoutVerifier(said)).toEqual(['login clusterwright clusterwright', ...statements]);
    expect(said.join()).not.toContain('correct-horse');
  });

  it('is not gone on with after a statement that was refused', async () => {
    const { said, io } = postgres((statement) =>
      statement.startsWith('CREATE ROLE') ? refusal('42501', 'permission denied') : undefined,
    );
    await expect(actPostgres(make(false, false), world.cluster, io)).rejects.toThrow('permission denied');
    expect(said).toHaveLength(2);
  });

  it('is not made without the password of its owner', async () => {
    const { said, io } = postgres(() => undefined);
    const without: EngineContext = { ...io, secret: async (name) => (name === 'db-app' ? {} : secrets[name]) };
    await expect(actPostgres(make(false, false), world.cluster, without)).rejects.toThrow('no key password');
    expect(said).toEqual([]);
  });
});

describe('a Secret whose password somebody has changed', () => {
  const changed = postgresWorld({
    metadata: { annotations: { 'clusterwright.dev/password-changed': 'today' } },
  }).cluster;
  it.each<[string, (io: EngineContext) => Promise<unknown>]>([
    ['to see whether PostgreSQL knows it', (io) => observeApplication(changed, '10.0.0.0', io)],
    ['to set it', (io) => actPostgres(make(true, true), changed, io)],
  ])('is read anew %s, as soon as the cluster says so', async (_, look) => {
    const { io } = postgres((statement) =>
      statement.startsWith('SELECT') ? table([{ hasOwner: 't', owner: 'app' }]) : undefined,
    );
    const read: unknown[] = [];
    await look({
      ...io,
      secret: async (...asked) => {
        read.push(asked);
        return await io.secret(...asked);
      },
    });
    expect(read).toContainEqual(['db-app', undefined, 'today']);
  });
});

describe('what is seen of the first database', () => {
  const facts = (hasOwner: string, owner: string | null) => () => table([{ hasOwner, owner }]);
  it.each<[string, (statement: string) => Buffer | undefined, object]>([
    ['nothing is there', facts('f', null), { facts: { hasOwner: false }, isPasswordWrong: false }],
    ['the owner is there', facts('t', null), { facts: { hasOwner: true }, isPasswordWrong: false }],
    [
      'the server refuses to tell',
      () => refusal('42501', 'permission denied'),
      { state: 'unknown', why: expect.stringContaining('permission denied') },
    ],
  ])('%s', async (_, answer, seen) => {
    const { io } = postgres(answer);
    expect(await observeApplication(world.cluster, '10.0.0.0', io)).toMatchObject(seen);
  });

  it.each<[string, Readonly<Record<string, string>>, true | undefined]>([
    ['as it is made', filledSecret(applicationSecret(world.cluster).object, { password: 'pw' }), true],
    ['as an earlier operator has made it', { username: 'app', password: 'pw' }, undefined],
  ])('whether workloads can be bound by its Secret, %s', async (_, values, isBindable) => {
    const { io } = postgres(facts('t', 'app'));
    const about: EngineContext = { ...io, secret: async (name) => (name === 'db-app' ? values : secrets[name]) };
    const seen = await observeApplication(world.cluster, '10.0.0.0', about);
    expect((seen as { readonly isBindable?: true }).isBindable).toBe(isBindable);
  });

  it.each<[string, string, boolean]>([
    ['another password', '28P01', true],
    ['no such login, which is the user’s to decide', '28000', false],
    ['too many connections', '53300', false],
  ])('the server refuses the owner: %s', async (_, code, isPasswordWrong) => {
    const refuse = (user: string | undefined) => (user === 'app' ? refusal(code, 'no', 'FATAL') : authentication(0));
    const { io } = postgres(facts('t', 'app'), refuse);
    expect(await observeApplication(world.cluster, '10.0.0.0', io)).toMatchObject({ state: 'seen', isPasswordWrong });
  });

  it.each<[string, Readonly<Record<string, string>> | undefined, string]>([
    ['is gone', undefined, 'secret'],
    ['has no password', { username: 'app' }, 'key'],
  ])('the Secret of the application %s, and nobody tries to log in', async (_, values, lacks) => {
    const { said, io } = postgres(facts('t', 'app'));
    const without: EngineContext = { ...io, secret: async (name) => (name === 'db-app' ? values : secrets[name]) };
    expect(await observeApplication(world.cluster, '10.0.0.0', without)).toMatchObject({
      state: 'seen',
      isPasswordWrong: false,
      lacks,
    });
    expect(said.filter((line) => line.startsWith('login app'))).toEqual([]);
  });

  it('a server that lets the owner in without a question says nothing about the password', async () => {
    const { said, io } = postgres(facts('t', 'app'));
    expect(await observeApplication(world.cluster, '10.0.0.0', io)).toMatchObject({ isPasswordWrong: false });
    expect(said).toContain('login app without a certificate');
  });
});

it('a restart where nothing is pending any more is done already', async () => {
  const words = 'restart conditions are not satisfied';
  const { result } = await act({ type: 'postgres.restart', member: via }, () => ({ status: 503, body: words }));
  expect(result.status).toBe('fulfilled');
});

async function outcome<T>(clock: Parameters<typeof settle>[0], work: Promise<T>): Promise<T> {
  const result = await settle(clock, work);
  if (result.status === 'rejected') throw result.reason;
  return result.value as T;
}

describe('what is observed', () => {
  const observe = async (story: Story, script?: Script, known = secrets) => {
    const { cluster, children, observed } = postgresWorld(story);
    const { io, clock } = scriptedPatroni(observed, known, script);
    return await outcome(clock, observePostgres(cluster, children, io));
  };
  const states = ({ members }: Awaited<ReturnType<typeof observe>>) =>
    members.map((member) => `${member.pod} ${member.state === 'silent' ? member.why : member.postgres}`);

  it('is what every member tells', async () => {
    const { observed } = postgresWorld();
    const { members, config } = await observe({});
    expect({ members, config }).toEqual({ members: observed.members, config: observed.config });
  });

  it.each<[string, Script, string]>([
    ['hangs', ({ host }) => (host === '10.0.0.1' ? 'hang' : undefined), '(GET /patroni) did not answer within 1000 ms'],
    [
      'refuses',
      ({ host }) => (host === '10.0.0.1' ? new Error('connect ECONNREFUSED') : undefined),
      'connect ECONNREFUSED',
    ],
  ])('is silence of one member that %s, and no empty answer', async (_, script, why) => {
    const [first, second, third] = states(await observe({}, script));
    expect([first, third]).toEqual(['db-0-0 running', 'db-2-0 running']);
    expect(second).toContain(why);
  });

  it('is a second answer of a standby that looks lost, and then one of the primary', async () => {
    const apart = { isStreaming: false, isSynchronous: false, lsn: 4000 } as const;
    const { cluster, children, observed } = postgresWorld({ members: { 0: { lsn: 3000 }, 2: apart } });
    let calls = 0;
    // The primary has written on, and the standby has had it from there.
    const script: Script = ({ host, path }) => {
      if (host !== '10.0.0.0' || path !== '/patroni' || ++calls === 1) return undefined;
      return { status: 200, body: '{"state":"running","role":"primary","timeline":1,"xlog":{"location":5000}}' };
    };
    const { io, clock, asked } = scriptedPatroni(observed, secrets, script);
    const { members } = await outcome(clock, observePostgres(cluster, children, io));
    expect(members.map((member) => (member.state === 'silent' ? member.why : member.later?.lsn))).toEqual([
      5000,
      undefined,
      4000,
    ]);
    const questions = asked.filter((line) => line.includes('/patroni'));
    expect(questions.slice(3)).toEqual(['GET 10.0.0.2:8008 /patroni', 'GET 10.0.0.0:8008 /patroni']);
  });

  it('is one answer of each where nobody looks lost', async () => {
    for (const story of [{}, { members: { 2: { isStreaming: false, isSynchronous: false, lsn: 900 } } }]) {
      const { cluster, children, observed } = postgresWorld(story);
      const { io, clock, asked } = scriptedPatroni(observed, secrets);
      await outcome(clock, observePostgres(cluster, children, io));
      expect(asked.filter((line) => line.includes('/patroni'))).toHaveLength(3);
    }
  });

  it.each<[string, number, readonly string[]]>([
    [
      'is read again where a pod waits for its volumes',
      10,
      ['db-ca', 'db-server-tls', 'db-shown-tls', 'db-patroni-tls'],
    ],
    ['is not read again where a pod has just come to its node', 2, []],
  ])('of Secrets %s: one that is gone is made again', async (_, seconds, expected) => {
    const { cluster, children, observed } = postgresWorld();
    const startTime = new Date(observed.at - seconds * 1000).toISOString();
    const waiting = { name: 'postgres', state: { waiting: { reason: 'ContainerCreating' } } };
    const pods = children.pods.map((pod) =>
      pod.metadata.name === 'db-1-0'
        ? { ...pod, status: { phase: 'Pending', startTime, containerStatuses: [waiting] } }
        : pod,
    );
    const { io, clock } = scriptedPatroni(observed, secrets);
    const refused: string[] = [];
    const told = { ...io, secretRefused: (name: string) => void refused.push(name) };
    await outcome(clock, observePostgres(cluster, { ...children, pods }, told));
    expect(refused).toEqual(expected.length === 0 ? [] : expect.arrayContaining([...expected]));
  });

  it('is an answer with another status', async () => {
    expect(states(await observe({ members: { 1: { postgres: 'starting' } } }))[1]).toBe('db-1-0 starting');
  });

  it('takes the configuration from the next member where the first has none', async () => {
    const { observed } = postgresWorld();
    const refusing: Script = ({ host, path }) =>
      path === '/config' && host === '10.0.0.0' ? { status: 502, body: '' } : undefined;
    expect((await observe({}, refusing)).config).toEqual(observed.config);
    const nobody: Script = ({ path }) => (path === '/config' ? { status: 502, body: '' } : undefined);
    expect((await observe({}, nobody)).config).toBeUndefined();
  });

  it('is nobody’s answer without the certificate of the operator', async () => {
    const { 'db-patroni-operator-tls': _, ...others } = secrets;
    const seen = await observe({}, undefined, others);
    expect(seen.members.every(({ state }) => state === 'silent')).toBe(true);
    expect(seen.credentialsProblem).toContain('db-patroni-operator-tls');
  });
});
