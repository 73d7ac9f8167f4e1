/** A resource that is about another one, such as a Backup about a cluster: which one a look at it is given. */
import { expect, it, onTestFinished } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import type { ObjectReference } from '../../src/engine/engine.ts';
import { settled } from '../../src/plan/plan.ts';
import { reconcilerRig } from '../support/reconciler-rig.ts';
import { ready, testCluster, testEngine } from '../support/test-engine.ts';

const source: ObjectReference = { kind: 'RedisCluster', name: 'source' };
const there = testCluster('source');
const going = { finalizers: ['example.com/x'], deletionTimestamp: '2030-01-01T00:00:00Z' };

it.each<readonly [story: string, referral: ObjectReference | undefined, others: readonly KubeObject[], given: unknown]>(
  [
    ['that is there', source, [there], 'source'],
    ['that is none of its namespace', source, [testCluster('source', {}, { namespace: 'other' })], undefined],
    ['that is not there', source, [], undefined],
    ['that is on its way out', source, [testCluster('source', {}, going)], undefined],
    ['whose spec is not valid', source, [testCluster('source', { replicas: 'many' })], undefined],
    ['of a kind that nobody looks after', { ...source, kind: 'EtcdCluster' }, [there], undefined],
    ['where it is about nothing', undefined, [there], undefined],
  ],
)('a look at one is given the other %s', async (_, referral, others, given) => {
  const looked: unknown[] = [];
  const engine = testEngine({
    targetRef: () => referral as ObjectReference,
    assess: async (_cluster, _children, _io, other) => {
      looked.push(other?.metadata.name);
      return {
        plan: { steps: [], outcome: settled },
        status: { phase: 'Ready', conditions: ready },
        act: async () => undefined,
      };
    },
  });
  const rig = await reconcilerRig([testCluster('db'), ...others], engine);
  onTestFinished(() => rig.stop());
  await rig.pass();
  expect(looked).toEqual([given]);
});
