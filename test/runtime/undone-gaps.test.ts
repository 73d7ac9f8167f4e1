/** Objects that somebody deletes so and so long after each creation, and a repair behind all of them in the plan. */
import { expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import type { Step } from '../../src/plan/plan.ts';
import { createContested } from '../../src/runtime/contested.ts';

const cluster = { uid: 'one', generation: 1 };
const repair: Step = { type: 'act', action: { type: 'test.repair' }, summary: 'repair' };
const create = (i: number): Step => {
  const object: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `${i}` } };
  return { type: 'create', object };
};

it.each([
  { delays: [0], first: [0] },
  { delays: [0, 200], first: [7_625, 5_468] },
  { delays: [0, 2_500, 1_000], first: [10_566, 3_548, 1_520] },
  { delays: [200, 12_000, 4_000, 4_000, 2_500, 2_500], first: [10_847, 14_884, 4_232, 11_783, 3_656, 9_634] },
])('the repair waits no longer than one pause, 2 s, where they go after $delays ms', ({ delays, first }) => {
  let now = 0;
  const contested = createContested({ monotonic: () => now });
  const goneAt = [...first];
  let reached = 0;
  let longest = 0;
  for (; now < 120_000; now += 50) {
    const missing = goneAt.flatMap((at, i) => (at <= now ? [i] : []));
    const { steps } = contested.due('key', [...missing.map(create), repair], cluster);
    const made = steps.filter((step) => step.type === 'create');
    for (const { object } of made)
      goneAt[Number(object.metadata.name)] = now + (delays[Number(object.metadata.name)] ?? 0);
    contested.made('key', made, cluster);
    if (steps.includes(repair)) reached = now;
    longest = Math.max(longest, now - reached);
  }
  expect(longest).toBeLessThanOrEqual(2_050);
});
