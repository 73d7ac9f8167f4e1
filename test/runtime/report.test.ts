/** What a pass says once its steps have been taken, and when the next one is due. */
import { describe, expect, test } from 'vitest';
import { desiredConditions } from '../../src/engine/desired-conditions.ts';
import type { StatusReport } from '../../src/engine/engine.ts';
import { type ObjectStep, type Outcome, settled, wait } from '../../src/plan/plan.ts';
import { StepFailed } from '../../src/runtime/executor.ts';
import { isPremature, nextLook, saidPlan, saidStatus } from '../../src/runtime/report.ts';
import { redisCluster } from '../support/redis-situation.ts';

const ready: StatusReport = {
  phase: 'Ready',
  conditions: desiredConditions('True', 'AllMembersReady', 'all is well', {}),
};
const updating: StatusReport = {
  phase: 'Updating',
  conditions: desiredConditions('False', 'Updating', 'changes are being applied', { progressing: true }),
};
const failed: StatusReport = {
  phase: 'Failed',
  conditions: desiredConditions('False', 'AgentFailed', 'no room', { degraded: true, stalled: true }),
};
const stalled = { type: 'Stalled', reason: 'None', message: '' } as const;
const idle = {
  done: [],
  earlier: undefined,
  due: { steps: [], held: [], kept: [], unreached: [], undone: [] },
  failure: undefined,
  failures: [],
  ineffective: [],
} as const;

test.each<readonly [story: string, outcome: Outcome, claim: StatusReport, again: number | undefined]>([
  ['all is well', settled, ready, undefined],
  ['nothing is waited for, and it is not Ready', settled, updating, 30_000],
  ['a Backup has failed, which is its end', settled, failed, undefined],
  [
    'nothing is waited for, and it says that it is not stalled',
    settled,
    { ...updating, conditions: [...updating.conditions, { ...stalled, status: 'False' }] },
    30_000,
  ],
  ['something is waited for, of which a watch tells', wait('Restarting', 'a pod restarts'), updating, undefined],
])('%s', (_, outcome, claim, again) => {
  expect(nextLook({ steps: [], outcome }, claim, undefined, idle, 0).again).toBe(again);
});

test.each([
  [999, true],
  [1000, undefined],
  [undefined, undefined],
])('actions are looked after soon: by a look that is due after %s ms, %s', (after, hasActed) => {
  expect(nextLook({ steps: [], outcome: settled }, ready, after, idle, 0).hasActed).toBe(hasActed);
});

const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'db' } };
const create: ObjectStep = { type: 'create', object };
const issue: ObjectStep = {
  type: 'issue',
  object: { ...object, kind: 'Secret' },
  issue: { what: 'copy', part: 'ca', from: 'db-ca', source: '1', seen: '1' },
  reason: 'a test',
};
const apply = { type: 'apply', object, changes: [{ path: 'data[a]', to: 'b' }] } as const;
const restarting = wait('Restarting', 'a pod restarts');
const failure = new Error('no answer');
const failedStep = new StepFailed(create, failure);

describe('what is left of a plan', () => {
  test.each<readonly [story: string, steps: readonly ObjectStep[], failed: object, left: number]>([
    ['what was made is there', [create, issue], { done: [create, issue] }, 0],
    ['what waits is not there', [create, issue], { done: [issue] }, 1],
    ['what was changed has yet to show', [create, apply], {}, 2],
    ['what failed is not there', [create], { failure }, 1],
    ['nor is what failed without holding others up', [create], { failures: [failedStep] }, 1],
    ['and what was made beside it is', [issue, create], { done: [issue], failures: [failedStep] }, 1],
  ])('%s', (_, steps, failed, left) => {
    const said = saidPlan({ steps, outcome: settled }, { ...idle, ...failed }, undefined);
    expect([said.steps.length, said.outcome]).toEqual([left, settled]);
  });

  test.each<readonly [story: string, outcome: Outcome, reason: string]>([
    ['a change without an effect is said where nothing else is waited for', settled, 'FieldsKept'],
    ['what is waited for goes before it', restarting, 'Restarting'],
  ])('%s', (_, outcome, reason) => {
    const said = saidPlan({ steps: [apply], outcome }, { ...idle, ineffective: [apply] }, undefined);
    expect(said.outcome).toMatchObject({ reason });
  });
});

test('a step that failed for want of an answer is no refusal', () => {
  const said = saidStatus(redisCluster(), ready, { steps: [], outcome: settled }, { ...idle, failures: [failedStep] });
  expect(said).toEqual(ready);
});

test.each([
  ['it was Ready on the spec before', 1, true],
  ['it has been so on the present one', 2, false],
  ['nobody has looked at it before', -1, false],
])('Ready is too early where a change is under way: %s', (_, observedGeneration, early) => {
  const cluster = redisCluster({}, { generation: 2 }, { observedGeneration });
  expect(isPremature(cluster, ready, [apply], idle, undefined)).toBe(early);
});
