/** How often a volume expansion that the API server refuses is asked for, while the planner looks at the cluster every second. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { persistentVolumeClaims } from '../../src/api/resource.ts';
import { desiredConditions } from '../../src/engine/desired-conditions.ts';
import { type Step, settled, wait } from '../../src/plan/plan.ts';
import type { Claim } from '../../src/resources/children.ts';
import { ApiError } from '../../src/runtime/api-error.ts';
import { StepFailed } from '../../src/runtime/executor.ts';
import { createRefusalPace } from '../../src/runtime/refusal-pace.ts';
import { act, type ReconcilerRig, reconcilerRig } from '../support/reconciler-rig.ts';
import { testClaim } from '../support/test-engine.ts';
import { turn } from '../support/virtual-clock.ts';

const refusal = 'exceeded quota: disks';
const small = 'storage.size is 10Gi, and data-db-0 has 1Gi';

let rig: ReconcilerRig;
/** When the API server was asked, in seconds. */
let asked: number[];
let answer: { status: number; reason: string };
let size: string;
let more: readonly Step[];

beforeEach(async () => {
  await begin([]);
});
afterEach(() => rig.stop());

/** A controller that starts anew, over what is there. */
async function begin(objects: readonly KubeObject[]): Promise<void> {
  rig = await reconcilerRig(objects.length === 0 ? undefined : objects);
  if (objects.length === 0) rig.api.put(testClaim(rig.cluster()));
  await settle();
  asked = [];
  answer = { status: 403, reason: 'Forbidden' };
  size = '10Gi';
  more = [];
  rig.api.intercept = ({ method, path }) => {
    if (method !== 'PATCH' || !path.includes('persistentvolumeclaims')) return undefined;
    asked.push(rig.clock.monotonic() / 1000);
    const body = JSON.stringify({ kind: 'Status', reason: answer.reason, message: refusal });
    return Promise.resolve({ status: answer.status, headers: {}, body });
  };
  rig.engine.find = () => ({
    plan: { steps: [expand(), ...more], outcome: wait('MembersNotReady', 'db-0 is away', 1_000) },
    status: {
      phase: 'Degraded',
      conditions: [
        ...desiredConditions('False', 'MembersNotReady', 'db-0 is away', { degraded: true }),
        { type: 'VolumesTooSmall', status: 'True', reason: 'ExpansionPending', message: small },
      ],
    },
  });
}

async function settle(): Promise<void> {
  for (let i = 0; i < 4; i++) await turn();
}

const claim = (): KubeObject => {
  const found = rig.api.get('PersistentVolumeClaim', 'data-db-0');
  if (found === undefined) throw new Error('the claim is gone');
  return found;
};

function expand(): Step {
  const { name, uid = '' } = claim().metadata;
  return {
    type: 'patch',
    optional: true,
    ref: { resource: persistentVolumeClaims, namespace: 'apps', name, uid },
    patch: { spec: { resources: { requests: { storage: size } } } },
    changes: [{ path: 'spec.resources.requests.storage', from: '1Gi', to: size }],
  };
}

/** One look each second, as the planner asks for; `each` after every one. */
async function seconds(count: number, each: () => unknown = () => undefined): Promise<void> {
  for (let second = 0; second < count; second++) {
    await rig.pass().catch(() => undefined);
    each();
    await rig.clock.advance(1_000);
  }
}

function wants(other: string): void {
  size = other;
}

const gaps = (): number[] => asked.slice(1).map((at, index) => at - (asked[index] ?? 0));

