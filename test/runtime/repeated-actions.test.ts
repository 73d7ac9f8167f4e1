import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Cluster } from '../../src/api/cluster.ts';
import type { KubeObject } from '../../src/api/object.ts';
import type { ClusterStatus } from '../../src/api/status.ts';
import { type Step, settled, wait } from '../../src/plan/plan.ts';
import { createSecretReader, engineIO } from '../../src/runtime/engine-io.ts';
import { createExecutor } from '../../src/runtime/executor.ts';
import { createPace } from '../../src/runtime/pace.ts';
import { createReconciler, type PassResult, type Reconciler } from '../../src/runtime/reconciler.ts';
import { createStatusWriter } from '../../src/runtime/status-writer.ts';
import { blankClaims } from '../support/blank-claims.ts';
import { type ControllerParts, controllerParts } from '../support/controller-parts.ts';
import { type TestEngine, testCluster, testEngine } from '../support/test-engine.ts';
import { turn } from '../support/virtual-clock.ts';

let engine: TestEngine;
let parts: ControllerParts;
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
    io: (_, signal) => engineIO({ namespace: 'apps', secrets, claims: blankClaims, dial, clock, signal }),
    log,
    onOutcome: () => undefined,
  });
});
afterEach(() => parts.stop());

const cluster = (): KubeObject => parts.api.get('RedisCluster', 'db') as KubeObject;
const status = (): ClusterStatus => (cluster() as Cluster).status ?? {};
const pass = (): Promise<PassResult> =>
  reconciler.reconcile(engine, cluster(), 'test/apps/db', new AbortController().signal);

describe('an action without an effect', () => {
  const act: Step = { type: 'act', action: { type: 'test.set' }, summary: 'set loglevel notice on db-0' };

  /** As the queue would: each pass when the one before has asked for it. What the last one came to. */
  async function passesFor(ms: number): Promise<{ readonly count: number; readonly last: PassResult }> {
    const end = parts.clock.monotonic() + ms;
    for (let count = 1; ; count++) {
      const last = await pass();
      if (parts.clock.monotonic() >= end) return { count, last };
      await parts.clock.advance(last.again ?? ms);
    }
  }

  it('is not repeated twenty times a second for ever, and is not urgent for ever', async () => {
    engine.find = () => ({ plan: { steps: [act], outcome: settled } });
    expect(await pass()).toMatchObject({ again: 50, hasActed: true });
    const { count, last } = await passesFor(60_000);
    expect(count).toBeLessThan(60);
    expect(last.hasActed).toBeUndefined();
  });

  it('is repeated no more than once a second where the plan asks for a look sooner', async () => {
    engine.find = () => ({ plan: { steps: [act], outcome: wait('EndingAlarm', 'an alarm is ended', 250) } });
    expect((await passesFor(60_000)).count).toBeLessThan(90);
  });

  it('is told of where nothing else is, and holds no generation back', async () => {
    await pass();
    parts.api.put({ ...cluster(), spec: { replicas: 5 } });
    await turn();
    engine.find = () => ({ plan: { steps: [act], outcome: settled } });
    await passesFor(5_000);
    expect(status().observedGeneration).toBe(1);
    await passesFor(15_000);
    expect(status()).toMatchObject({ observedGeneration: 2, plan: { next: act.summary } });
    expect(status().plan?.waitingFor).toMatch(/^done again and again.*: set loglevel notice on db-0$/);
  });

  it('once it shows one, the next action is looked after at once again', async () => {
    engine.find = () => ({ plan: { steps: [act], outcome: settled } });
    await passesFor(30_000);
    engine.find = () => ({});
    await pass();
    engine.find = () => ({ plan: { steps: [act], outcome: settled } });
    expect(await pass()).toMatchObject({ again: 50, hasActed: true });
  });
});
