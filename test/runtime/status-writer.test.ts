import { beforeEach, describe, expect, it } from 'vitest';
import type { Cluster } from '../../src/api/cluster.ts';
import type { KubeObject } from '../../src/api/object.ts';
import type { ClusterStatus } from '../../src/api/status.ts';
import type { StatusReport } from '../../src/engine/engine.ts';
import { redisKind } from '../../src/engines/redis/kind/schema.ts';
import type { Cache } from '../../src/runtime/cache.ts';
import { createStatusWriter, detailDelayMs, type StatusWriter } from '../../src/runtime/status-writer.ts';
import { FakeApi } from '../support/fake-api.ts';
import { ready, testCluster } from '../support/test-engine.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const signal = new AbortController().signal;

let api: FakeApi;
let clock: VirtualClock;
let writer: StatusWriter;
let seen: KubeObject[];
/** What the watch has told last; undefined: what the pass began with. */
let held: KubeObject | undefined;
/** What was read because a write was refused. */
let read: KubeObject[];

beforeEach(() => {
  api = new FakeApi();
  api.readsStatuses = false;
  clock = new VirtualClock();
  [seen, read, held] = [[], [], undefined];
  const cache: Pick<Cache, 'entry' | 'observeRead' | 'observeWrite'> = {
    entry: () => (held === undefined ? undefined : { object: held, postOwned: false }),
    observeRead: (object) => void read.push(object),
    observeWrite: (object) => void seen.push(object),
  };
  writer = createStatusWriter({ client: api.client(clock), cache, clock });
  api.put(testCluster('db'));
});

const claim = (more: Partial<StatusReport> = {}): StatusReport => ({
  phase: 'Ready',
  conditions: ready,
  replicas: 3,
  ...more,
});
const conditions = (status: 'True' | 'False', message: string): StatusReport['conditions'] => [
  { type: 'Ready', status, reason: status === 'True' ? 'AllMembersReady' : 'MembersNotReady', message },
];
const statusOf = (): ClusterStatus => (api.get('RedisCluster', 'db') as Cluster).status ?? {};

/** Says it of the cluster as it stands in the API server now; what `write` resolves with. */
async function say(what: StatusReport, plan?: ClusterStatus['plan']): Promise<number> {
  return writer.write(api.get('RedisCluster', 'db') as Cluster, redisKind, what, plan, signal);
}

