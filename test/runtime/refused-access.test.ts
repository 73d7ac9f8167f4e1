/** A Service for clients outside that cannot be made: nothing else waits for it, and the status tells of it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { networkPolicies, pods, services } from '../../src/api/resource.ts';
import type { Phase } from '../../src/api/status.ts';
import { desiredConditions } from '../../src/engine/desired-conditions.ts';
import { accessMayFail } from '../../src/plan/access.ts';
import { blocked, type Outcome, type Step, settled, wait } from '../../src/plan/plan.ts';
import { ApiUnreachable } from '../../src/runtime/api-error.ts';
import { act, type ReconcilerRig, reconcilerRig } from '../support/reconciler-rig.ts';
import { testChild } from '../support/test-engine.ts';

let rig: ReconcilerRig;
/** When the Service was asked for, in seconds. */
let asked: number[];
let answer: { readonly status: number; readonly reason: string } | undefined;
let acted: number;

const words = 'spec.ports[0].nodePort: Invalid value: 30001: provided port is already allocated';
const taken = { status: 422, reason: 'Invalid' };
const refusal = `create Service db-external: POST /api/v1/namespaces/apps/services: 422 Invalid: ${words}`;

const service = (): KubeObject => {
  const { metadata, ...rest } = testChild(rig.cluster(), 'ConfigMap');
  return { ...rest, kind: 'Service', metadata: { ...metadata, name: 'db-external' } };
};
const create = (): Step => ({ type: 'create', object: service(), ...accessMayFail });

function finds(outcome: Outcome = settled, steps: readonly Step[] = [create(), act]): void {
  rig.finds(steps, outcome, async () => void acted++);
}

beforeEach(async () => {
  rig = await reconcilerRig();
  [asked, answer, acted] = [[], taken, 0];
  rig.api.intercept = ({ method, path }) => {
    if (method !== 'POST' || !path.includes('/services')) return undefined;
    asked.push(rig.clock.monotonic() / 1000);
    if (answer === undefined) return undefined;
    const body = JSON.stringify({ kind: 'Status', reason: answer.reason, message: words });
    return Promise.resolve({ status: answer.status, headers: {}, body });
  };
});
afterEach(() => rig.stop());

async function seconds(count: number): Promise<void> {
  for (let second = 0; second < count; second++) {
    await rig.pass();
    await rig.clock.advance(1_000);
  }
}

describe('a refused Service for clients outside', () => {
  it('holds up no repair, and is asked for after 1, 2, 4 … s, and then each minute', async () => {
    finds(wait('Repairing', 'members are brought in line', 1_000));
    await seconds(200);
    expect(acted).toBe(200);
    expect(asked).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183]);
  });

  it('blocks a cluster that is otherwise as its spec says, in the words of the answer', async () => {
    finds(settled, [create()]);
    for (const again of [1_000, 2_000, 4_000]) {
      expect((await rig.pass()).again).toBe(again);
      expect(rig.status().phase).toBe('Blocked');
      for (const type of ['Ready', 'Progressing']) expect(rig.condition(type)).toBe(`False AccessRefused: ${refusal}`);
      expect(rig.condition('Stalled')).toBe(`True AccessRefused: ${refusal}`);
      expect(rig.condition('AccessRefused')).toBe(`True Refused: ${refusal}`);
      expect(rig.status().plan).toEqual({ next: 'create Service db-external', blockedBy: refusal });
      await rig.clock.advance(again - 400);
      expect((await rig.pass()).again).toBe(400);
      expect(rig.condition('AccessRefused')).toBe(`True Refused: ${refusal}`);
      await rig.clock.advance(400);
    }
    expect(rig.outcomes).toContainEqual(blocked('AccessRefused', refusal));
  });

  it.each<readonly [Phase, Outcome]>([
    ['Degraded', wait('QuorumLost', 'two members are away')],
    ['Degraded', settled],
  ])('is no reason of a cluster that is %s for another one, where the plan is %j', async (phase, outcome) => {
    const conditions = desiredConditions('False', 'DiskFull', 'the disk is full', { degraded: true });
    rig.engine.find = () => ({ plan: { steps: [create()], outcome }, status: { phase, conditions } });
    await rig.pass();
    expect([rig.status().phase, rig.condition('Ready')]).toEqual([phase, 'False DiskFull: the disk is full']);
    expect(rig.condition('Degraded')).toBe('True DiskFull: the disk is full');
    expect(rig.condition('AccessRefused')).toBe(`True Refused: ${refusal}`);
  });

  it('is made once the API server takes it, and all is well', async () => {
    finds(settled, [create()]);
    await rig.pass();
    answer = undefined;
    await rig.clock.advance(1_000);
    await rig.pass();
    expect(rig.api.get('Service', 'db-external')).toBeDefined();
    finds(settled, []);
    await rig.pass();
    expect([rig.status().phase, rig.condition('AccessRefused')]).toEqual(['Ready', 'absent']);
    expect(rig.condition('Ready')).toBe('True AllMembersReady: all is well');
  });

  it('is asked for at once where the spec has changed', async () => {
    finds();
    await seconds(100);
    asked = [];
    rig.api.put({ ...rig.cluster(), spec: { replicas: 5 } });
    await rig.pass();
    expect(asked.length).toBe(1);
  });
});

