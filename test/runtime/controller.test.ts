import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { backupKind } from '../../src/api/backup.ts';
import { redisKind } from '../../src/engines/redis/kind/schema.ts';
import { settled } from '../../src/plan/plan.ts';
import { noChildren } from '../../src/resources/children.ts';
import { abandonMs, createController, drainMs } from '../../src/runtime/controller.ts';
import type { Listeners } from '../../src/runtime/listeners.ts';
import { createWorkQueue, type Priority, type WorkQueue } from '../../src/runtime/queue.ts';
import type { ReconcileResult } from '../../src/runtime/reconcile-result.ts';
import type { Reconciler } from '../../src/runtime/reconciler.ts';
import { type ControllerParts, controllerParts } from '../support/controller-parts.ts';
import { testChild, testCluster, testEngine } from '../support/test-engine.ts';
import { turn } from '../support/virtual-clock.ts';

const engine = testEngine();
const about = testEngine({ name: 'about', kind: backupKind, targetRef: () => ({ kind: 'RedisCluster', name: 'db' }) });
const key = (name: string): string => `test/apps/${name}`;
const done: ReconcileResult = { outcome: settled };

let parts: ControllerParts;
let queue: WorkQueue;
/** Passes as they begin, and those that are running now. */
let begun: string[];
let running: string[];
/** What a pass comes to: by the cluster's name. May reject, or never resolve. */
let passes: Record<string, (signal: AbortSignal) => Promise<ReconcileResult>>;
/** Passes that were told of as overdue. */
let overdue: string[];
let heard: string[];
let forgotten: string[];
let stopping: AbortController;
let losing: AbortController;
let ended: Promise<void>;

beforeEach(async () => {
  [begun, running, overdue, heard, forgotten, passes] = [[], [], [], [], [], {}];
  parts = await controllerParts([], [engine, about]);
  const { cache, clock, log, metrics } = parts;
  const reconciler: Reconciler = {
    async reconcile(_, { metadata }, of, signal) {
      begun.push(metadata.name);
      expect(running).not.toContain(of);
      running.push(of);
      try {
        return (await passes[metadata.name]?.(signal)) ?? done;
      } finally {
        running.splice(running.indexOf(of), 1);
      }
    },
    async overdue(_, { metadata }, of, error, signal) {
      expect([of, signal.aborted]).toEqual([key(metadata.name), false]);
      overdue.push(`${metadata.name}: ${(error as Error).message}`);
    },
  };
  const listeners: Listeners = {
    follow: (of) => void heard.push(`follow ${of}`),
    forget: (of) => void heard.push(`forget ${of}`),
    closeAll: () => void heard.push('close all'),
  };
  queue = createWorkQueue({ name: 'clusters', clock, random: () => 0.5 });
  const controller = createController({
    engines: [engine, about],
    cache,
    queue,
    reconciler,
    listeners,
    status: { forget: (uid) => void forgotten.push(uid) },
    clock,
    random: () => 0.5,
    log,
    metrics,
  });
  stopping = new AbortController();
  losing = new AbortController();
  ended = controller.run(stopping.signal, losing.signal);
});

afterEach(async () => {
  stopping.abort();
  await parts.clock.advance(60_000);
  await ended;
  await parts.stop();
});

/** A pass that lasts until it is told to end. */
const hanging = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });

/** Passes over `name` last until the returned function ends the last one that began. */
function holdPasses(name: string): () => void {
  let finish: () => void = () => undefined;
  passes[name] = () =>
    new Promise((resolve) => {
      finish = () => resolve(done);
    });
  return () => finish();
}

/** Lets watches deliver and workers work. */
async function settle(ms = 0): Promise<void> {
  for (let i = 0; i < 4; i++) await turn();
  await parts.clock.advance(ms);
}

/** Names of the passes since the last call. */
async function news(ms = 0): Promise<string[]> {
  await settle(ms);
  return begun.splice(0);
}