describe('a status', () => {
  it('that a webhook denies with 404 is told to the caller: the object is there', async () => {
    const message = 'admission webhook "p.example" denied the request: no such approval';
    const body = JSON.stringify({ kind: 'Status', code: 404, reason: 'NotFound', message });
    api.intercept = async () => ({ status: 404, headers: {}, body });
    await expect(say(claim())).rejects.toThrow('no such approval');
  });

  it('is written when it is new, with the generation and the times', async () => {
    expect(await say(claim(), { next: 'restart db-2' })).toBe(0);
    expect(statusOf()).toEqual({
      phase: 'Ready',
      replicas: 3,
      observedGeneration: 1,
      plan: { next: 'restart db-2' },
      conditions: ready
        .map((condition) => ({ ...condition, observedGeneration: 1, lastTransitionTime: '2030-01-01T00:00:00Z' }))
        .sort((a, b) => (a.type < b.type ? -1 : 1)),
    });
    expect(seen.map(({ metadata }) => metadata.name)).toEqual(['db']);
  });

  it('that says nothing new is not written, however often it is said', async () => {
    await say(claim());
    for (let i = 0; i < 3; i++) {
      await clock.advance(60_000);
      expect(await say(claim(), {})).toBe(0);
    }
    expect(api.writes).toEqual(['PATCH db/status']);
  });

  it.each<readonly [turn: string, change: Partial<StatusReport>]>([
    ['phase', { phase: 'Degraded' }],
    ['primary', { primary: 'db-1' }],
    ['readiness', { conditions: conditions('False', 'db-2 does not answer') }],
    ['the database was formed', { initialized: true }],
  ])('that turns is written at once: %s', async (_, change) => {
    await say(claim());
    await clock.advance(1);
    expect(await say(claim(change))).toBe(0);
    expect(api.writes.length).toBe(2);
  });

  it('that turns back and forth is written once a second at last, and comes back for the rest', async () => {
    let again = 0;
    for (let ms = 0; ms < 10_000; ms += 20) {
      again = await say(claim({ phase: ms % 40 === 0 ? 'Degraded' : 'Ready' }));
      await clock.advance(20);
    }
    expect(api.writes.length).toBeGreaterThan(20);
    expect(api.writes.length).toBeLessThan(35);
    expect(again).toBeGreaterThan(0);
    expect(again).toBeLessThanOrEqual(1000);
    expect(await say(claim({ initialized: true }))).toBe(0);
    await clock.advance(1000);
    expect(await say(claim({ phase: 'Degraded', initialized: true }))).toBe(0);
    expect(statusOf()).toMatchObject({ phase: 'Degraded', initialized: true });
  });

  it('that is about another generation is written at once', async () => {
    await say(claim());
    api.put(testCluster('db', { replicas: 5 }));
    expect(await say(claim())).toBe(0);
    expect(statusOf().observedGeneration).toBe(2);
  });

  it('gathers details for ten seconds', async () => {
    await say(claim());
    await clock.advance(4000);
    expect(await say(claim({ replicas: 4 }))).toBe(detailDelayMs - 4000);
    await clock.advance(detailDelayMs - 4000);
    expect(await say(claim({ replicas: 5 }))).toBe(0);
    expect([api.writes.length, statusOf().replicas]).toEqual([2, 5]);
  });

  it('is come back for after whole milliseconds, which every clock can tell', async () => {
    await say(claim({ replicas: 3 }));
    await clock.advance(detailDelayMs - 0.001);
    expect(await say(claim({ replicas: 4 }))).toBe(1);
  });

  it('gathers a message that moves along', async () => {
    await say(claim({ conditions: conditions('False', 'two members are missing') }));
    expect(await say(claim({ conditions: conditions('False', 'one member is missing') }))).toBe(detailDelayMs);
    expect(await say(claim({ conditions: conditions('True', 'all is well') }))).toBe(0);
    expect(api.writes.length).toBe(2);
  });

  it('keeps the time of a transition until the next one', async () => {
    await say(claim({ conditions: conditions('False', 'a') }));
    await clock.advance(20_000);
    await say(claim({ conditions: conditions('False', 'b') }));
    expect(statusOf().conditions).toMatchObject([{ message: 'b', lastTransitionTime: '2030-01-01T00:00:00Z' }]);
    await say(claim({ conditions: conditions('True', 'c') }));
    expect(statusOf().conditions).toMatchObject([{ message: 'c', lastTransitionTime: '2030-01-01T00:00:20Z' }]);
  });

  it('loses what is no longer said', async () => {
    await say(claim({ primary: 'db-0', version: '8.0' }), { next: 'a', waitingFor: 'b' });
    await say({ phase: 'Degraded', conditions: ready }, { blockedBy: 'c' });
    expect(statusOf()).toMatchObject({ phase: 'Degraded', plan: { blockedBy: 'c' } });
    expect(Object.keys(statusOf()).sort()).toEqual(['conditions', 'observedGeneration', 'phase', 'plan']);
    expect(Object.keys(statusOf().plan ?? {})).toEqual(['blockedBy']);
    await say({ phase: 'Ready', conditions: ready }, {});
    expect(statusOf()).not.toHaveProperty('plan');
  });

  it('of a cluster that is gone is told to nobody', async () => {
    const cluster = api.get('RedisCluster', 'db') as Cluster;
    api.vanish('RedisCluster', 'db');
    expect(await writer.write(cluster, redisKind, claim(), undefined, signal)).toBe(0);
    expect(seen).toEqual([]);
  });

  it('G8: that rests on an old one loses nothing that a process before this one has said: the pass comes back', async () => {
    const asSeen = api.get('RedisCluster', 'db') as Cluster;
    await say(claim({ initialized: true, primary: 'db-0' }));
    const told = statusOf();
    expect(await writer.write(asSeen, redisKind, claim({ phase: 'Creating' }), undefined, signal)).toBeGreaterThan(0);
    expect(statusOf()).toEqual(told);
    expect(read.map(({ status }) => status)).toEqual([told]);
    // The watch tells in the middle of the pass.
    held = api.get('RedisCluster', 'db');
    const writes = api.writes.length;
    expect(await writer.write(asSeen, redisKind, claim({ phase: 'Creating' }), undefined, signal)).toBeGreaterThan(0);
    expect([statusOf(), api.writes.length]).toEqual([told, writes]);
  });

  it('is written where only the rest of the object has changed meanwhile, and has been seen', async () => {
    const asSeen = api.get('RedisCluster', 'db') as Cluster;
    const { metadata } = asSeen;
    api.put({ ...asSeen, metadata: { ...metadata, finalizers: ['example.com/mine'] } });
    held = api.get('RedisCluster', 'db');
    expect(await writer.write(asSeen, redisKind, claim(), undefined, signal)).toBe(0);
    expect(statusOf().phase).toBe('Ready');
  });

  it('is written beside what a newer version of the operator has said', async () => {
    const cluster = api.get('RedisCluster', 'db') as Cluster;
    held = { ...cluster, status: { fromTheFuture: true } };
    expect(await writer.write(cluster, redisKind, claim(), undefined, signal)).toBe(0);
    expect(statusOf().phase).toBe('Ready');
  });

  it('of a cluster whose name is another one by now is told to nobody: the new one keeps its own', async () => {
    const former = api.get('RedisCluster', 'db') as Cluster;
    api.vanish('RedisCluster', 'db');
    api.put(testCluster('db'));
    expect(await writer.write(former, redisKind, claim({ primary: 'db-9' }), undefined, signal)).toBe(0);
    expect([statusOf(), seen]).toEqual([{}, []]);
  });

  it('loses what is no longer said inside a field as well, and is then said for good', async () => {
    const told = (lastSuccess: object) => claim({ lastSuccess } as Partial<StatusReport>);
    await say(told({ name: 'a', id: '1' }));
    await clock.advance(detailDelayMs);
    await say(told({ name: 'b' }));
    expect(statusOf()).toMatchObject({ lastSuccess: { name: 'b' } });
    expect((statusOf() as { lastSuccess?: object }).lastSuccess).toEqual({ name: 'b' });
    await clock.advance(detailDelayMs);
    await say(told({ name: 'b' }));
    expect(api.writes.length).toBe(2);
  });

  it('that the API server finds invalid fails the pass', async () => {
    api.intercept = (request) => {
      const refused = { status: 422, headers: {}, body: '{"reason":"Invalid","message":"status.phase: no"}' };
      return request.method === 'PATCH' ? Promise.resolve(refused) : undefined;
    };
    await expect(say(claim())).rejects.toThrow('status.phase: no');
  });

  it('that is refused, of a cluster that is gone when it is read for that, is told to nobody', async () => {
    api.intercept = async ({ method }) => ({ status: method === 'PATCH' ? 422 : 404, headers: {}, body: '' });
    expect(await say(claim())).toBe(0);
    expect([seen, read]).toEqual([[], []]);
  });

  it('that is refused fails the pass where the cluster cannot be read for that', async () => {
    api.intercept = async ({ method }) => ({ status: method === 'PATCH' ? 422 : 403, headers: {}, body: '' });
    await expect(say(claim())).rejects.toThrow('422');
  });

  it('that cannot be written fails the pass, and nothing is read for it', async () => {
    const methods: string[] = [];
    api.intercept = async ({ method }) => {
      methods.push(method);
      return { status: 403, headers: {}, body: '' };
    };
    await expect(say(claim())).rejects.toThrow('403');
    expect(new Set(methods)).toEqual(new Set(['PATCH']));
  });

  it('of a cluster made anew is no detail of the former one', async () => {
    await say(claim());
    const { metadata } = api.get('RedisCluster', 'db') ?? {};
    writer.forget(metadata?.uid ?? '');
    expect(await say(claim({ replicas: 9 }))).toBe(0);
  });
});
