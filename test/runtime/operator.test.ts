import { afterEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { leases } from '../../src/api/resource.ts';
import type { ClusterStatus } from '../../src/api/status.ts';
import { roleLabel } from '../../src/engines/redis/names.ts';
import { leaseName } from '../../src/jobs/permissions.ts';
import { managedBy, managedByLabel } from '../../src/resources/metadata.ts';
import { ApiError } from '../../src/runtime/api-error.ts';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { createOperator, type Operator } from '../../src/runtime/operator.ts';
import { createLog } from '../../src/system/log.ts';
import { FakeApi } from '../support/fake-api.ts';
import { handlers as engines } from '../support/handlers.ts';
import { identified, processesOf } from '../support/redis-network.ts';
import { redisWorld, type Story } from '../support/redis-situation.ts';
import { type ScriptedNetwork, scriptedNetwork } from '../support/scripted-redis.ts';
import { testCluster } from '../support/test-engine.ts';
import { turn, VirtualClock } from '../support/virtual-clock.ts';

const password = 'correct-horse-battery-staple';

interface Running {
  readonly api: FakeApi;
  readonly clock: VirtualClock;
  readonly operator: Operator;
  readonly network: ScriptedNetwork;
  readonly log: string[];
  readonly stopping: AbortController;
  /** `ended`, or the message of what it ended with. */
  readonly end: Promise<string>;
}

const running: Running[] = [];

afterEach(async () => {
  for (const { stopping, clock, end } of running.splice(0)) {
    stopping.abort(new Error('the test is over'));
    await clock.advance(60_000);
    await end;
  }
});

interface Options {
  readonly election?: boolean;
  readonly before?: (api: FakeApi) => void;
  readonly dryRuns?: boolean;
  /** Default: all. */
  readonly namespaces?: readonly string[];
}

/** An operator that comes into a world as the story tells it, with a Secret of the user. */
async function start(
  story: Story,
  { election = false, before, namespaces = [], dryRuns }: Options = {},
): Promise<Running> {
  const { cluster, children, observed } = redisWorld({
    ...story,
    spec: { auth: { secretRef: { name: 'mine' } }, ...story.spec },
    ...(story.before === undefined ? {} : { before: { auth: { secretRef: { name: 'mine' } }, ...story.before } }),
  });
  const api = new FakeApi();
  for (const object of [cluster, ...children.objects]) api.put(object);
  const data = { password: Buffer.from(password).toString('base64') };
  api.put({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'mine', namespace: 'apps' }, data });
  const identity = { user: 'clusterwright/apps/db', password: 'nobody-elses' };
  const own = { password: Buffer.from(identity.password).toString('base64') };
  const labels = { [managedByLabel]: managedBy };
  const internal = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db-internal', namespace: 'apps', labels } };
  if (children.objects.length > 0) api.put({ ...internal, data: own });
  before?.(api);
  const clock = new VirtualClock();
  const processes = identified(processesOf(observed), identity, password);
  const network = scriptedNetwork({ processes, password });
  const log: string[] = [];
  const operator = createOperator({
    engines,
    transport: api.transport,
    dial: network.io.dial,
    namespaces,
    ...(dryRuns === undefined ? {} : { dryRuns }),
    ...(election ? { election: { namespace: 'operators', identity: 'me', transport: api.transport } } : {}),
    instance: 'operator-0',
    clock,
    random: () => 0.5,
    log: createLog({ level: 'debug', destination: { write: (line: string) => void log.push(line) } }),
    metrics: createMetrics(),
  });
  const stopping = new AbortController();
  const end = operator.run(stopping.signal).then(
    () => 'ended',
    (error: Error) => error.message,
  );
  const all: Running = { api, clock, operator, network, log, stopping, end };
  running.push(all);
  await pass(all);
  return all;
}

/** Time for everything that has become due, within a second. */
async function pass({ clock }: Running, ms = 1000): Promise<void> {
  for (let waited = 0; waited < ms; waited += 20) {
    await clock.advance(20);
    await turn();
  }
}

const lease = (holder: string, resourceVersion?: string): KubeObject => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: leases.kind,
  metadata: { name: leaseName, namespace: 'operators', ...(resourceVersion === undefined ? {} : { resourceVersion }) },
  spec: { holderIdentity: holder, leaseDurationSeconds: 15, leaseTransitions: 1 },
});

const statusOf = (api: FakeApi): ClusterStatus =>
  (api.get('RedisCluster', 'db') as { status?: ClusterStatus } | undefined)?.status ?? {};
const withoutLease = (api: FakeApi): string[] => api.writes.filter((write) => !/leases/.test(write));

