/** A cluster that is deleted and created again does not go by the Secrets of the one before. */
import { expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { createOperator } from '../../src/runtime/operator.ts';
import { dialTcp } from '../../src/system/dial.ts';
import { createLog } from '../../src/system/log.ts';
import { FakeApi } from '../support/fake-api.ts';
import { testCluster, testEngine } from '../support/test-engine.ts';
import { turn, VirtualClock } from '../support/virtual-clock.ts';

const authority: KubeObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'db-ca', namespace: 'apps' },
  data: { key: Buffer.from('of the first').toString('base64') },
} as KubeObject;

const withUid = (uid: string): KubeObject => {
  const cluster = testCluster('db');
  return { ...cluster, metadata: { ...cluster.metadata, uid } };
};

it.each([
  ['its deletion was seen', true],
  ['the watch was late', false],
])('where %s', async (_, isSeen) => {
  const api = new FakeApi();
  const clock = new VirtualClock();
  const engine = testEngine();
  const found: unknown[] = [];
  engine.find = async (_name, _children, io) => {
    found.push(await io.secret('db-ca'));
    return {};
  };
  const operator = createOperator({
    engines: [engine],
    transport: api.transport,
    dial: dialTcp,
    namespaces: [],
    instance: 'operator-0',
    clock,
    random: () => 0.5,
    log: createLog({ level: 'error', destination: { write: () => undefined } }),
    metrics: createMetrics(),
  });
  const stopping = new AbortController();
  const end = operator.run(stopping.signal);
  const pass = async (): Promise<void> => {
    for (let i = 0; i < 50; i++) {
      await clock.advance(20);
      await turn();
    }
  };
  api.put(authority);
  api.put(withUid('first'));
  await pass();
  expect(found.at(-1)).toEqual({ key: 'of the first' });
  if (isSeen) api.vanish('RedisCluster', 'db');
  api.vanish('Secret', 'db-ca');
  if (isSeen) await pass();
  api.put(withUid('second'));
  await pass();
  expect(found.at(-1)).toBeUndefined();
  stopping.abort(new Error('the test is over'));
  await clock.advance(60_000);
  await end;
});
