import { describe, expect, it } from 'vitest';
import { hashOf } from '../../../src/engines/redis/client/identity.ts';
import { infoFields } from '../../../src/engines/redis/client/reply-fields.ts';
import { RedisError } from '../../../src/engines/redis/client/resp.ts';
import { dataNode, observeRedis, viewOf } from '../../../src/engines/redis/observe/observe.ts';
import type { DataNode, RedisObserved, SentinelView } from '../../../src/engines/redis/observe/observed.ts';
import { redisResources } from '../../../src/engines/redis/resources/resources.ts';
import { settingsToHold } from '../../../src/engines/redis/resources/settings.ts';
import { filledSecret } from '../../../src/resources/secret.ts';
import { redisWorld, type Story } from '../../support/redis-situation.ts';
import { flat, hang, info, type Process, scriptedNetwork, settle } from '../../support/scripted-redis.ts';

const at = { pod: 'db-1', address: '10.0.0.1' };

describe('a data node', () => {
  it.each<readonly [story: string, info: Record<string, string>, expected: Partial<DataNode>]>([
    [
      'is primary, with the replicas that are online',
      {
        role: 'master',
        master_repl_offset: '70',
        slave0: 'ip=10.0.0.2,port=6379,state=online,offset=70,lag=0',
        slave1: 'ip=10.0.0.3,port=6379,state=wait_bgsave,offset=0,lag=0',
        slave10: 'ip=fd00::2,port=6379,state=online,offset=70,lag=1',
      },
      { role: 'primary', linkUp: true, offset: 70, replicas: ['10.0.0.2', 'fd00::2'] },
    ],
    [
      'is a replica in sync',
      {
        role: 'slave',
        master_host: '10.0.0.0',
        master_port: '6379',
        master_link_status: 'up',
        slave_repl_offset: '60',
        master_repl_offset: '50',
      },
      { role: 'replica', follows: '10.0.0.0', linkUp: true, offset: 60 },
    ],
    [
      'is a replica that still copies',
      { role: 'slave', master_host: '10.0.0.0', master_port: '6379', master_link_status: 'down' },
      { role: 'replica', follows: '10.0.0.0', linkUp: false, offset: 0 },
    ],
    [
      'could not load the copy that it received: it has switched its append-only file off, and tries again',
      { role: 'slave', master_host: '10.0.0.0', master_port: '6379', master_link_status: 'down', aof_enabled: '0' },
      { role: 'replica', follows: '10.0.0.0', linkUp: false, copyRefused: true },
    ],
    [
      'writes down what it has copied',
      { role: 'slave', master_host: '10.0.0.0', master_port: '6379', master_link_status: 'up', aof_enabled: '1' },
      { follows: '10.0.0.0', linkUp: true, copyRefused: false },
    ],
    [
      'has been without its primary for long',
      {
        role: 'slave',
        master_host: '10.0.0.0',
        master_port: '6379',
        master_link_status: 'down',
        master_link_down_since_seconds: '10',
      },
      { follows: '10.0.0.0', linkUp: false, isStale: true },
    ],
    [
      'has been without it for a moment',
      {
        role: 'slave',
        master_host: '10.0.0.0',
        master_port: '6379',
        master_link_status: 'down',
        master_link_down_since_seconds: '9',
      },
      { follows: '10.0.0.0', linkUp: false, isStale: false },
    ],
    [
      'is assigned to nobody',
      { role: 'slave', master_host: '127.0.0.1', master_port: '1', master_link_status: 'down' },
      { role: 'replica', linkUp: false },
    ],
    ['holds keys in any database', { role: 'master', db3: 'keys=1,expires=0,avg_ttl=0' }, { empty: false }],
    ['holds none', { role: 'master', dbsize: '0' }, { empty: true }],
  ])('%s', (_, fields, expected) => {
    const node = dataNode(at, fields, { 'replica-priority': '100', timeout: '0' });
    expect(node).toMatchObject({ ...at, failoverEligible: true, settings: { timeout: '0' }, ...expected });
    if (expected.follows === undefined) expect(node).not.toHaveProperty('follows');
  });

  it.each([
    ['0', false],
    ['1', true],
    [undefined, false],
  ])('with priority %s: electable %s', (priority, electable) => {
    expect(dataNode(at, {}, priority === undefined ? {} : { 'replica-priority': priority }).failoverEligible).toBe(
      electable,
    );
  });

  it('answers INFO in lines, of which only those with a value count', () => {
    expect(infoFields('# Replication\r\nrole:master\r\n\r\nslave0:ip=::1,port=1\r\nexecutable:/a:b\r\n')).toEqual({
      role: 'master',
      slave0: 'ip=::1,port=1',
      executable: '/a:b',
    });
  });
});