describe('an operator that comes back', () => {
  it('G10: finds a cluster that is whole, and writes nothing but its status', async () => {
    const { api, network } = await start({});
    expect(withoutLease(api)).toEqual(['PATCH db/status']);
    expect(statusOf(api)).toMatchObject({ phase: 'Ready', primary: 'db-0' });
    const asked = network.asked.filter(
      (line) => !/AUTH|ACL GETUSER|PING|INFO|CONFIG GET|SENTINEL (MASTER|REPLICAS|SENTINELS)|SUBSCRIBE/.test(line),
    );
    expect(asked).toEqual([]);
  });

  it('takes up what is left to do', async () => {
    const { api, network } = await start({ pods: { 'db-1': 'unlabelled' }, sentinels: { 2: 'forgot' } });
    expect(withoutLease(api)).toEqual(['PATCH pods/db-1', 'PATCH db/status']);
    expect(network.asked).toContain('10.0.1.2:26379 SENTINEL MONITOR db 10.0.0.0 6379 2');
  });

  it.each<readonly [story: string, dryRuns: boolean | undefined, asked: readonly string[]]>([
    ['has a new template judged', undefined, ['POST pods/db-0', 'POST pods/db-sentinel-0']],
    ['has none judged where it is told so', false, []],
  ])('%s', async (_, dryRuns, asked) => {
    const story: Story = { before: {}, spec: { scheduling: { priorityClassName: 'important' } } };
    const { api, log } = await start(story, dryRuns === undefined ? {} : { dryRuns });
    expect([...new Set(api.dryRuns)].sort()).toEqual(asked);
    expect(withoutLease(api)).toContain('PATCH statefulsets/db');
    expect(log.filter((line) => line.includes('dry run'))).toEqual([]);
  });

  it('makes the children of a cluster that has none', async () => {
    const bare: Story = { nodes: { all: 'gone' }, sentinels: { all: 'gone' }, children: () => [] };
    const { api } = await start(bare);
    expect(withoutLease(api).filter((write) => write.startsWith('POST')).length).toBe(10);
    expect(statusOf(api)).toMatchObject({ phase: 'Creating', plan: { waitingFor: 'no Redis node answers yet' } });
  });

  it('G10: decides nothing before it has seen everything', async () => {
    let admit: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      admit = resolve;
    });
    const before = (api: FakeApi): void => {
      api.admitWatch = ({ path }) => (path.endsWith('/persistentvolumeclaims') ? gate : Promise.resolve());
    };
    const all = await start({ terms: {}, nodes: { all: 'blank' }, primary: 'nobody' }, { before });
    expect([all.operator.hasSynced(), all.api.writes, all.network.asked]).toEqual([false, [], []]);
    admit();
    await pass(all);
    expect([all.operator.hasSynced(), all.api.writes.length > 0]).toEqual([true, true]);
  });

  it.each<readonly [story: string, status: number]>([
    ['is not served', 404],
    ['may not be read', 403],
  ])('a kind of somebody else that %s holds up nobody, and is hardly asked for', async (_, status) => {
    let asked = 0;
    const before = (api: FakeApi): void => {
      api.admitWatch = async ({ path }) => {
        if (!path.endsWith('/certificates')) return;
        asked += 1;
        throw new ApiError({ status, reason: '', message: 'no', method: 'GET', path });
      };
    };
    const all = await start({ pods: { 'db-1': 'unlabelled' } }, { before });
    expect(all.operator.hasSynced()).toBe(true);
    expect(withoutLease(all.api)).toContain('PATCH pods/db-1');
    if (status === 403) return;
    await pass(all, 290_000);
    expect([asked, all.log.filter((line) => line.includes('is its CRD installed'))]).toEqual([1, []]);
    await pass(all, 100_000);
    expect(asked).toBe(2);
  });

  it('serves the other namespaces where one is gone, and its rights with it', async () => {
    let isAllowed = false;
    const before = (api: FakeApi): void => {
      api.admitWatch = async ({ path }) => {
        if (path.includes('/gone/') && !isAllowed) {
          throw new ApiError({ status: 403, reason: 'Forbidden', message: 'no', method: 'GET', path });
        }
      };
    };
    const options = { before, election: true, namespaces: ['gone', 'apps'] };
    const all = await start({ pods: { 'db-1': 'unlabelled' } }, options);
    expect([all.operator.isLeader(), all.operator.hasSynced()]).toEqual([true, true]);
    expect(withoutLease(all.api)).toContain('PATCH pods/db-1');
    isAllowed = true;
    await pass(all, 40_000);
    all.api.put({ ...testCluster('db', {}, { namespace: 'gone' }) });
    await pass(all);
    expect(all.api.list('StatefulSet').map(({ metadata }) => metadata.namespace)).toContain('gone');
  });

  it('a NetworkPolicy that somebody deletes each time is created at growing distances, and the status tells of it', async () => {
    const all = await start({ spec: { networkPolicy: { clients: [] } } });
    for (let i = 0; i < 1_000; i++) {
      all.api.vanish('NetworkPolicy', 'db');
      await all.clock.advance(20);
      await turn();
    }
    const created = all.api.writes.filter((write) => /^POST .*networkpolicies/.test(write)).length;
    const ready = statusOf(all.api).conditions?.find(({ type }) => type === 'Ready');
    expect([created < 60, ready?.status, statusOf(all.api).plan]).toEqual([true, expect.anything(), expect.anything()]);
  });

  it('changes nothing because a namespace is named twice', async () => {
    const twice = await start({}, { namespaces: ['apps', 'apps'] });
    await pass(twice, 20_000);
    expect(statusOf(twice.api)).toMatchObject({ phase: 'Ready', replicas: 3 });
    expect(withoutLease(twice.api)).toEqual(['PATCH db/status']);
  });

  it('decides nothing in a namespace of which it has not seen everything', async () => {
    const before = (api: FakeApi): void => {
      api.put(testCluster('db', {}, { namespace: 'half' }));
      api.admitWatch = async ({ path }) => {
        if (path.endsWith('/half/persistentvolumeclaims')) {
          throw new ApiError({ status: 403, reason: 'Forbidden', message: 'no', method: 'GET', path });
        }
      };
    };
    const all = await start({}, { before, namespaces: ['half', 'apps'] });
    await pass(all, 10_000);
    expect(statusOf(all.api)).toMatchObject({ phase: 'Ready' });
    expect(all.api.list('StatefulSet').map(({ metadata }) => metadata.namespace)).not.toContain('half');
  });

  it.each<readonly [story: string, status: number, ready: boolean, said: string]>([
    ['its CRD is not installed', 404, true, 'the API server does not serve this resource: is its CRD installed?'],
    ['it may not be read', 403, false, 'the watch ended and will be resumed'],
  ])('serves the other kinds where one cannot be seen: %s', async (_, status, ready, said) => {
    let isThere = false;
    const before = (api: FakeApi): void => {
      api.admitWatch = async ({ path }) => {
        if (path.endsWith('/etcdclusters') && !isThere) {
          throw new ApiError({ status, reason: '', message: 'no', method: 'GET', path });
        }
      };
    };
    const all = await start({ pods: { 'db-1': 'unlabelled' } }, { before, election: true });
    expect([all.operator.isLeader(), all.operator.hasSynced()]).toEqual([true, ready]);
    expect(withoutLease(all.api)).toContain('PATCH pods/db-1');
    const lines = (): string[] => all.log.filter((line) => line.includes(said) && line.includes('etcdclusters'));
    await pass(all, 100_000);
    // A kind that nobody has installed is no news each time.
    expect(lines().length === 1).toBe(status === 404);
    isThere = true;
    await pass(all, 40_000);
    expect(all.operator.hasSynced()).toBe(true);
    expect(all.log.some((line) => line.includes('serves this resource now'))).toBe(status === 404);
  });

  it('hears of a failover from the sentinels, not by polling', async () => {
    const all = await start({});
    const before = all.network.asked.length;
    await pass(all, 5000);
    expect(all.network.asked.length).toBe(before);
    all.network.push('10.0.1.0:26379', ['message', '+switch-master', 'db']);
    await pass(all, 100);
    expect(all.network.asked.length).toBeGreaterThan(before);
  });

  it('keeps the password out of its log, whoever says it', async () => {
    const all = await start(
      { nodes: { 1: { settings: { timeout: '7' } } } },
      {
        before: (api) => {
          api.intercept = (request) =>
            request.path.endsWith('/status') ? Promise.reject(new Error(`the proxy says: ${password}`)) : undefined;
        },
      },
    );
    await pass(all);
    expect(all.log.join('')).toContain('the proxy says: [redacted]');
    expect(all.log.join('')).not.toContain(password);
  });
});

