/** Writes that bring the next pass by themselves, or that somebody answers with a write, and that have no pauses. */
import { afterEach, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { deletionFinalizer } from '../../src/plan/deletion.ts';
import { objectSteps } from '../../src/plan/objects.ts';
import { settled, wait } from '../../src/plan/plan.ts';
import { playPasses } from '../support/played-passes.ts';
import { type ReconcilerRig, reconcilerRig } from '../support/reconciler-rig.ts';
import { testChild, testCluster } from '../support/test-engine.ts';
import { turns } from '../support/virtual-clock.ts';

let rig: ReconcilerRig;
afterEach(() => rig.stop());

it('what the last backup of a cluster needs is made at growing distances where somebody deletes it', async () => {
  const going = { finalizers: [deletionFinalizer], deletionTimestamp: '2030-01-01T00:00:00Z' };
  const spec = { deletionPolicy: 'Snapshot', backup: { target: { claim: { name: 'a' } } } };
  rig = await reconcilerRig([testCluster('db', spec, going)]);
  rig.engine.lastBackup = (_cluster, children) => ({
    steps: objectSteps([{ object: testChild(rig.cluster(), 'ConfigMap') }], children),
    outcome: wait('LastBackup', 'a last backup is taken'),
  });
  await playPasses(rig, 20_000, () => {
    if (rig.api.get('ConfigMap', 'db') === undefined) return false;
    rig.api.vanish('ConfigMap', 'db');
    return true;
  });
  expect(rig.api.writes.filter((write) => /^POST .*configmaps/.test(write)).length).toBeLessThan(60);
});

/** Passes for 20 s, each on news from the watch or when one asked for it. Returns how often a field was applied that an admission webhook takes back. */
async function appliesOf(stamp: (n: number) => Readonly<Record<string, string>>): Promise<number> {
  rig = await reconcilerRig();
  const wanted = testChild(rig.cluster(), 'ConfigMap', 'ours');
  rig.api.put({ ...wanted, data: { data: 'theirs' } });
  await turns();
  let applies = 0;
  rig.api.intercept = ({ method, path }) => {
    if (method !== 'PATCH' || !path.includes('/configmaps/')) return undefined;
    const live = rig.api.get('ConfigMap', 'db') as KubeObject;
    const annotations = { ...live.metadata.annotations, ...stamp(applies++) };
    const stored = rig.api.put({ ...live, metadata: { ...live.metadata, annotations } });
    return Promise.resolve({ status: 200, headers: {}, body: JSON.stringify(stored) });
  };
  rig.engine.find = (_, children) => ({
    plan: { steps: objectSteps([{ object: wanted }], children), outcome: settled },
  });
  let isNews = true;
  rig.cache.onChildChange(() => {
    isNews = true;
  });
  let due = 0;
  for (const end = rig.clock.monotonic() + 20_000; rig.clock.monotonic() < end; ) {
    if (isNews || rig.clock.monotonic() >= due) {
      isNews = false;
      due = rig.clock.monotonic() + ((await rig.pass()).again ?? Number.POSITIVE_INFINITY);
      await turns();
    }
    await rig.clock.advance(25);
  }
  return applies;
}

it('a field that a webhook takes back is applied seldom', async () => {
  expect(await appliesOf(() => ({}))).toBeLessThan(60);
});

it('also where another webhook stamps each write, so that each brings the next pass', async () => {
  expect(await appliesOf((n) => ({ 'audit.example/changed-at': `${n}` }))).toBeLessThan(60);
});

it('an object that somebody makes anew each time, under another UID, is changed at growing distances', async () => {
  rig = await reconcilerRig();
  const wanted = testChild(rig.cluster(), 'ConfigMap', 'ours');
  const theirs = (uid: string): KubeObject => ({
    ...wanted,
    metadata: { ...wanted.metadata, uid },
    data: { data: 'theirs' },
  });
  rig.api.put(theirs('theirs-0'));
  await turns();
  rig.engine.find = (_, children) => ({
    plan: { steps: objectSteps([{ object: wanted }], children), outcome: settled },
  });
  let made = 0;
  await playPasses(rig, 20_000, () => {
    const { data } = rig.api.get('ConfigMap', 'db') as KubeObject & { readonly data: { readonly data: string } };
    if (data.data === 'theirs') return false;
    rig.api.vanish('ConfigMap', 'db');
    rig.api.put(theirs(`theirs-${++made}`));
    return true;
  });
  expect(made).toBeLessThan(60);
});