describe('an expansion that is refused', () => {
  it('is asked for after 1, 2, 4 … s, and then each minute', async () => {
    await seconds(600);
    expect(gaps().slice(0, 9)).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
    expect(asked.length).toBeLessThan(20);
  });

  it('is told of all the while, in the words of the answer', async () => {
    const told = new Set<string>();
    await seconds(100, () => told.add(rig.condition('VolumesTooSmall')));
    expect([...told]).toEqual([expect.stringMatching(/^True ExpansionRefused: .*exceeded quota: disks$/)]);
    const warnings = rig.log.entries.filter(({ message }) => message.includes('others need not wait for'));
    expect(warnings.length).toBe(asked.length);
  });

  it('brings the next look itself, at its time', async () => {
    rig.engine.find = () => ({ plan: { steps: [expand()], outcome: wait('MembersNotReady', 'db-0 is away') } });
    expect((await rig.pass()).again).toBeUndefined();
    await rig.clock.advance(400);
    expect((await rig.pass()).again).toBe(600);
  });

  it('brings no look where nothing is waited for', async () => {
    rig.engine.find = () => ({ plan: { steps: [expand()], outcome: settled } });
    await rig.pass();
    expect((await rig.pass()).again).toBeUndefined();
  });

  it('holds up no other step', async () => {
    let did = 0;
    const find = rig.engine.find;
    more = [act];
    rig.engine.find = async (...args) => ({ ...(await find(...args)), act: async () => void did++ });
    await seconds(30);
    expect([did, asked.length]).toEqual([30, 5]);
  });

  it('is remembered where another step fails after it', async () => {
    const find = rig.engine.find;
    more = [act];
    rig.engine.find = async (...args) => ({
      ...(await find(...args)),
      act: () => Promise.reject(new Error('no answer')),
    });
    await seconds(30);
    expect(gaps()).toEqual([1, 2, 4, 8]);
  });

  it.each<readonly [string, () => unknown]>([
    ['another size is wanted', () => wants('20Gi')],
    ['the claim has changed', () => rig.api.put({ ...claim(), status: { capacity: { storage: '1Gi' } } })],
    ['the claim was made again', () => rig.api.put({ ...claim(), metadata: { ...claim().metadata, uid: 'other' } })],
    [
      'the spec has changed, though the size is the same',
      () => rig.api.put({ ...rig.cluster(), spec: { replicas: 5 } }),
    ],
  ])('is asked for at once, and often again, where %s', async (_, change) => {
    await seconds(100);
    asked = [];
    change();
    await settle();
    await seconds(8);
    expect(asked.map((at) => at - (asked[0] ?? 0))).toEqual([0, 1, 3, 7]);
    expect(asked[0]).toBe(100);
  });

  it('is asked for at once by a controller that starts anew', async () => {
    await seconds(100);
    const objects = [rig.cluster(), claim()];
    await rig.stop();
    await begin(objects);
    await rig.pass();
    expect(asked).toEqual([0]);
  });
});

it.each([
  ['the API server has failed', 500, 'InternalError'],
  ['the claim is another one by now', 409, 'Conflict'],
])('what is no refusal waits for nothing: %s', async (_, status, reason) => {
  answer = { status, reason };
  await seconds(10);
  expect(asked.length).toBe(10);
});

it('whatever is refused and whenever somebody looks, no claim is asked for more often than its pauses allow', () => {
  const looks = fc.array(fc.record({ after: fc.nat(90_000), which: fc.subarray([0, 1, 2]), refused: fc.boolean() }), {
    maxLength: 200,
  });
  fc.assert(
    fc.property(looks, (all) => {
      let now = 0;
      const pace = createRefusalPace({ monotonic: () => now });
      const cluster = { apiVersion: 'v1', kind: 'X', metadata: { name: 'db', namespace: 'apps' }, spec: {} };
      const plannedFor = { cluster, children: { claims: [] as readonly Claim[] } };
      const steps = [0, 1, 2].map((n): Step => {
        const ref = { resource: persistentVolumeClaims, namespace: 'apps', name: `data-${n}`, uid: `uid-${n}` };
        return { type: 'patch', ref, patch: {}, changes: [{ path: 'spec.resources.requests.storage', to: '2Gi' }] };
      });
      const last = new Map<Step, { at: number; pause: number }>();
      for (const { after, which, refused } of all) {
        now += after;
        const wanted = [...which.flatMap((n) => steps[n] ?? []), act];
        const due = pace.due(wanted, plannedFor);
        const held = wanted.filter((step) => !due.steps.includes(step));
        // What is due and what is held make up the plan, in its order; each that is held has its answer.
        expect(due.steps).toEqual(wanted.filter((step) => !held.includes(step)));
        expect(due.standing.map(({ step }) => step)).toEqual(held);
        for (const step of held) {
          const { at, pause } = last.get(step) ?? { at: now, pause: 0 };
          expect(now - at).toBeLessThan(pause);
          expect(due.afterMs).toBeLessThanOrEqual(at + pause - now);
        }
        const asks = due.steps.filter((step) => step.type === 'patch');
        const fields = { status: refused ? 403 : 503, reason: 'x', message: 'no', method: 'PATCH', path: '/' };
        pace.failed(
          asks.map((step) => new StepFailed(step, new ApiError(fields))),
          plannedFor,
        );
        for (const step of asks) {
          const { at, pause } = last.get(step) ?? { at: now, pause: 0 };
          expect(now - at).toBeGreaterThanOrEqual(pause);
          if (!refused) continue;
          const isForgotten = now - at >= 600_000;
          last.set(step, { at: now, pause: pause === 0 || isForgotten ? 1_000 : Math.min(60_000, pause * 2) });
        }
      }
    }),
  );
});
