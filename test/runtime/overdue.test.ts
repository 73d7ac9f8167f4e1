/** A cluster whose reconciles do not end in their time does not go on saying how it was. */
import { afterEach, expect, it } from 'vitest';
import type { ClusterStatus } from '../../src/api/status.ts';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { createOperator } from '../../src/runtime/operator.ts';
import { createLog } from '../../src/system/log.ts';
import { FakeApi } from '../support/fake-api.ts';
import { ready, testCluster, testEngine } from '../support/test-engine.ts';
import { turn, VirtualClock } from '../support/virtual-clock.ts';

const engine = testEngine();
const clock = new VirtualClock();
const stopping = new AbortController();
let end = Promise.resolve();

afterEach(async () => {
  stopping.abort(new Error('the test is over'));
  await forSeconds(30);
  await end;
});

async function forSeconds(seconds: number): Promise<void> {
  for (let waited = 0; waited < seconds * 10; waited++) {
    await clock.advance(100);
    await turn();
  }
}

it('is not said to be ready where each one waits for an answer that never comes, until one has ended', async () => {
  const api = new FakeApi();
  const conditions = ready.map((claim) => ({ ...claim, lastTransitionTime: '2029-12-31T00:00:00Z' }));
  api.put({ ...testCluster('db'), status: { phase: 'Ready', conditions, initialized: true } });
  engine.find = () => new Promise(() => undefined);
  const operator = createOperator({
    engines: [engine],
    transport: api.transport,
    dial: () => Promise.reject(new Error('nobody is there')),
    namespaces: [],
    instance: 'operator-0',
    clock,
    random: () => 0.5,
    log: createLog({ level: 'error', destination: { write: () => undefined } }),
    metrics: createMetrics(),
  });
  end = operator.run(stopping.signal);
  const told = (): string[] => {
    const { conditions = [] } = (api.get('RedisCluster', 'db') as { status?: ClusterStatus } | undefined)?.status ?? {};
    return conditions.flatMap(({ type, status, reason }) => (type === 'Ready' ? [`${status} ${reason}`] : []));
  };
  await forSeconds(61);
  expect(told()).toEqual(['True AllMembersReady']);
  await forSeconds(70);
  expect(told()).toEqual(['False NotObserved']);
  engine.find = () => ({ status: { phase: 'Ready', conditions: ready, initialized: true } }) as never;
  await forSeconds(70);
  expect(told()).toEqual(['True AllMembersReady']);
});
