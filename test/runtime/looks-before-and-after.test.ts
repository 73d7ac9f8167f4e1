/** What a plan says of itself as a whole, and of an action: whether to look again before it, and when after it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { objectSteps } from '../../src/plan/objects.ts';
import { type Plan, settled, wait } from '../../src/plan/plan.ts';
import { act, type ReconcilerRig, reconcilerRig, rigKey } from '../support/reconciler-rig.ts';
import { testChild } from '../support/test-engine.ts';
import { turn } from '../support/virtual-clock.ts';

let rig: ReconcilerRig;

beforeEach(async () => {
  rig = await reconcilerRig();
});
afterEach(() => rig.stop());

const finds = (plan: Plan, act: () => Promise<void>): void => {
  rig.engine.find = () => ({ plan, act });
};

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
    const now = rig.cluster();
    const requested = { ...now.metadata, annotations: { 'clusterwright.dev/choose-primary': 'db-0' } };
    const seen = { ...now, metadata: { ...requested, generation: 1 }, status: { observedGeneration: 1 } };
    rig.api.put({ ...now, metadata: { ...now.metadata, annotations } });
    let did = 0;
    finds({ steps: [{ ...act, takesAway: true }], outcome: settled }, async () => void did++);
    await rig.pass(seen);
    expect(did).toBe(asked);
  });

  it('that takes something away as a whole looks again, whatever its steps are, and however new the cluster is', async () => {
    const now = rig.cluster();
    const seen = { ...now, metadata: { ...now.metadata, annotations: { 'clusterwright.dev/recover-from': 'x' } } };
    let did = 0;
    finds({ steps: [act], outcome: settled, takesAway: true }, async () => void did++);
    await rig.pass(seen);
    expect(did).toBe(0);
  });

  it('whose action may be refused for long is followed when it says, not at once', async () => {
    const outcome = wait('Joining', 'it catches up', 5_000);
    finds({ steps: [{ ...act, unhurried: true }], outcome }, async () => undefined);
    expect((await rig.pass()).again).toBe(5_000);
    finds({ steps: [act], outcome }, async () => undefined);
    expect((await rig.pass()).again).toBe(50);
  });
});

describe('a change of an object', () => {
  it.each<readonly [story: string, meanwhile: 'gone' | 'another', left: readonly string[]]>([
    ['that is gone by now makes it not again', 'gone', []],
    ['in whose place there is one of somebody else does not take that', 'another', ['theirs']],
  ])('%s', async (_, meanwhile, left) => {
    const child = testChild(rig.cluster(), 'ConfigMap', 'old');
    rig.api.put(child);
    await turn();
    rig.api.lag();
    rig.api.vanish('ConfigMap', 'db');
    if (meanwhile === 'another') {
      rig.api.put({ ...child, metadata: { name: 'db', namespace: 'apps' }, data: { data: 'theirs' } });
    }
    const wanted = testChild(rig.cluster(), 'ConfigMap', 'new');
    rig.finds(objectSteps([{ object: wanted }], rig.cache.children(rigKey)));
    await expect(rig.pass()).rejects.toThrow('update ConfigMap db');
    const found = rig.api.list('ConfigMap').map((each) => (each.data as { data: string }).data);
    expect(found).toEqual(left);
  });
});