describe('a pass is made', () => {
  it('for a cluster that is new, changed, or of which a child has changed', async () => {
    const db = parts.api.put(testCluster('db'));
    expect(await news()).toEqual(['db']);
    parts.api.put(testCluster('db', { replicas: 5 }));
    expect(await news()).toEqual(['db']);
    parts.api.put(testChild(db, 'ConfigMap', '1'));
    expect(await news()).toEqual(['db']);
    parts.api.put(testChild(db, 'ConfigMap', '2'));
    expect(await news()).toEqual(['db']);
    parts.api.vanish('ConfigMap', 'db');
    expect(await news()).toEqual(['db']);
  });

  it('for the cluster from which somebody has taken a child by giving it another label, though it was at rest', async () => {
    const db = parts.api.put(testCluster('db'));
    const child = parts.api.put(testChild(db, 'ConfigMap', '1'));
    await news();
    const labels = { ...child.metadata.labels, 'app.kubernetes.io/instance': 'another' };
    parts.api.put({ ...child, metadata: { ...child.metadata, labels } });
    expect(await news()).toEqual(['db']);
  });

  it('for an annotation, which may be a choice; not for the echo of our own status', async () => {
    parts.api.put(testCluster('db'));
    await news();
    parts.api.put(testCluster('db', {}, { annotations: { 'clusterwright.dev/choose-primary': 'db-1' } }));
    expect(await news()).toEqual(['db']);
    const { uid = '' } = parts.api.get('RedisCluster', 'db')?.metadata ?? {};
    parts.api.readsStatuses = false;
    await parts.client.replaceStatus(
      { resource: redisKind.resource, namespace: 'apps', name: 'db', uid },
      { phase: 'Ready', replicas: 3 },
    );
    expect(await news()).toEqual([]);
  });

  it('for a deletion and for each finalizer that goes', async () => {
    parts.api.put(testCluster('db', {}, { finalizers: ['a', 'b'] }));
    await news();
    parts.api.put(testCluster('db', {}, { finalizers: ['a', 'b'], deletionTimestamp: '2030-01-01T00:00:00Z' }));
    expect(await news()).toEqual(['db']);
    parts.api.put(testCluster('db', {}, { finalizers: ['a'] }));
    expect(await news()).toEqual(['db']);
  });

  it('for many in a row, and timers and sockets get their turns in between', async () => {
    for (let i = 0; i < 100; i++) {
      const name = `db-${i}`;
      passes[name] = async () => {
        parts.clock.jump(5);
        return done;
      };
      parts.api.put(testCluster(name));
    }
    for (let i = 0; i < 20; i++) await turn();
    expect(begun.length).toBeGreaterThan(0);
    expect(begun.length).toBeLessThan(40);
    for (let i = 0; i < 100; i++) await settle();
    expect(begun.splice(0).length).toBe(100);
  });

  it('not for what belongs to no cluster of ours', async () => {
    parts.api.put({ ...testChild(testCluster('other'), 'ConfigMap'), metadata: { name: 'x', namespace: 'apps' } });
    parts.api.put(testChild(testCluster('gone'), 'ConfigMap'));
    expect(await news()).toEqual([]);
  });

  it('again when the last one says so', async () => {
    passes.db = async () => ({ ...done, again: 700 });
    parts.api.put(testCluster('db'));
    await news();
    expect([await news(699), await news(1), await news(700)]).toEqual([[], ['db'], ['db']]);
  });

  it('again after ten minutes, since no watch tells what somebody did to a process', async () => {
    parts.api.put(testCluster('db'));
    await news();
    const minute = 60_000;
    expect([await news(8 * minute), await news(4 * minute)]).toEqual([[], ['db']]);
  });

  it('no later than that, also where the last one waits for longer, as for a maintenance window', async () => {
    passes.db = async () => ({ ...done, again: 24 * 60 * 60_000 });
    parts.api.put(testCluster('db'));
    await news();
    expect(await news(12 * 60_000)).toEqual(['db']);
  });
});

describe('a cluster that is looked at again', () => {
  /** The lane that the queue says the latest pass was taken from. */
  const lane = async (ms = 0): Promise<Priority | undefined> => {
    let found: Priority | undefined;
    const told = passes.db;
    passes.db = async (signal) => {
      found = queue.laneOf(key('db'));
      return (await told?.(signal)) ?? done;
    };
    await settle(ms);
    if (told !== undefined) passes.db = told;
    return found;
  };

  it('because time may have changed it is no longer urgent; what has just happened stays so while there is something to do', async () => {
    passes.db = async () => ({ ...done, again: 50, hasActed: true });
    parts.api.put(testCluster('db'));
    expect([await lane(), await lane(50)]).toEqual(['high', 'high']);
    passes.db = async () => ({ ...done, again: 1000 });
    expect([await lane(50), await lane(1000)]).toEqual(['high', 'recheck']);
    passes.db = async () => ({ ...done, again: 50, hasActed: true });
    expect([await lane(1000), await lane(50)]).toEqual(['recheck', 'recheck']);
    parts.api.put(testCluster('db', { replicas: 5 }));
    expect(await lane()).toBe('high');
  });

  it('because it failed is urgent for three tries', async () => {
    const lanes: (Priority | undefined)[] = [];
    passes.db = () => {
      lanes.push(queue.laneOf(key('db')));
      return Promise.reject(new Error('broken'));
    };
    parts.api.put(testCluster('db'));
    await settle(200);
    expect(lanes.slice(0, 5)).toEqual(['high', 'high', 'high', 'high', 'recheck']);
  });
});

