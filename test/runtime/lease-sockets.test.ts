/** The operator as it is put together, over real TLS sockets: what becomes of its lease when writes hang in a webhook. */
import { expect, it, onTestFinished } from 'vitest';
import { leaseName } from '../../src/jobs/permissions.ts';
import { loadKubeconfig } from '../../src/runtime/kubeconfig.ts';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { createOperator } from '../../src/runtime/operator.ts';
import type { Transport, TransportResponse } from '../../src/runtime/transport.ts';
import { createTransport } from '../../src/runtime/undici-transport.ts';
import { systemClock } from '../../src/system/clock.ts';
import { startProxy } from '../faults/real/proxy.ts';
import { eventually } from '../support/eventually.ts';
import { FakeApi } from '../support/fake-api.ts';
import { RecordingLog } from '../support/recording-log.ts';
import { testCluster, testEngine } from '../support/test-engine.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const connections = 4;

/** An operator whose writes are not answered before `answer` is called, its lease apart. */
async function start() {
  const api = new FakeApi();
  for (let i = 0; i < 40; i++) api.put(testCluster(`db-${i}`));
  const renewals = { count: 0 };
  const arrived: string[] = [];
  let answer: () => void = () => undefined;
  const slow = new Promise<TransportResponse<string>>((resolve) => {
    answer = () => resolve({ status: 503, headers: {}, body: '{}' });
  });
  api.intercept = ({ method, path }) => {
    if (method === 'GET') return undefined;
    if (path.includes('/leases')) {
      renewals.count++;
      return undefined;
    }
    arrived.push(path);
    return slow;
  };
  const proxy = await startProxy(api.transport);
  const files = { readText: async () => proxy.kubeconfig('operators'), version: async () => '1' };
  const { credentials } = await loadKubeconfig({ env: {}, clock: systemClock, path: '/kubeconfig', files });
  const clock = new VirtualClock();
  const connect = (count: number): Transport =>
    createTransport({ credentials, userAgent: 'test', clock, connections: count });
  const operator = createOperator({
    engines: [testEngine()],
    transport: connect(connections),
    dial: () => Promise.reject(new Error('not used')),
    namespaces: [],
    election: { namespace: 'operators', identity: 'me', transport: connect(2) },
    instance: 'operator-0',
    clock,
    random: () => 0.5,
    log: Object.assign(new RecordingLog(), { protect: () => undefined, conceal: (text: string) => text }),
    metrics: createMetrics(),
  });
  const stopping = new AbortController();
  let end: string | undefined;
  const ended = operator.run(stopping.signal).then(
    () => {
      end = 'ended';
    },
    (error: Error) => {
      end = error.message;
    },
  );
  onTestFinished(async () => {
    stopping.abort(new Error('the test is over'));
    answer();
    await until(() => end !== undefined);
    await ended;
    proxy.close();
  });
  /** Real time for sockets, and as much of the clock's as they need. */
  async function until(condition: () => boolean): Promise<void> {
    while (!condition()) await clock.advance(20);
  }
  await until(() => arrived.length === connections);
  return { api, clock, operator, renewals, arrived, answer, until, end: () => end };
}

it('writes that take every connection do not cost the lease', async () => {
  const { clock, operator, renewals, arrived } = await start();
  for (let i = 0; i < 15; i++) {
    const before = renewals.count;
    await clock.advance(2000);
    await eventually(() => renewals.count > before);
    expect([operator.isLeader(), arrived.length]).toEqual([true, connections]);
  }
});

it('a lease that is lost ends the process though its writes hang, and what waits for a connection is not sent', async () => {
  const { api, operator, arrived, answer, until, end } = await start();
  const lease = api.get('Lease', leaseName);
  api.put({
    apiVersion: 'v1',
    kind: 'Lease',
    metadata: { name: leaseName },
    ...lease,
    spec: { holderIdentity: 'another' },
  });
  await until(() => !operator.isLeader());
  answer();
  await until(() => end() !== undefined);
  expect([end(), arrived.length]).toEqual(['the lease was lost to another process', connections]);
});
