import { describe, expect, it } from 'vitest';
import type { HttpResponse } from '../../../src/engine/engine-context.ts';
import { alarmsOf, listOf, liveMember, observeEtcd } from '../../../src/engines/etcd/observe/observe.ts';
import { etcdWorld, memberAddress, now, type Story } from '../../support/etcd-situation.ts';
import { type Script, scriptedEtcd } from '../../support/scripted-etcd.ts';
import { settle } from '../../support/scripted-redis.ts';

const look = async (story: Story, script?: Script) => {
  const { cluster, children, observed } = etcdWorld(story);
  const network = scriptedEtcd(observed, script);
  const result = await settle(network.clock, observeEtcd(cluster, children, network.io));
  if (result.status === 'rejected') throw result.reason;
  return { found: result.value, observed, asked: network.asked };
};

const answer = (status: number, body: unknown): HttpResponse => ({ status, body: JSON.stringify(body) });

describe('a look at the members', () => {
  it('finds what they say and what they agree on, and asks for nothing more', async () => {
    const { found, observed, asked } = await look({});
    expect(found).toEqual(observed);
    expect(asked).toEqual([
      ...[0, 1, 2].map((i) => `${memberAddress(i)} maintenance/status {}`),
      '10.0.0.0 cluster/member/list {"linearizable":true}',
      '10.0.0.0 maintenance/alarm {"action":"GET"}',
      '10.0.0.0 auth/status {}',
    ]);
  });

  it('asks the leader for the list first', async () => {
    const { asked } = await look({ leader: 2 });
    expect(asked[3]).toBe('10.0.0.2 cluster/member/list {"linearizable":true}');
  });

  it('finds silence where nobody answers within a second, and the rest all the same', async () => {
    const { found } = await look({}, ({ host }) => (host === memberAddress(1) ? 'hang' : undefined));
    expect(found.members[1]).toEqual({
      state: 'silent',
      pod: 'db-1-0',
      why: '10.0.0.1 (maintenance/status) did not answer within 1000 ms',
    });
    expect(found.agreed?.members.length).toBe(3);
    expect(found.at).toBe(now);
  });

  it('asks by name who has come in the place of a pod that is going, as far as its watch tells', async () => {
    const story: Story = { pods: { 1: { terminatingForMs: 90_000 } } };
    const status = { header: { member_id: '2', cluster_id: '7' }, leader: '1', version: '3.6.16' };
    const { found, asked } = await look(story, ({ host }) => {
      if (host === 'db-1-0.db.apps.svc') return answer(200, status);
      return host === memberAddress(1) ? new Error('connect EHOSTUNREACH') : undefined;
    });
    expect(found.members[1]).toMatchObject({ state: 'answering', pod: 'db-1-0', address: 'db-1-0.db.apps.svc' });
    expect(asked).toContain('db-1-0.db.apps.svc maintenance/status {}');
  });

  it('says why the pod itself does not answer where its name leads to nobody', async () => {
    const { found } = await look({ pods: { 1: { terminatingForMs: 90_000 } } }, ({ host }) =>
      host.includes('db-1-0') || host === memberAddress(1) ? new Error(`connect EHOSTUNREACH ${host}`) : undefined,
    );
    expect(found.members[1]).toMatchObject({ state: 'silent', why: `connect EHOSTUNREACH ${memberAddress(1)}` });
  });

  it('asks nobody whose pod does not run', async () => {
    const { found, asked } = await look({ pods: { 1: { unschedulableForMs: 1 } }, members: { 1: 'silent' } });
    expect(found.members[1]).toMatchObject({ state: 'silent', why: 'the pod is Pending' });
    expect(asked.some((line) => line.startsWith(memberAddress(1)))).toBe(false);
  });

  it.each<[string, HttpResponse | Error | 'hang']>([
    ['refuses', answer(503, { code: 14, message: 'etcdserver: no leader' })],
    ['does not answer', 'hang'],
    ['hangs up', new Error('socket hang up')],
    ['answers no JSON', { status: 502, body: '<html>' }],
    ['answers no object', { status: 200, body: '[]x' }],
  ])('asks the next one for the list where one %s', async (_, bad) => {
    const { found } = await look({}, ({ host, path }) =>
      host === memberAddress(0) && path.endsWith('/list') ? bad : undefined,
    );
    expect(found.agreed?.members.length).toBe(3);
  });

  it('takes the word of nobody about a leader who has lost the majority since', async () => {
    const { found } = await look({}, ({ host, path }) =>
      host === memberAddress(0) && path.endsWith('/list') ? 'hang' : undefined,
    );
    expect(found.members.map((member) => 'leaderId' in member)).toEqual([false, true, true]);
  });

  it('takes a member that follows another leader than the majority for one that knows none', async () => {
    const status = { header: { member_id: '3', cluster_id: '7' }, leader: '3', version: '3.6.16' };
    const { found } = await look({ leader: 0 }, ({ host, path }) =>
      host === memberAddress(2) && path.endsWith('/status') ? answer(200, status) : undefined,
    );
    expect(found.members.map((member) => 'leaderId' in member)).toEqual([true, true, false]);
  });

  it('finds no list where no majority confirms one, which is not an empty list', async () => {
    const { found } = await look({}, ({ path }) => (path.endsWith('/list') ? 'hang' : undefined));
    expect(found.agreed).toBeUndefined();
    expect(found.members.some((member) => 'leaderId' in member)).toBe(false);
    expect((await look({ leader: 'nobody' })).found.agreed).toBeUndefined();
  });

  describe('whether history is left to drop', () => {
    const full: Story = { alarms: [{ memberId: '1', type: 'NOSPACE' }] };
    const dropped = answer(400, { code: 11, message: 'etcdserver: mvcc: required revision has been compacted' });
    const range = ({ path }: { readonly path: string }): boolean => path.endsWith('/kv/range');

    it('is asked for by one key at the revision before the last, and only where there is no space', async () => {
      const { found, asked } = await look(full, (request) => (range(request) ? answer(200, {}) : undefined));
      expect(found.agreed?.compacted).toBe('0');
      expect(asked.at(-1)).toBe('10.0.0.0 kv/range {"key":"AA==","count_only":true,"revision":"99"}');
      expect((await look({})).asked.filter((line) => line.includes('range'))).toEqual([]);
    });

    it('is told by a refusal: then there is none', async () => {
      const { found } = await look(full, (request) => (range(request) ? dropped : undefined));
      expect(found.agreed?.compacted).toBe('100');
    });

    it('costs nobody a look at the whole database, which takes longer than an answer may', async () => {
      const { found, asked } = await look(full, (request) => {
        if (request.path.endsWith('/hashkv')) return 'hang';
        return range(request) ? answer(200, {}) : undefined;
      });
      expect(found.agreed?.alarms).toEqual(full.alarms);
      expect(asked.filter((line) => line.includes('hashkv'))).toEqual([]);
    });
  });

  it('tells where root has the password before the present one', async () => {
    const { cluster, children, observed } = etcdWorld({ spec: { auth: { enabled: true } } });
    const refusal = (message: string): HttpResponse => answer(400, { code: 3, message });
    const script: Script = ({ path, headers = {}, body = '' }) => {
      if (path.endsWith('/authenticate')) {
        return body.includes('old') ? answer(200, { token: 't' }) : refusal('invalid user ID or password');
      }
      return headers.authorization === 't' ? undefined : refusal('user name is empty');
    };
    const network = scriptedEtcd(observed, script, { 'db-root': { password: 'new', 'password-previous': 'old' } });
    const result = await settle(network.clock, observeEtcd(cluster, children, network.io));
    expect(result).toMatchObject({ value: { agreed: { hasPreviousPassword: true } } });
  });

  it.each<[string, readonly number[], readonly number[], boolean, boolean]>([
    ['goes on where one member refuses the password and a majority takes it', [1], [], true, false],
    ['says that nobody can be asked where a majority refuses it', [0, 1], [], true, true],
    ['takes one refusal among members that are silent for no more than that', [1], [0, 2], false, false],
  ])('%s', async (_, refusing, away, isAgreed, isUnaskable) => {
    const { cluster, children, observed } = etcdWorld({ spec: { auth: { enabled: true } } });
    const refusal = (message: string): HttpResponse => answer(400, { code: 3, message });
    const script: Script = ({ host, path, headers = {} }) => {
      if (away.some((number) => host === memberAddress(number))) return new Error('connect ECONNREFUSED');
      if (refusing.every((number) => host !== memberAddress(number))) {
        if (path.endsWith('/authenticate')) return answer(200, { token: 't' });
        return headers.authorization === 't' ? undefined : refusal('user name is empty');
      }
      return refusal(path.endsWith('/authenticate') ? 'invalid user ID or password' : 'user name is empty');
    };
    const network = scriptedEtcd(observed, script);
    const result = await settle(network.clock, observeEtcd(cluster, children, network.io));
    if (result.status === 'rejected') throw result.reason;
    expect([result.value.agreed !== undefined, result.value.credentialsProblem !== undefined]).toEqual([
      isAgreed,
      isUnaskable,
    ]);
    expect(result.value.members[1]).toMatchObject({
      state: 'silent',
      why: expect.stringContaining('refuses the password'),
    });
  });

  it('says so, too, where members tell everybody their status, and their list to root alone', async () => {
    const { cluster, children, observed } = etcdWorld({ spec: { auth: { enabled: true } } });
    const refusal = (message: string): HttpResponse => answer(400, { code: 3, message });
    const network = scriptedEtcd(observed, ({ path }) => {
      if (path.endsWith('/maintenance/status')) return undefined;
      return refusal(path.endsWith('/authenticate') ? 'invalid user ID or password' : 'user name is empty');
    });
    const result = await settle(network.clock, observeEtcd(cluster, children, network.io));
    expect(result).toMatchObject({ value: { credentialsProblem: expect.stringContaining('refuses the password') } });
  });

  it.each<[string, Readonly<Record<string, Readonly<Record<string, string>>>>, boolean]>([
    ['finds which authorities are trusted', { a: { 'ca.crt': '1' }, b: { 'ca.crt': '2' } }, true],
    ['does not guess them where a Secret is away', { a: { 'ca.crt': '1' } }, false],
    ['nor where it has none', { a: { 'ca.crt': '1' }, b: {} }, false],
  ])('%s', async (_, secrets, isKnown) => {
    const tls = { client: { secretRef: { name: 'a' } }, peer: { secretRef: { name: 'b' } } };
    const { cluster, children, observed } = etcdWorld({ spec: { tls } });
    const network = scriptedEtcd(observed, undefined, secrets);
    const result = await settle(network.clock, observeEtcd(cluster, children, network.io));
    const { authorities } = result.status === 'fulfilled' ? result.value : {};
    expect(authorities !== undefined).toBe(isKnown);
    // Never the certificates themselves.
    expect(authorities ?? '0').toMatch(/^[0-9a-f]+$/);
  });

  it('is over when the process stops', async () => {
    const { cluster, children, observed } = etcdWorld({});
    const network = scriptedEtcd(observed, () => 'hang');
    const looking = observeEtcd(cluster, children, network.io);
    network.abort();
    await expect(looking).rejects.toThrow('stopping');
  });
});