describe('one cluster', () => {
  it('is never worked on twice at once, and once more when it changed meanwhile', async () => {
    const finish = holdPasses('db');
    parts.api.put(testCluster('db'));
    await settle();
    for (const replicas of [2, 3, 4]) parts.api.put(testCluster('db', { replicas }));
    await settle();
    expect(begun).toEqual(['db']);
    finish();
    await settle();
    expect(begun).toEqual(['db', 'db']);
    finish();
    await settle();
    expect(begun).toEqual(['db', 'db']);
  });

  it('holds up no other: neither by hanging nor by failing', async () => {
    passes.hangs = hanging;
    passes.fails = () => Promise.reject(new Error('broken'));
    for (const name of ['hangs', 'fails', 'well']) parts.api.put(testCluster(name));
    expect((await news()).sort()).toEqual(['fails', 'hangs', 'well']);
    parts.api.put(testCluster('well', { replicas: 5 }));
    expect((await news()).filter((name) => name === 'well')).toEqual(['well']);
  });

  it('that fails is tried again at growing distances, until it succeeds', async () => {
    passes.db = () => Promise.reject(new Error('the database is away'));
    parts.api.put(testCluster('db'));
    await settle(1000);
    const early = begun.splice(0).length;
    expect(early).toBeGreaterThan(5);
    await settle(1000);
    expect(begun.splice(0).length).toBeLessThan(3);
    expect(parts.log.entries.filter(({ level }) => level === 'warn')[0]).toMatchObject({
      fields: { cluster: key('db') },
      message: 'a pass failed and will be repeated',
    });
    delete passes.db;
    await settle(10_000);
    begun.splice(0);
    passes.db = () => Promise.reject(new Error('away again'));
    parts.api.put(testCluster('db', { replicas: 4 }));
    await settle(20);
    expect(begun.length).toBeGreaterThan(1);
  });

  it('that does not hear that its time is over is left behind, and the cluster gets another', async () => {
    passes.db = () => new Promise(() => undefined);
    parts.api.put(testCluster('db'));
    expect(await news()).toEqual(['db']);
    running.length = 0;
    expect(await news(60_000)).toEqual([]);
    expect(await news(abandonMs + 10)).toEqual(['db']);
    expect(overdue).toEqual(['db: a pass did not end when it was told to']);
  });

  it('is given up after a minute and tried again', async () => {
    let reason: unknown;
    passes.db = (signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          reason = signal.reason;
          reject(signal.reason);
        });
      });
    parts.api.put(testCluster('db'));
    await settle(59_999);
    expect([begun, reason]).toEqual([['db'], undefined]);
    await settle(1);
    expect(reason).toMatchObject({ message: 'the pass took longer than 60000 ms' });
    await settle(10);
    expect(begun).toEqual(['db', 'db']);
    expect(overdue).toEqual(['db: the pass took longer than 60000 ms']);
  });

  it('leaves no timer behind when its pass is done, and nothing when it is gone', async () => {
    const { uid = '' } = parts.api.put(testCluster('db')).metadata;
    await settle();
    expect(parts.clock.pending.filter((ms) => ms <= 60_000)).toEqual([]);
    parts.api.vanish('RedisCluster', 'db');
    await settle();
    expect(forgotten).toEqual([uid]);
  });

  it('is listened to while it is understood, and no longer when it is gone', async () => {
    const cluster = { ...testCluster('db'), metadata: { name: 'db', namespace: 'apps' }, spec: {} };
    passes.db = async () => ({ ...done, understood: { cluster, children: noChildren } });
    parts.api.put(testCluster('db'));
    await settle();
    passes.db = async () => done;
    parts.api.put(testCluster('db', { replicas: 0 }));
    await settle();
    parts.api.vanish('RedisCluster', 'db');
    await settle();
    expect(heard).toEqual([`follow ${key('db')}`, `forget ${key('db')}`]);
  });
});