describe('a view of a sentinel', () => {
  it.each<readonly [flags: string, expected: Partial<SentinelView>]>([
    ['master', { primaryDown: false, failingOver: false }],
    ['s_down,master', { primaryDown: true, failingOver: false }],
    ['s_down,o_down,master,disconnected', { primaryDown: true, failingOver: false }],
    ['master,failover_in_progress', { failingOver: true }],
    ['master,failover_in_progress,force_failover', { failingOver: true }],
  ])('flags %s', (flags, expected) => expect(viewOf({ flags }, [], [], 1500)).toMatchObject(expected));

  it('tells the primary, its epoch, and who is known', () => {
    const fields = { ip: '10.0.0.0', 'config-epoch': '7', runid: 'abc', flags: 'master', quorum: '2' };
    const primary = { ...fields, 'last-ok-ping-reply': '900' };
    const replica = { ip: '10.0.0.1', 'slave-priority': '0', flags: 's_down,slave', 'master-link-down-time': '5000' };
    expect(viewOf(primary, [replica], [{ ip: '10.0.1.1', flags: 'sentinel' }], 1500)).toEqual({
      primary: '10.0.0.0',
      epoch: 7,
      primaryDown: false,
      seesPrimary: true,
      authenticated: true,
      failingOver: false,
      settings: primary,
      replicas: [{ address: '10.0.0.1', priority: 0, down: true, unlinkedMs: 5000 }],
      peers: [{ address: '10.0.1.1', down: false }],
    });
    expect(viewOf({ ...primary, runid: '' }, [], [], 1500).authenticated).toBe(false);
    for (const change of [{ runid: '' }, { 'last-ok-ping-reply': '1600' }, { flags: 's_down,master' }]) {
      expect(viewOf({ ...primary, ...change }, [], [], 1500).seesPrimary).toBe(false);
    }
    expect(viewOf(fields, [], [], 1500).seesPrimary).toBe(false);
    // A password can only be refused by somebody who answers.
    expect(viewOf({ ...primary, runid: '', 'last-ping-reply': '5000' }, [], [], 1500).authenticated).toBe(true);
  });
});

const primaryNode: Process = (command) =>
  command === 'INFO'
    ? info({ role: 'master', redis_version: '8.0.1', db0: 'keys=1' })
    : flat({ timeout: '0', 'replica-priority': '100' });
const sentinel: Process = (command) =>
  command.startsWith('SENTINEL MASTER') ? flat({ ip: '10.0.0.0', 'config-epoch': '1', flags: 'master' }) : [];
const forgetful: Process = () => new RedisError('ERR No such master with that name');

function processes(more: Readonly<Record<string, Process | undefined>> = {}) {
  const all: Record<string, Process | undefined> = {};
  for (const i of [0, 1, 2]) {
    all[`10.0.0.${i}:6379`] = primaryNode;
    all[`10.0.1.${i}:26379`] = sentinel;
  }
  return { ...all, ...more };
}

async function look(story: Story, options: Parameters<typeof scriptedNetwork>[0]) {
  const network = scriptedNetwork(options);
  const { cluster, children } = redisWorld(story);
  const result = await settle(network.clock, observeRedis(cluster, children, network.io));
  if (result.status === 'rejected') throw result.reason;
  return { observed: result.value, network };
}

