/** Somebody undoes a change, and an action behind it is asked for again and again, of a cluster that is Ready on the spec before. */
import { expect, it } from 'vitest';
import { objectSteps } from '../../src/plan/objects.ts';
import { settled } from '../../src/plan/plan.ts';
import { changeSpec, undoesConfigMap } from '../support/access-wishes.ts';
import { playPasses } from '../support/played-passes.ts';
import { act, reconcilerRig } from '../support/reconciler-rig.ts';
import { testChild } from '../support/test-engine.ts';
import { turns } from '../support/virtual-clock.ts';

it('its status says what is the case within half a minute', async () => {
  const rig = await reconcilerRig();
  const wanted = testChild(rig.cluster(), 'ConfigMap', 'ours');
  const undo = undoesConfigMap(rig);
  await turns();
  await rig.pass();
  await changeSpec(rig);
  rig.engine.find = (_, children) => ({
    plan: { steps: [...objectSteps([{ object: wanted }], children), act], outcome: settled },
  });
  const began = rig.clock.monotonic();
  let writtenAt: number | undefined;
  await playPasses(rig, 120_000, undo, () => {
    if (rig.status().observedGeneration === 2) writtenAt ??= rig.clock.monotonic() - began;
  });
  await rig.stop();
  expect(writtenAt ?? Number.POSITIVE_INFINITY).toBeLessThan(30_000);
});