describe('the end', () => {
  it('lets a pass that has begun finish, and begins no other', async () => {
    const finish = holdPasses('db');
    parts.api.put(testCluster('db'));
    await settle();
    stopping.abort(new Error('stopping'));
    parts.api.put(testCluster('other'));
    let over = false;
    void ended.then(() => {
      over = true;
    });
    await settle(1000);
    expect([begun, over, heard]).toEqual([['db'], false, ['close all']]);
    finish();
    await settle();
    expect([begun, over]).toEqual([['db'], true]);
  });

  it('tells a pass that does not finish to end, within the grace period of its pod and not before', async () => {
    passes.db = hanging;
    parts.api.put(testCluster('db'));
    await settle();
    stopping.abort(new Error('stopping'));
    await settle(drainMs - 1);
    expect(running).toEqual([key('db')]);
    await settle(1);
    await ended;
    const said = parts.log.entries.filter(({ level }) => level === 'warn').map(({ message }) => message);
    expect([running, said]).toEqual([[], ['passes are not over in time and are told to end']]);
  });

  it('leaves a pass behind that does not hear that it has to end', async () => {
    passes.db = () => new Promise(() => undefined);
    parts.api.put(testCluster('db'));
    await settle();
    stopping.abort(new Error('stopping'));
    await settle(drainMs + abandonMs);
    await ended;
    expect(running).toEqual([key('db')]);
  });

  it('is at once where the lease is lost, and says nothing of failures', async () => {
    passes.db = hanging;
    parts.api.put(testCluster('db'));
    await settle();
    losing.abort(new Error('lost'));
    stopping.abort(new Error('lost'));
    await settle();
    await ended;
    expect([running, parts.log.entries.filter(({ level }) => level === 'warn')]).toEqual([[], []]);
  });

  it('opens no ear again for a pass that finishes', async () => {
    const cluster = { ...testCluster('db'), metadata: { name: 'db', namespace: 'apps' }, spec: {} };
    let finish: (result: ReconcileResult) => void = () => undefined;
    passes.db = () =>
      new Promise((resolve) => {
        finish = resolve;
      });
    parts.api.put(testCluster('db'));
    await settle();
    stopping.abort(new Error('stopping'));
    finish({ ...done, understood: { cluster, children: noChildren } });
    await settle();
    expect(heard).toEqual(['close all']);
  });
});

it('counts passes by how they ended', async () => {
  passes.bad = () => Promise.reject(new Error('broken'));
  parts.api.put(testCluster('good'));
  parts.api.put(testCluster('bad'));
  await settle();
  const text = await parts.metrics.text();
  expect(text).toContain('clusterwright_reconcile_total{kind="RedisCluster",outcome="settled"} 1');
  expect(text).toContain('clusterwright_reconcile_total{kind="RedisCluster",outcome="failed"} 1');
});

it('a change of a cluster is a reason to look at what is about it, and a change of another is none', async () => {
  const backup = (name: string, cluster: string) => ({
    ...testCluster(name, { cluster: { kind: 'RedisCluster', name: cluster } }),
    kind: 'Backup',
  });
  parts.api.put(backup('nightly', 'db'));
  parts.api.put(backup('other', 'cache'));
  await turn();
  begun.length = 0;
  parts.api.put(testCluster('db'));
  await turn();
  expect(begun.sort()).toEqual(['db', 'nightly']);
});

it('looks at nothing else for it, however much there is', async () => {
  const backup = (name: string, spec: object) => ({ ...testCluster(name, spec), kind: 'Backup' });
  for (let i = 0; i < 200; i++) parts.api.put(backup(`b-${i}`, { cluster: { kind: 'RedisCluster', name: `db-${i}` } }));
  // Foreign input, as a schema of another day may have let it in.
  for (const [i, cluster] of [null, 7, {}, { kind: {}, name: ['db-7'] }].entries()) {
    parts.api.put(backup(`odd-${i}`, { cluster }));
  }
  parts.api.put(backup('b-8', { cluster: { kind: 'RedisCluster', name: 'db-7' } }));
  parts.api.vanish('Backup', 'b-9');
  for (let i = 0; i < 30; i++) await settle();
  begun.length = 0;
  const parse = vi.spyOn(JSON, 'parse');
  for (const name of ['db-7', 'db-8', 'db-9']) parts.api.put(testCluster(name));
  await settle();
  const parsed = parse.mock.calls.length;
  parse.mockRestore();
  expect(begun.sort()).toEqual(['b-7', 'b-8', 'db-7', 'db-8', 'db-9']);
  expect(parsed).toBeLessThan(30);
});
