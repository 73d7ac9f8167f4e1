/** Where the clock of the operator is hours off, and not that of the API server. */
import { afterEach, describe, expect, it } from 'vitest';
import type { Cluster, CommonSpec } from '../../src/api/cluster.ts';
import type { KubeObject } from '../../src/api/object.ts';
import type { KindHandler } from '../../src/engine/engine.ts';
import { planFinalization } from '../../src/jobs/last-backup.ts';
import { deletionFinalizer } from '../../src/plan/deletion.ts';
import { noChildren } from '../../src/resources/children.ts';
import { ownerReferences } from '../../src/resources/metadata.ts';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { createOperator } from '../../src/runtime/operator.ts';
import type { Transport } from '../../src/runtime/transport.ts';
import { createLog } from '../../src/system/log.ts';
import { engineOf, jobOf, resourceOf, taken, target } from '../support/backup-story.ts';
import { FakeApi } from '../support/fake-api.ts';
import { turn, VirtualClock } from '../support/virtual-clock.ts';

const hourMs = 3_600_000;
/** When the last backup was taken, by the API server's clock. */
const takenAt = Date.parse('2026-11-21T03:00:01Z');
let end: () => Promise<unknown> = async () => undefined;
afterEach(() => end());

/** `ours` is the time by this machine's clock, `theirs` by the API server's: milliseconds. */
function dated(transport: Transport, clock: VirtualClock, { ours, theirs }: Times): Transport {
  const headers = () => ({ date: new Date(theirs + clock.now() - ours).toUTCString() });
  return {
    request: async (request) => ({ ...(await transport.request(request)), headers: headers() }),
    stream: async (request) => ({ ...(await transport.stream(request)), headers: headers() }),
    close: () => transport.close(),
  };
}

interface Times {
  readonly ours: number;
  readonly theirs: number;
}

async function operate(api: FakeApi, engine: KindHandler, times: Times): Promise<void> {
  const clock = new VirtualClock(times.ours);
  const stopping = new AbortController();
  const operator = createOperator({
    engines: [engine],
    transport: dated(api.transport, clock, times),
    dial: () => Promise.reject(new Error('nobody is there')),
    namespaces: [],
    instance: 'operator-0',
    clock,
    random: () => 0.5,
    log: createLog({ level: 'fatal', destination: { write: () => undefined } }),
    metrics: createMetrics(),
  });
  const running = operator.run(stopping.signal).catch(() => undefined);
  end = async () => {
    stopping.abort(new Error('the test is over'));
    await clock.advance(60_000);
    await running;
  };
  for (let waited = 0; waited < 400; waited += 20) {
    await clock.advance(20);
    await turn();
  }
}

/** What is written of a cluster under `Snapshot` whose last backup has been taken. */
async function written(times: Times): Promise<readonly string[]> {
  const spec = { mode: 'Standalone', replicas: 1, deletionPolicy: 'Snapshot', backup: { target } };
  const engine = engineOf('RedisCluster');
  const made = resourceOf('RedisCluster', 'db', spec, { initialized: true });
  const deletionTimestamp = '2026-11-21T02:59:00Z';
  const metadata = { ...made.metadata, deletionTimestamp, finalizers: [deletionFinalizer] };
  const cluster = { ...made, metadata } as Cluster<CommonSpec>;
  const { plan } = planFinalization(engine, cluster, noChildren, [], takenAt);
  const [task, job] = plan.steps.flatMap((step) => (step.type === 'create' ? [step.object] : []));
  const set = engine.resources(cluster).find(({ object }) => object.kind === 'StatefulSet')?.object;
  const api = new FakeApi();
  const owned = {
    ...set,
    metadata: { ...set?.metadata, uid: 'uid-of-set', ownerReferences: ownerReferences(cluster) },
  };
  for (const object of [cluster, owned, task, ...jobOf(job as KubeObject, 'complete', taken)])
    api.put(object as KubeObject);
  await operate(api, engine, times);
  return api.writes.filter((write) => !write.endsWith('/status'));
}

describe('a last backup', () => {
  const [isDeleted, isTakenAnew] = ['DELETE statefulsets/db', 'DELETE jobs/db-last-backup'];

  it.each([
    ['is right', 0.5, 0.5, isDeleted],
    ['is right, and it is old', 3, 3, isTakenAnew],
    ['is hours behind, and it is old', 0.5, 3, isTakenAnew],
    ['is hours ahead', 3, 0.5, isTakenAnew],
  ])('counts for an hour by the later clock, where that of the operator %s', async (_, ours, theirs, expected) => {
    const at = (hours: number): number => takenAt + hours * hourMs;
    const writes = await written({ ours: at(ours), theirs: at(theirs) });
    expect(writes.filter((write) => write === isDeleted || write === isTakenAnew)).toEqual([expected]);
  });
});

describe('the time by which an engine tells how old is what others have dated', () => {
  const told = async (times: Times): Promise<number> => {
    const engine = engineOf('RedisCluster');
    const at: number[] = [];
    const assess: KindHandler['assess'] = (cluster, children, io, about) => {
      at.push(io.now());
      return engine.assess(cluster, children, io, about);
    };
    const api = new FakeApi();
    api.put(resourceOf('RedisCluster', 'db', {}, { initialized: true }));
    await operate(api, { ...engine, assess }, times);
    return at[0] ?? Number.NaN;
  };
  const theirs = takenAt;
  const secondsAhead = [
    ['is right', 0, 0],
    ['is as near as answers tell', 5, 5],
    ['is minutes ahead', 180, 0],
    ['is hours ahead', 7_200, 0],
    ['is hours behind', -7_200, -7_200],
  ] as const;

  it.each(secondsAhead)(
    'is no later than the API server says, where the clock of the operator %s',
    async (_, by, seen) => {
      const found = ((await told({ ours: theirs + by * 1000, theirs })) - theirs) / 1000;
      expect(Math.abs(found - seen)).toBeLessThan(2);
    },
  );
});
