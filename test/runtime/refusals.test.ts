import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import type { ClusterStatus } from '../../src/api/status.ts';
import { Refused } from '../../src/engines/refused.ts';
import { type Step, settled } from '../../src/plan/plan.ts';
import { createSecretReader, engineIO } from '../../src/runtime/engine-io.ts';
import { createExecutor } from '../../src/runtime/executor.ts';
import { createPace } from '../../src/runtime/pace.ts';
import { createReconciler, type PassResult, type Reconciler } from '../../src/runtime/reconciler.ts';
import { createStatusWriter } from '../../src/runtime/status-writer.ts';
import { blankClaims } from '../support/blank-claims.ts';
import { type ControllerParts, controllerParts } from '../support/controller-parts.ts';
import { type TestEngine, testChild, testCluster, testEngine } from '../support/test-engine.ts';
import { turn } from '../support/virtual-clock.ts';

const key = 'test/apps/db';
let parts: ControllerParts;
let engine: TestEngine;
let reconciler: Reconciler;

beforeEach(async () => {
  engine = testEngine();
  parts = await controllerParts([testCluster('db')], [engine]);
  const { cache, client, clock, log } = parts;
  const secrets = createSecretReader({ client, clock, onValue: () => undefined });
  const dial = () => Promise.reject(new Error('nobody is there'));
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

const live = (): KubeObject => parts.api.get('RedisCluster', 'db') ?? testCluster('db');
const pass = (): Promise<PassResult> => reconciler.reconcile(engine, live(), key, new AbortController().signal);
const finds = (steps: readonly Step[], act?: () => Promise<void>): void => {
  engine.find = () => ({ plan: { steps, outcome: settled }, ...(act === undefined ? {} : { act }) });
};
const status = (): ClusterStatus => (live().status ?? {}) as ClusterStatus;
const condition = (type: string): string => {
  const found = status().conditions?.find((candidate) => candidate.type === type);
  return found === undefined ? 'absent' : `${found.status} ${found.reason}: ${found.message}`;
};
const act: Step = { type: 'act', action: { type: 'test.act' }, summary: 'ask for something' };
const create = (): Step => ({ type: 'create', object: testChild(live(), 'ConfigMap') });
const refuses = (): Promise<never> => Promise.reject(new Refused('SettingsRefused', 'db-0 refuses hz 9: ERR no'));

describe('a pass', () => {
  it('in which the database refuses a setting goes on, says what was refused, and does not come back for it at once', async () => {
    finds([act, create()], refuses);
    expect((await pass()).again).toBeUndefined();
    expect(parts.api.list('ConfigMap')).toHaveLength(1);
    expect(condition('SettingsRefused')).toBe('True Refused: db-0 refuses hz 9: ERR no');
    expect([status().phase, condition('Ready')]).toEqual(['Ready', expect.stringMatching(/^True/)]);
    finds([]);
    await pass();
    expect(status().conditions?.map(({ type }) => type)).not.toContain('SettingsRefused');
  });

  it('in which a setting of the new spec is refused says so for the new generation', async () => {
    const before = live();
    parts.api.put({ ...before, metadata: { ...before.metadata, generation: 2 }, status: { observedGeneration: 1 } });
    await turn();
    finds([act], refuses);
    await pass();
    expect(status().observedGeneration).toBe(2);
  });
});