describe('an answer', () => {
  it.each<readonly [story: string, status: Readonly<Record<string, unknown>>, refusal: string]>([
    ['a version of thousands of characters', { version: 'x'.repeat(9000) }, 'a version reads "xxx'],
    ['a version that is no label', { version: '3.6.16 beta' }, 'a version reads "3.6.16 beta"'],
    ['a version of several lines', { version: '3.6.16\n' }, 'a version reads'],
    ['a number that is none', { header: { member_id: 'x'.repeat(9000) } }, 'a number reads "xxx'],
    ['a leader that is an object', { leader: {} }, 'a number reads "[object Object]"'],
    ['a number beyond 64 bits', { header: { revision: '1'.repeat(21) } }, 'a number reads'],
  ])('that holds %s is no answer of etcd', (_, status, refusal) => {
    expect(() => liveMember('p', 'a', status)).toThrow(refusal);
    expect(() => liveMember('p', 'a', status)).toThrow(/^.{1,80}$/);
  });

  it.each(['3.5.35', '3.6.0-rc.1', '3.7.0+git.abc', ''])('with version %j is one', (version) => {
    expect(liveMember('p', 'a', { version }).version).toBe(version);
  });

  it('without what is zero reads as zero', () => {
    expect(liveMember('p', 'a', { header: { cluster_id: '7', member_id: '8' }, version: '3.6.16' })).toEqual({
      state: 'answering',
      pod: 'p',
      address: 'a',
      memberId: '8',
      clusterId: '7',
      isLearner: false,
      version: '3.6.16',
      applied: 0,
      dbSize: 0,
      dbInUse: 0,
      revision: '0',
    });
    expect(alarmsOf({})).toEqual([]);
    expect(listOf({}).members).toEqual([]);
  });

  it('keeps numbers that fit no double', () => {
    const id = '18446744073709551615';
    expect(listOf({ header: { cluster_id: id }, members: [{ ID: id, peerURLs: ['u'] }] })).toEqual({
      clusterId: id,
      members: [{ id, name: '', hasStarted: false, peerUrls: ['u'], isLearner: false }],
    });
  });

  it('tells who has started: who has a name may not have', () => {
    const [expected, started] = listOf({
      members: [
        { ID: '1', name: 'db-0' },
        { ID: '2', name: 'db-1', clientURLs: ['u'] },
      ],
    }).members;
    expect([expected?.hasStarted, started?.hasStarted]).toEqual([false, true]);
  });
});