describe('while a step fails that others wait for', () => {
  const failing = (): void =>
    rig.finds([create(), act], wait('Repairing', 'members are brought in line', 1_000), async () => {
      throw new Error('the process hangs');
    });

  it('the refusal of one is still told of', async () => {
    failing();
    for (let second = 0; second < 5; second++) {
      await expect(rig.pass()).rejects.toThrow('the process hangs');
      expect(rig.condition('AccessRefused')).toBe(`True Refused: ${refusal}`);
      await rig.clock.advance(1_000);
    }
  });

  it('nothing is asked of an API server that does not answer', async () => {
    rig.api.intercept = ({ method, path }) => {
      if (path.includes('/services')) asked.push(rig.clock.monotonic());
      return method === 'PATCH' && path.includes('/pods/')
        ? Promise.reject(new ApiUnreachable(method, path, false, new Error('reset')))
        : undefined;
    };
    const ref = { resource: pods, namespace: 'apps', name: 'db-0', uid: 'uid' };
    finds(settled, [create(), { type: 'patch', ref, patch: {}, changes: [] }]);
    const pass = expect(rig.pass()).rejects.toThrow();
    await rig.clock.advance(60_000);
    await pass;
    expect(asked).toEqual([]);
  });
});

it('a name that is taken holds up no repair either', async () => {
  rig.api.put({ ...service(), metadata: { name: 'db-external', namespace: 'apps' } });
  answer = undefined;
  finds();
  await rig.pass();
  expect(acted).toBe(1);
  const conflict = 'create Service db-external: Service db-external exists and belongs to somebody else';
  expect(rig.condition('AccessRefused')).toBe(`True NameConflict: ${conflict}`);
  expect([rig.status().phase, rig.condition('Ready')]).toEqual(['Blocked', `False AccessRefused: ${conflict}`]);
});

it('a Service that is not answered for is a step that failed, and not a refusal', async () => {
  answer = { status: 500, reason: 'InternalError' };
  finds();
  expect((await rig.pass()).again).toBeLessThanOrEqual(1_000);
  expect(acted).toBe(1);
  expect([rig.status().phase, rig.condition('AccessRefused')]).toEqual(['Updating', 'absent']);
  expect(rig.condition('Ready')).toMatch(/^False StepFailed: create Service db-external: .* 500 InternalError/);
  expect(rig.status().plan?.waitingFor).toContain('500 InternalError');
});

describe('what has to come first fails', () => {
  const policy = (): Step => {
    const { metadata, ...rest } = testChild(rig.cluster(), 'ConfigMap');
    const object = { ...rest, apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata };
    return { type: 'create', object, ...accessMayFail };
  };

  it('an action: the NetworkPolicy is made all the same, and the cluster says what has failed', async () => {
    rig.finds([act, act, policy()], settled, () => {
      acted++;
      return Promise.reject(new Error('no answer'));
    });
    await expect(rig.pass()).rejects.toThrow('ask for something: no answer');
    expect(acted).toBe(1);
    expect(rig.api.get('NetworkPolicy', 'db')).toBeDefined();
    expect(rig.condition('Ready')).toMatch(/^False StepFailed: ask for something: no answer/);
  });

  it('an object that a webhook refuses: it is taken away all the same, once the spec does not ask for it', async () => {
    const { metadata, ...rest } = testChild(rig.cluster(), 'ConfigMap');
    const uid = 'uid-of-policy';
    const apiVersion = 'networking.k8s.io/v1';
    rig.api.put({ ...rest, apiVersion, kind: 'NetworkPolicy', metadata: { ...metadata, uid } });
    rig.api.intercept = ({ method, path }) =>
      method === 'POST' && path.includes('/configmaps')
        ? Promise.resolve({ status: 403, headers: {}, body: JSON.stringify({ kind: 'Status', reason: 'Forbidden' }) })
        : undefined;
    const ref = { resource: networkPolicies, namespace: 'apps', name: 'db', uid };
    const removal: Step = { type: 'delete', ref, reason: 'the spec does not ask for it any more', ...accessMayFail };
    finds(settled, [{ type: 'create', object: testChild(rig.cluster(), 'ConfigMap') }, act, removal]);
    await expect(rig.pass()).rejects.toThrow('create ConfigMap db');
    expect([rig.api.get('NetworkPolicy', 'db'), acted]).toEqual([undefined, 0]);
  });

  it('the name of the cluster is taken: then nothing is made', async () => {
    rig.api.put({ ...testChild(rig.cluster(), 'ConfigMap'), metadata: { name: 'db', namespace: 'apps' } });
    finds(settled, [{ type: 'create', object: testChild(rig.cluster(), 'ConfigMap') }, policy()]);
    await rig.pass();
    expect(rig.condition('Ready')).toMatch(/^False NameConflict/);
    expect(rig.api.get('NetworkPolicy', 'db')).toBeUndefined();
  });
});

it('a Service that may not go, after all, holds up nothing either', async () => {
  const metadata = { ...service().metadata, uid: 'uid-of-service' };
  rig.api.put({ ...service(), metadata });
  rig.api.intercept = ({ method }) =>
    method === 'DELETE'
      ? Promise.resolve({
          status: 403,
          headers: {},
          body: JSON.stringify({ kind: 'Status', reason: 'Forbidden', message: 'protected' }),
        })
      : undefined;
  const ref = { resource: services, namespace: 'apps', name: 'db-external', uid: 'uid-of-service' };
  finds(settled, [{ type: 'delete', ref, reason: 'the spec does not ask for it any more', ...accessMayFail }, act]);
  await rig.pass();
  expect(acted).toBe(1);
  expect(rig.condition('AccessRefused')).toMatch(/^True Refused: delete Service db-external: .*protected$/);
});
