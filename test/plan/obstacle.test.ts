/** What a plan says once some of its steps are held: the obstacle's words where it waits for those steps, its own elsewhere. */
import { expect, it } from 'vitest';
import { pods } from '../../src/api/resource.ts';
import { type Obstruction, withoutObstructed } from '../../src/plan/obstacle.ts';
import { blocked, type Outcome, type Step, settled, wait } from '../../src/plan/plan.ts';
import { act } from '../support/reconciler-rig.ts';

const object = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'db' } };
const apply: Step = { type: 'apply', object, changes: [] };
const stop: Step = { type: 'delete', ref: { resource: pods, name: 'db-0', uid: 'u' }, reason: 'it is outdated' };

const refused = blocked('TemplateRefused', 'no', 30_000);
const doubt = wait('TemplateNotJudged', 'who knows', 10_000);
const repairing = wait('Repairing', 'members are brought in line', 500);
const updating = wait('Updating', 'the members restart');
const lost = blocked('DataLost', 'volumes are gone');

it.each<readonly [story: string, held: Step, found: Outcome, own: Obstruction, outcome: Outcome]>([
  ['nothing else is waited for', apply, settled, refused, refused],
  ['what is held is waited for', apply, updating, refused, refused],
  ['the database moves meanwhile', apply, repairing, refused, repairing],
  ['a person is asked for something else', apply, lost, refused, { ...lost, recheckMs: 30_000 }],
  ['a pod was to end', stop, repairing, refused, refused],
  ['a pod was to end, for now', stop, updating, doubt, doubt],
  ['a pod was to end, and a person is asked for something else', stop, lost, doubt, { ...lost, recheckMs: 10_000 }],
])('%s', (_, held, found, own, outcome) => {
  const obstructed = withoutObstructed({ steps: [act, held], outcome: found }, [{ steps: [held], outcome: own }]);
  expect(obstructed.plan).toEqual({ steps: [act], outcome });
  expect(obstructed.outcome).toEqual(outcome === own ? own : undefined);
});

it('of several obstacles those that last are told, and the first look is that of the earliest', () => {
  const both = [
    { steps: [stop], outcome: doubt },
    { steps: [apply], outcome: refused },
  ];
  const { plan } = withoutObstructed({ steps: [stop, apply], outcome: settled }, both);
  expect(plan).toEqual({ steps: [], outcome: { ...refused, recheckMs: 10_000 } });
});

it.each<readonly [story: string, found: Outcome, outcome: Outcome]>([
  [
    'is looked at again sooner',
    wait('MembersNotReady', 'db-1 has no pod'),
    wait('MembersNotReady', 'db-1 has no pod', 30_000),
  ],
  ['is looked at again as soon', repairing, repairing],
  ['has nothing to do', settled, settled],
])('an obstacle that holds nothing is said, and the plan stays: it %s', (_, found, outcome) => {
  const condition = { type: 'TemplateRefused', status: 'True', reason: 'Refused', message: 'no' } as const;
  const plan = { steps: [act], outcome: found };
  expect(withoutObstructed(plan, [{ steps: [], outcome: refused, condition }])).toEqual({
    plan: { ...plan, outcome },
    outcome: undefined,
    conditions: [condition],
  });
  const doubtful = withoutObstructed({ steps: [stop], outcome: updating }, [
    { steps: [], outcome: refused, condition },
    { steps: [stop], outcome: doubt },
  ]);
  expect([doubtful.plan.outcome, doubtful.conditions]).toEqual([doubt, [condition]]);
});

it('without an obstacle the plan is as it was', () => {
  const plan = { steps: [stop], outcome: settled };
  expect(withoutObstructed(plan, [])).toEqual({ plan, outcome: undefined, conditions: [] });
});
