/** When the next pass is due, by what this one has said. */
import { expect, test } from 'vitest';
import { desiredConditions } from '../../src/engine/desired-conditions.ts';
import type { StatusReport } from '../../src/engine/engine.ts';
import { type Outcome, settled, wait } from '../../src/plan/plan.ts';
import { nextLook } from '../../src/runtime/report.ts';

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
const idle = {
  due: { steps: [], held: [], undone: [] },
  failure: undefined,
  failures: [],
  ineffective: [],
} as const;

test.each<readonly [story: string, outcome: Outcome, claim: StatusReport, again: number | undefined]>([
  ['all is well', settled, ready, undefined],
  ['nothing is waited for, and it is not Ready', settled, updating, 30_000],
  ['a Backup has failed, which is its end', settled, failed, undefined],
  ['something is waited for, of which a watch tells', wait('Restarting', 'a pod restarts'), updating, undefined],
])('%s', (_, outcome, claim, again) => {
  expect(nextLook({ steps: [], outcome }, claim, undefined, idle, 0).again).toBe(again);
});