describe('of two operators', () => {
  it('the one without the lease watches and writes nothing', async () => {
    const { api, operator, network } = await start(
      { pods: { 'db-1': 'unlabelled' } },
      {
        election: true,
        before: (fake) => void fake.put(lease('somebody else')),
      },
    );
    expect([operator.isLeader(), operator.hasSynced(), withoutLease(api), network.asked]).toEqual([
      false,
      true,
      [],
      [],
    ]);
  });

  it('takes over when the other is silent for long enough', async () => {
    const all = await start(
      { pods: { 'db-1': 'unlabelled' } },
      {
        election: true,
        before: (fake) => void fake.put(lease('somebody else')),
      },
    );
    await pass(all, 20_000);
    // Not Ready while a label is missing, and Ready when it is there.
    const expected = ['PATCH pods/db-1', 'PATCH db/status', 'PATCH db/status'];
    expect([all.operator.isLeader(), withoutLease(all.api)]).toEqual([true, expected]);
  });

  it('the one that loses the lease ends, and writes nothing more', async () => {
    const all = await start({}, { election: true });
    expect(all.operator.isLeader()).toBe(true);
    const written = withoutLease(all.api).length;
    all.api.put(lease('somebody else'));
    await pass(all, 20_000);
    expect(await all.end).toBe('the lease was lost to another process');
    expect([all.operator.isLeader(), withoutLease(all.api).length, all.api.isClosed]).toEqual([false, written, true]);
  });

  it('the one that was frozen for longer than its lease writes nothing when it goes on', async () => {
    const all = await start({}, { election: true });
    const written = withoutLease(all.api).length;
    all.clock.jump(60_000);
    all.api.put({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'db-1', namespace: 'apps', labels: { [roleLabel]: 'x' } },
    });
    const asked = all.network.asked.length;
    for (let i = 0; i < 50; i++) await turn();
    expect([all.network.asked.length > asked, withoutLease(all.api).length]).toEqual([true, written]);
  });

  it('nor does it tell a database anything', async () => {
    const all = await start({ sentinels: { 2: 'forgot' } }, { election: true });
    const told = (): number => all.network.asked.filter((line) => line.includes('SENTINEL MONITOR')).length;
    const [before, asked] = [told(), all.network.asked.length];
    expect(before).toBeGreaterThan(0);
    all.clock.jump(60_000);
    all.network.push('10.0.1.0:26379', ['message', '+sdown', 'sentinel']);
    for (let i = 0; i < 50; i++) await turn();
    expect([all.network.asked.length > asked, told()]).toEqual([true, before]);
  });

  /** A label is being written, for as long as the webhook takes, when SIGTERM comes. */
  async function stoppedInAWrite() {
    let answer: () => void = () => undefined;
    let cut = false;
    const all = await start(
      { pods: { 'db-1': 'unlabelled' } },
      {
        election: true,
        before: (api) => {
          api.intercept = ({ method, path, signal }) => {
            if (method !== 'PATCH' || !path.endsWith('/pods/db-1')) return undefined;
            return new Promise((resolve, reject) => {
              answer = () => resolve({ status: 409, headers: {}, body: '{}' });
              signal?.addEventListener('abort', () => {
                cut = true;
                reject(signal.reason);
              });
            });
          };
        },
      },
    );
    all.stopping.abort(new Error('SIGTERM'));
    const holder = () =>
      (all.api.get('Lease', leaseName)?.spec as { holderIdentity?: string } | undefined)?.holderIdentity;
    return { ...all, all, answer: () => answer(), cut: () => cut, holder };
  }

  it('the one that is stopped in the middle of a write leads until it is answered', async () => {
    const { all, api, answer, cut, holder, end } = await stoppedInAWrite();
    const renewed = api.get('Lease', leaseName)?.metadata.resourceVersion;
    await pass(all, 12_000);
    expect([cut(), all.operator.isLeader(), holder()]).toEqual([false, true, 'me']);
    expect(api.get('Lease', leaseName)?.metadata.resourceVersion).not.toBe(renewed);
    answer();
    await pass(all);
    expect([await end, cut(), holder()]).toEqual(['ended', false, '']);
  });

  it('the one whose write is never answered ends in time, and leaves its lease to run out', async () => {
    const { all, cut, holder, end } = await stoppedInAWrite();
    const graceMs = 30_000;
    await pass(all, graceMs);
    expect([await Promise.race([end, turn()]), cut(), all.operator.isLeader(), holder()]).toEqual([
      'ended',
      true,
      false,
      'me',
    ]);
    expect(all.log.join('')).toContain('a write has not been answered');
  });

  it('the one that is stopped gives the lease back', async () => {
    const all = await start({}, { election: true });
    all.stopping.abort(new Error('SIGTERM'));
    await pass(all, 3000);
    expect(await all.end).toBe('ended');
    expect(all.api.get('Lease', leaseName)).toMatchObject({ spec: { holderIdentity: '' } });
    expect(all.api.isClosed).toBe(true);
  });
});
