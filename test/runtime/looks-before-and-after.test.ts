/** What a plan says of itself as a whole, and of an action: whether to look again before it, and when after it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { type ActStep, type Plan, settled, wait } from '../../src/plan/plan.ts';
import { createSecretReader, engineIO } from '../../src/runtime/engine-io.ts';
import { createExecutor } from '../../src/runtime/executor.ts';
import { createPace } from '../../src/runtime/pace.ts';
import { createReconciler, type Reconciler } from '../../src/runtime/reconciler.ts';
import { createStatusWriter } from '../../src/runtime/status-writer.ts';
import { blankClaims } from '../support/blank-claims.ts';
import { type ControllerParts, controllerParts } from '../support/controller-parts.ts';
import { type TestEngine, testCluster, testEngine } from '../support/test-engine.ts';

const key = 'test/apps/db';
let parts: ControllerParts;
let engine: TestEngine;
let reconciler: Reconciler;

beforeEach(async () => {
  engine = testEngine();
  parts = await controllerParts([testCluster('db')], [engine]);
  const { cache, client, clock, log } = parts;
  const secrets = createSecretReader({ client, clock, onValue: () => undefined });
  const dial = () => Promise.reject(new Error('refused'));
  reconciler = createReconciler({
    client,
    cache,
    executor: createExecutor({ client, cache }),
    status: createStatusWriter({ client, cache, clock }),
    pace: createPace(clock),
    io: (cluster, signal) =>
      engineIO({ namespace: cluster.metadata.namespace, secrets, claims: blankClaims, dial, clock, signal }),
    log,
    onOutcome: () => undefined,
  });
});
afterEach(() => parts.stop());

const finds = (plan: Plan, act: () => Promise<void>): void => {
  engine.find = () => ({ plan, act });
};
const act: ActStep = { type: 'act', action: { type: 'test.act' }, summary: 'ask for something' };

describe('a plan', () => {
  it.each<readonly [story: string, annotations: Readonly<Record<string, string>>, asked: number]>([
    ['taken back', {}, 0],
    ['changed', { 'clusterwright.dev/choose-primary': 'db-1' }, 0],
    [
      'left as it was, beside another of somebody else',
      { 'clusterwright.dev/choose-primary': 'db-0', 'a.b/c': 'd' },
      1,
    ],
  ])('that takes something away on request is not done where the request was %s', async (_, annotations, asked) => {
    const now = parts.api.get('RedisCluster', 'db') as KubeObject;
    const requested = { ...now.metadata, annotations: { 'clusterwright.dev/choose-primary': 'db-0' } };
    const seen = { ...now, metadata: { ...requested, generation: 1 }, status: { observedGeneration: 1 } };
    parts.api.put({ ...now, metadata: { ...now.metadata, annotations } });
    let did = 0;
    finds({ steps: [{ ...act, takesAway: true }], outcome: settled }, async () => void did++);
    await reconciler.reconcile(engine, seen, key, new AbortController().signal);
    expect(did).toBe(asked);
  });

  it('that takes something away as a whole looks again, whatever its steps are, and however new the cluster is', async () => {
    const now = parts.api.get('RedisCluster', 'db') as KubeObject;
    const seen = { ...now, metadata: { ...now.metadata, annotations: { 'clusterwright.dev/recover-from': 'x' } } };
    let did = 0;
    finds({ steps: [act], outcome: settled, takesAway: true }, async () => void did++);
    await reconciler.reconcile(engine, seen, key, new AbortController().signal);
    expect(did).toBe(0);
  });

  it('whose action may be refused for long is followed when it says, not at once', async () => {
    const cluster = parts.api.get('RedisCluster', 'db') as KubeObject;
    const look = () => reconciler.reconcile(engine, cluster, key, new AbortController().signal);
    const outcome = wait('Joining', 'it catches up', 5_000);
    finds({ steps: [{ ...act, unhurried: true }], outcome }, async () => undefined);
    expect((await look()).again).toBe(5_000);
    finds({ steps: [act], outcome }, async () => undefined);
    expect((await look()).again).toBe(50);
  });
});
