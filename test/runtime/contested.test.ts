import { afterEach, beforeEach, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { pods } from '../../src/api/resource.ts';
import { accessMayFail } from '../../src/plan/access.ts';
import { difference } from '../../src/plan/difference.ts';
import { exactly } from '../../src/plan/objects.ts';
import { type Step, settled } from '../../src/plan/plan.ts';
import { resizeAnnotation } from '../../src/plan/resize.ts';
import { createContested } from '../../src/runtime/contested.ts';
import { takenIn } from '../../src/runtime/execution.ts';
import { act, type ReconcilerRig, reconcilerRig } from '../support/reconciler-rig.ts';
import { testChild } from '../support/test-engine.ts';
import { turn } from '../support/virtual-clock.ts';

const cluster = { uid: 'one', generation: 1 };
let rig: ReconcilerRig;
let acted: number;

beforeEach(async () => {
  rig = await reconcilerRig();
  acted = 0;
});
afterEach(() => rig.stop());

/** The engine wants `data.a` to be what it says, and then an action where there is something to change. */
function wants(value: () => string, more: readonly Step[] = []): void {
  rig.engine.find = (_, children) => {
    const live = children.get('ConfigMap', 'db');
    if (live === undefined) return {};
    const wanted: KubeObject = { ...testChild(rig.cluster(), 'ConfigMap'), data: { a: value() } };
    const changes = difference(wanted, live);
    const steps: Step[] =
      changes.length === 0 ? [] : [{ type: 'apply', object: exactly(wanted, live), changes }, ...more];
    return { plan: { steps, outcome: settled }, act: async () => void acted++ };
  };
}

function put(a: string): void {
  rig.api.put({ ...testChild(rig.cluster(), 'ConfigMap'), data: { a } });
}

const applies = (): number => rig.api.writes.filter((write) => /configmaps/.test(write)).length;

/** Somebody changes the field back by a write of their own, and each write brings a pass, 5 ms later. */
async function contest(ms: number): Promise<number> {
  const end = rig.clock.monotonic() + ms;
  const before = applies();
  let passes = 0;
  let due = rig.clock.monotonic();
  while (rig.clock.monotonic() < end) {
    const count = applies();
    const { again } = await rig.pass();
    passes++;
    if (applies() > count) put('theirs');
    for (let i = 0; i < 4; i++) await turn();
    due = applies() > count ? rig.clock.monotonic() + 5 : rig.clock.monotonic() + (again ?? ms);
    await rig.clock.advance(Math.min(due, end) - rig.clock.monotonic());
  }
  expect(passes).toBeLessThan(1_000);
  return applies() - before;
}

/** Each write brings a pass, whatever pause a failure has. */
async function contestFailing(): Promise<void> {
  for (let i = 0; i < 400; i++) {
    await rig.pass().catch(() => undefined);
    put('theirs');
    for (let n = 0; n < 4; n++) await turn();
    await rig.clock.advance(5);
  }
  expect(applies()).toBeGreaterThan(1);
  expect(applies()).toBeLessThan(50);
}

it('a change that somebody undoes by a write of their own is made again at growing distances, and told of', async () => {
  put('theirs');
  await turn();
  wants(() => 'ours');
  expect(await contest(60_000)).toBeLessThan(60);
  expect(await contest(60_000)).toBeGreaterThan(10);
  expect(rig.status().plan?.waitingFor).toMatch(/^done again and again.*: update ConfigMap db$/);
  expect(rig.condition('Ready')).toMatch(/^False.*update ConfigMap db: somebody undoes it each time/);
});

it('who may connect waits for nothing that somebody undoes', () => {
  const { due, made } = createContested({ monotonic: () => 0 });
  const object = { ...testChild(rig.cluster(), 'ConfigMap') };
  const undone: Step = { type: 'apply', object, changes: [{ path: 'data.a', to: 'ours' }] };
  const policy: Step = { type: 'create', object: { ...object, kind: 'NetworkPolicy' }, ...accessMayFail };
  made('test/apps/db', [undone], cluster);
  expect(due('test/apps/db', [undone, act, policy], cluster).steps).toEqual([policy]);
});

it('what comes after it in the plan waits for it, since it may rest on it', async () => {
  put('theirs');
  await turn();
  wants(() => 'ours', [act]);
  const made = await contest(60_000);
  expect(made).toBeGreaterThan(10);
  expect(acted).toBe(made);
});

it('until it is made, no generation is called ready', async () => {
  await rig.pass();
  wants(() => 'ours');
  rig.api.put({ ...rig.cluster(), spec: { replicas: 5 } });
  for (let n = 0; n < 2; n++) {
    put('theirs');
    for (let i = 0; i < 4; i++) await turn();
    const { again } = await rig.pass();
    // It is made the first time, and waits the second time.
    if (n === 1) expect(again).toBeLessThanOrEqual(50);
    expect(rig.status()).toMatchObject({ observedGeneration: 1 });
  }
  expect(applies()).toBe(1);
});

it('changes that differ follow each other at once', async () => {
  put('0');
  await turn();
  let next = 0;
  wants(() => String(next));
  for (next = 1; next < 30; next++) {
    await rig.pass();
    for (let i = 0; i < 4; i++) await turn();
  }
  expect(applies()).toBe(29);
});

it('so is a resize of a pod that somebody undoes', () => {
  const contested = createContested(rig.clock);
  const resize: Step = {
    type: 'resize',
    ref: { resource: pods, namespace: 'apps', name: 'db-0', uid: 'uid' },
    containers: [],
    changes: [{ path: 'spec.containers[db].resources.limits.memory', to: '2Gi' }],
  };
  expect(contested.due('key', [resize], cluster).held).toEqual([]);
  contested.made('key', [resize], cluster);
  expect(contested.due('key', [resize], cluster).held).toEqual([resize]);
});

it('so is the mark of a resize, which has another time with each write', () => {
  const contested = createContested(rig.clock);
  const mark = (text: string): Step => ({
    type: 'patch',
    resizing: true,
    ref: { resource: pods, namespace: 'apps', name: 'db-0', uid: 'uid' },
    patch: { metadata: { annotations: { [resizeAnnotation]: text } } },
    changes: [{ path: `metadata.annotations[${resizeAnnotation}]`, to: text }],
  });
  contested.made('test/apps/db', [mark('db-new,db-other 2026-11-28T12:00:00.000Z')], cluster);
  const again = mark('db-new,db-other 2026-11-28T12:00:00.005Z');
  expect(contested.due('test/apps/db', [again], cluster).held).toEqual([again]);
  const another = mark('db-newer,db-new,db-other 2026-11-28T12:00:00.005Z');
  expect(contested.due('test/apps/db', [another], cluster).held).toEqual([]);
});

it('who may connect, where somebody undoes that while another step fails, is written at growing distances', async () => {
  put('theirs');
  await turn();
  const fails: Step = { type: 'act', action: { type: 'test.fail' }, summary: 'ask for something' };
  rig.engine.find = (_, children) => {
    const live = children.get('ConfigMap', 'db');
    if (live === undefined) return {};
    const wanted: KubeObject = { ...testChild(rig.cluster(), 'ConfigMap'), data: { a: 'ours' } };
    const changes = difference(wanted, live);
    const access: Step[] =
      changes.length === 0 ? [] : [{ type: 'apply', object: exactly(wanted, live), changes, ...accessMayFail }];
    return {
      plan: { steps: [fails, ...access], outcome: settled },
      act: () => Promise.reject(new Error('no')),
    };
  };
  await contestFailing();
});

it('so is a change before a step that fails', async () => {
  put('theirs');
  await turn();
  wants(() => 'ours', [act]);
  const { find } = rig.engine;
  rig.engine.find = (...seen) => ({ ...find?.(...seen), act: () => Promise.reject(new Error('no')) });
  await contestFailing();
});

it('a change that the API server takes without an effect is not one of those', () => {
  const apply: Step = { type: 'apply', object: testChild(rig.cluster(), 'ConfigMap'), changes: [] };
  expect(takenIn({ done: [apply, act], ineffective: [apply] })).toEqual([act]);
});