describe('a look at a cluster', () => {
  it('asks every process at once', async () => {
    const { observed, network } = await look({}, { processes: processes({ '10.0.1.2:26379': forgetful }) });
    expect(observed.data.map(({ pod, state }) => `${pod} ${state}`)).toEqual([
      'db-0 answering',
      'db-1 answering',
      'db-2 answering',
    ]);
    expect(observed.sentinels.map((node) => ('view' in node ? node.view?.primary : 'nobody'))).toEqual([
      '10.0.0.0',
      '10.0.0.0',
      'nobody',
    ]);
    expect(network.open()).toBe(0);
    const directives = Object.keys(settingsToHold(redisWorld().cluster));
    expect(network.asked).toContain(
      `10.0.0.2:6379 CONFIG GET ${directives.join(' ')} replica-priority masteruser masterauth cluster-announce-hostname cluster-announce-port cluster-announce-ip tls-port tls-cert-file tls-auth-clients`,
    );
  });

  it('takes a second at most, however many are silent, and silence is no answer', async () => {
    const { observed, network } = await look(
      {},
      {
        processes: processes({ '10.0.0.1:6379': () => hang, '10.0.0.2:6379': undefined, '10.0.1.0:26379': () => hang }),
      },
    );
    expect(network.clock.monotonic()).toBeLessThanOrEqual(1005);
    expect(observed.data.slice(1)).toEqual([
      { state: 'silent', pod: 'db-1', address: '10.0.0.1', why: '10.0.0.1:6379 did not answer within 1000 ms' },
      { state: 'silent', pod: 'db-2', address: '10.0.0.2', why: '10.0.0.2:6379 did not answer within 300 ms' },
    ]);
  });

  it('asks a sentinel everything at once: what it sees grows old meanwhile', async () => {
    const mute: Process = (command) => (command.startsWith('SENTINEL') ? hang : []);
    const { network } = await look({}, { processes: processes({ '10.0.1.0:26379': mute }) });
    expect(network.asked.filter((line) => line.startsWith('10.0.1.0:26379 SENTINEL'))).toHaveLength(5);
  });

  it.each<readonly [story: string, process: Process, why: string]>([
    ['loads its dataset', () => info({ role: 'master', loading: 1 }), 'it is loading its dataset'],
    [
      'has another password',
      () => new RedisError('NOAUTH Authentication required.'),
      'NOAUTH Authentication required.',
    ],
  ])('a node that %s is silent', async (_, process, why) => {
    const { observed } = await look({}, { processes: processes({ '10.0.0.0:6379': process }) });
    expect(observed.data[0]).toEqual({ state: 'silent', pod: 'db-0', address: '10.0.0.0', why });
  });

  it('a sentinel with any other error is silent: it has not forgotten', async () => {
    const broken: Process = () => new RedisError('ERR out of memory');
    const { observed } = await look({}, { processes: processes({ '10.0.1.0:26379': broken }) });
    expect(observed.sentinels[0]).toMatchObject({ state: 'silent', why: 'ERR out of memory' });
  });

  it.each<readonly [downAfter: string, agoMs: number, seesPrimary: boolean]>([
    ['10s', 1500, true],
    ['10s', 1501, false],
    ['2s', 1200, true],
    ['2s', 1201, false],
  ])(
    'with downAfter %s a sentinel that was answered %i ms ago sees its primary: %s',
    async (downAfter, agoMs, seesPrimary) => {
      const answered: Process = (command) =>
        command.startsWith('SENTINEL MASTER')
          ? flat({ ip: '10.0.0.0', runid: 'a', flags: 'master', 'last-ok-ping-reply': String(agoMs) })
          : [];
      const story = { spec: { sentinel: { downAfter, failoverTimeout: '5m' } } };
      const { observed } = await look(story, { processes: processes({ '10.0.1.0:26379': answered }) });
      expect(observed.sentinels[0]).toMatchObject({ view: { seesPrimary } });
    },
  );

  it('a node that refuses writes for its disk says so, and one that lacks replicas, too', async () => {
    const full = new RedisError('MISCONF Errors writing to the AOF file: No space left on device');
    const [refusing, short] = [
      { ping: full, replicas: '1' },
      { ping: 'PONG', replicas: '0' },
    ].map(
      ({ ping, replicas }): Process =>
        (command) => {
          if (command === 'PING') return ping;
          if (command !== 'INFO') return flat({ 'min-replicas-to-write': '1' });
          return info({ role: 'master', redis_version: '8.0.1', min_slaves_good_slaves: replicas });
        },
    );
    const { observed } = await look(
      {},
      { processes: processes({ '10.0.0.0:6379': refusing, '10.0.0.1:6379': short }) },
    );
    expect(
      observed.data.map((node) => ('findings' in node ? node.findings.map(({ type }) => type) : undefined)),
    ).toEqual([['DiskFull', 'PersistenceFailing'], ['ReplicationBroken'], []]);
  });

  it('nobody is asked whose pod does not run', async () => {
    const { observed, network } = await look({ pods: { 'db-1': 'unschedulable' } }, { processes: processes() });
    expect(observed.data[1]).toEqual({ state: 'silent', pod: 'db-1', why: 'the pod is Pending' });
    expect(network.asked.some((line) => line.startsWith('10.0.0.1'))).toBe(false);
  });

  it('without a password nobody can be asked', async () => {
    const { observed, network } = await look({}, { processes: processes(), secrets: {} });
    expect(observed.credentialsProblem).toBe('Secret db-auth with key password does not exist');
    expect(observed.data.map(({ state }) => state)).toEqual(['silent', 'silent', 'silent']);
    expect(network.asked).toEqual([]);
  });

  const generated = redisResources(redisWorld({}).cluster).find(({ object }) => object.metadata.name === 'db-auth');
  const values = generated === undefined ? {} : filledSecret(generated.object, { password: 'pw' });
  const { uri: _, ...withoutUri } = values;
  const pods = [0, 1, 2].flatMap((i) => [`db-${i}`, `db-sentinel-${i}`]);
  it.each<readonly [string, Readonly<Record<string, Record<string, string>>>, Story, boolean | undefined]>([
    ['that the operator makes', { 'db-auth': values }, {}, true],
    ['of an earlier operator', { 'db-auth': { password: 'pw' } }, {}, false],
    ['that lacks one of its keys', { 'db-auth': withoutUri }, {}, false],
    ['that is gone', {}, {}, false],
    ['that is gone, beside an identity', { 'db-internal': { password: 'own' } }, {}, false],
    [
      'that a person names, whatever it has',
      { mine: values },
      { spec: { auth: { secretRef: { name: 'mine', key: 'password' } } } },
      false,
    ],
    [
      'that nobody reads',
      { 'db-auth': values },
      { pods: Object.fromEntries(pods.map((name) => [name, 'unschedulable' as const])) },
      undefined,
    ],
  ])('says whether workloads can be bound by a Secret %s', async (_, secrets, story, expected) => {
    const { observed } = await look(story, { processes: processes(), secrets });
    expect(observed.isBindable).toBe(expected);
  });

  describe('that has an identity', () => {
    const user = 'clusterwright/apps/db';
    const secrets = { 'db-auth': { password: 'pw' }, 'db-internal': { password: 'own' } };
    const refusal = new RedisError('WRONGPASS invalid username-password pair or user is disabled.');
    const login = `AUTH ${user} own`;
    /** Knows the identity and copies by it; its clients have this password. */
    const own =
      (
        process: Process,
        passwords: string | readonly string[],
        copies: Readonly<Record<string, string>> = {},
        meets: readonly [user: string, password: string] = [user, 'own'],
      ): Process =>
      (command) => {
        if (command === login) return 'OK';
        if (command.startsWith('ACL')) return ['flags', ['on'], 'passwords', [passwords].flat().map(hashOf)];
        if (command === 'SENTINEL CONFIG GET sentinel-user') return ['sentinel-user', meets[0]];
        if (command === 'SENTINEL CONFIG GET sentinel-pass') return ['sentinel-pass', meets[1]];
        const answer = process(command);
        if (!command.startsWith('CONFIG') || !Array.isArray(answer)) return answer;
        return [...answer, ...flat({ masteruser: user, masterauth: 'own', ...copies })];
      };
    const older =
      (process: Process): Process =>
      (command) =>
        command === login ? refusal : process(command);
    const all = (data: Process, watching: Process) =>
      Object.fromEntries(
        [0, 1, 2].flatMap((i) => [
          [`10.0.0.${i}:6379`, data],
          [`10.0.1.${i}:26379`, watching],
        ]),
      );
    const lacking = ({ data, sentinels }: RedisObserved): unknown =>
      [...data, ...sentinels].map((node) => ('lacks' in node ? node.lacks : undefined));

    it('is asked by it, and lacks nothing', async () => {
      const { observed } = await look({}, { processes: all(own(primaryNode, 'pw'), own(sentinel, 'pw')), secrets });
      expect(lacking(observed)).toEqual(Array(6).fill(undefined));
      expect(observed.data[0]).toMatchObject({ state: 'answering', settings: { timeout: '0' } });
      expect(JSON.stringify(observed)).not.toContain('"own"');
    });

    it('and that it has not been told of is asked by the password', async () => {
      const announcing = Object.fromEntries(
        Object.entries(all(older(primaryNode), older(sentinel))).map(([place, process]) => [
          place,
          (command: string) =>
            command.endsWith('announce-ip') ? ['announce-ip', place.replace(/:.*/, '')] : process(command),
        ]),
      );
      const { observed } = await look({}, { processes: announcing, secrets });
      expect(lacking(observed)).toEqual([
        ...Array(3).fill(['identity', 'replication']),
        ...Array(3).fill(['identity', 'peers']),
      ]);
    });

    it('is asked by it though the Secret says another password, or is gone', async () => {
      const processes = all(own(primaryNode, 'old'), own(sentinel, 'old'));
      expect(lacking((await look({}, { processes, secrets })).observed)).toEqual(Array(6).fill(['password']));
      const { observed } = await look({}, { processes, secrets: { 'db-internal': { password: 'own' } } });
      expect(observed.passwordMissing).toBe('Secret db-auth with key password does not exist');
      expect(lacking(observed)).toEqual(Array(6).fill(undefined));
    });

    it('and copies by a password yet', async () => {
      const { observed } = await look(
        {},
        { processes: all(own(primaryNode, 'pw', { masteruser: '' }), own(sentinel, 'pw')), secrets },
      );
      expect(lacking(observed)).toEqual([...Array(3).fill(['replication']), ...Array(3).fill(undefined)]);
    });

    it.each([
      ['', 'own'],
      [user, 'pw'],
    ] as const)('whose sentinels log in to each other as "%s" with %s', async (name, password) => {
      const watching = own(sentinel, 'pw', {}, [name, password]);
      const { observed } = await look({}, { processes: all(own(primaryNode, 'pw'), watching), secrets });
      expect(lacking(observed)).toEqual([...Array(3).fill(undefined), ...Array(3).fill(['peers'])]);
    });

    it('whose servers accept what the Secret does not name: numbers stand for it', async () => {
      const processes = {
        ...all(own(primaryNode, ['pw', 'old']), own(sentinel, 'pw')),
        '10.0.1.1:26379': own(sentinel, ['older', 'pw', 'old']),
      };
      const { observed } = await look({}, { processes, secrets });
      const formers = [...observed.data, ...observed.sentinels].map((node) => 'formers' in node && node.formers);
      const [old] = formers[0] || [];
      const both = expect.arrayContaining([old, expect.any(Number)]);
      expect(formers).toEqual([[old], [old], [old], false, both, false]);
      expect(observed.namedPasswords).toBe(1);
      expect(JSON.stringify(observed)).not.toContain(hashOf('old'));
    });

    it('whose Secret names more than one password', async () => {
      const processes = all(own(primaryNode, ['pw', 'after']), own(sentinel, ['pw', 'before']));
      const many = { 'db-auth': { password: 'pw', 'password-next': 'after', 'password-previous': 'before\n' } };
      const { observed } = await look({}, { processes, secrets: { ...secrets, ...many } });
      expect(lacking(observed)).toEqual(Array(6).fill(['password']));
      expect([observed.namedPasswords, observed.unusablePassword]).toEqual([3, undefined]);
    });

    it('and is refused altogether: in the words of the server', async () => {
      const { observed } = await look(
        {},
        {
          processes: all(
            () => refusal,
            () => refusal,
          ),
          secrets,
          password: 'other',
        },
      );
      expect(observed.data[0]).toMatchObject({ state: 'silent', refusal: refusal.message });
    });
  });

  it('a cluster without pods needs no password', async () => {
    const { observed } = await look(
      { nodes: { all: 'gone' }, sentinels: { all: 'gone' } },
      { processes: {}, secrets: {} },
    );
    expect(observed).toEqual({ data: [], sentinels: [], identity: 'missing' });
  });

  it('an API server that does not give the Secret is an error of the pass', async () => {
    const network = scriptedNetwork({ processes: processes() });
    const { cluster, children } = redisWorld();
    const io = { ...network.io, secret: () => Promise.reject(new Error('the API server is away')) };
    await expect(observeRedis(cluster, children, io)).rejects.toThrow('the API server is away');
  });
});
