/** What is inside of another cluster goes before the finalizer of the resource that it was created for. */
import { expect, it } from 'vitest';
import { Refused } from '../../src/engine/refused.ts';
import { deletionFinalizer } from '../../src/plan/deletion.ts';
import { type Plan, settled, wait } from '../../src/plan/plan.ts';
import { act, reconcilerRig } from '../support/reconciler-rig.ts';
import { testCluster, testEngine } from '../support/test-engine.ts';

const going = { finalizers: [deletionFinalizer], deletionTimestamp: '2030-01-01T00:00:00Z' };
const dropping: Plan = { steps: [act], outcome: wait('Dropping', 'it is being dropped', 5000) };
const nothing: Plan = { steps: [], outcome: settled };

async function end(plan: Plan | undefined, spec: object, refusal?: Error) {
  let asked = 0;
  const doing = async (): Promise<void> => {
    asked++;
    if (refusal !== undefined) throw refusal;
  };
  const engine = testEngine({ removal: async () => (plan === undefined ? undefined : { plan, act: doing }) });
  const rig = await reconcilerRig([testCluster('db', spec, going)], engine);
  const failed = await rig.pass().then(
    () => undefined,
    (error: Error) => error.message,
  );
  const held = rig.api.get('RedisCluster', 'db')?.metadata.finalizers?.includes(deletionFinalizer) ?? false;
  return { asked, held, failed, ready: held ? rig.condition('Ready') : 'gone' };
}

const deleted = { deletionPolicy: 'Delete' };

it.each<[string, Plan | undefined, object, Error | undefined, Awaited<ReturnType<typeof end>>]>([
  [
    'while something is left',
    dropping,
    deleted,
    undefined,
    { asked: 1, held: true, failed: undefined, ready: 'False Dropping: it is being dropped' },
  ],
  ['once nothing is left', nothing, deleted, undefined, { asked: 0, held: false, failed: undefined, ready: 'gone' }],
  [
    'where there is no such cluster',
    undefined,
    deleted,
    undefined,
    { asked: 0, held: false, failed: undefined, ready: 'gone' },
  ],
  ['under Retain', dropping, {}, undefined, { asked: 0, held: false, failed: undefined, ready: 'gone' }],
  [
    'while it is refused',
    dropping,
    deleted,
    new Refused('StatementRefused', 'somebody is connected'),
    {
      asked: 1,
      held: true,
      failed: 'ask for something: somebody is connected',
      ready: 'False StepFailed: ask for something: somebody is connected',
    },
  ],
])('%s', async (_, plan, spec, refusal, expected) => expect(await end(plan, spec, refusal)).toEqual(expected));
