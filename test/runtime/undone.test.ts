/** What somebody undoes by a write of their own, and what the status says meanwhile. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { configMaps } from '../../src/api/resource.ts';
import { accessMayFail } from '../../src/plan/access.ts';
import { difference } from '../../src/plan/difference.ts';
import { exactly } from '../../src/plan/objects.ts';
import { type Step, settled } from '../../src/plan/plan.ts';
import { createContested } from '../../src/runtime/contested.ts';
import { act, type ReconcilerRig, reconcilerRig } from '../support/reconciler-rig.ts';
import { testChild } from '../support/test-engine.ts';
import { turns } from '../support/virtual-clock.ts';

let rig: ReconcilerRig;

beforeEach(async () => {
  rig = await reconcilerRig();
});
afterEach(() => rig.stop());

const put = (a: string): void => void rig.api.put({ ...testChild(rig.cluster(), 'ConfigMap'), data: { a } });
const writes = (): number => rig.api.writes.filter((write) => /configmaps/.test(write)).length;

/** Each write brings a pass 5 ms later. `during`: what happens while the action that comes after the change is asked. */
async function contest(during: () => Promise<void>): Promise<void> {
  put('theirs');
  await turns();
  rig.engine.find = (_, children) => {
    const live = children.get('ConfigMap', 'db');
    if (live === undefined) return {};
    const wanted: KubeObject = { ...testChild(rig.cluster(), 'ConfigMap'), data: { a: 'ours' } };
    const changes = difference(wanted, live);
    const steps: Step[] = changes.length === 0 ? [] : [{ type: 'apply', object: exactly(wanted, live), changes }, act];
    return { plan: { steps, outcome: settled }, act: during };
  };
  for (let i = 0; i < 400; i++) {
    await rig.pass().catch(() => undefined);
    put('theirs');
    await turns();
    await rig.clock.advance(5);
  }
}

describe('a change that is undone while the step behind it is still going on is made at growing distances', () => {
  it('where that step fails', async () => {
    await contest(async () => {
      put('theirs');
      await turns();
      throw new Error('no');
    });
    expect(writes()).toBeLessThan(50);
  });
  it('where that step succeeds', async () => {
    await contest(async () => {
      put('theirs');
      await turns();
    });
    expect(writes()).toBeLessThan(50);
  });
});

describe('an object that somebody deletes each time is made at growing distances', () => {
  async function deleted(more: object): Promise<void> {
    rig.engine.find = (_, children) => {
      const steps: Step[] =
        children.get('ConfigMap', 'db') === undefined
          ? [{ type: 'create', object: testChild(rig.cluster(), 'ConfigMap'), ...more }]
          : [];
      return { plan: { steps, outcome: settled } };
    };
    for (let i = 0; i < 3_000; i++) {
      await rig.pass().catch(() => undefined);
      if (rig.api.get('ConfigMap', 'db') !== undefined) rig.api.vanish('ConfigMap', 'db');
      await turns();
      await rig.clock.advance(10);
    }
    expect(writes()).toBeLessThan(60);
  }

  it('and told of', async () => {
    await deleted({});
    expect(rig.status().plan?.waitingFor).toBe(
      'done again and again, without an effect that shows: create ConfigMap db',
    );
  });

  it('and what the spec asks for is not called met', async () => {
    await deleted(accessMayFail);
    const words = 'create ConfigMap db: somebody undoes it each time';
    expect(rig.condition('AccessRefused')).toBe(`True Refused: ${words}`);
    expect(rig.condition('Ready')).toBe(`False AccessRefused: ${words}`);
  });

  it('which is not so where another spec, or another cluster of the name, asks for it', () => {
    const contested = createContested(rig.clock);
    const create: Step = { type: 'create', object: testChild(rig.cluster(), 'ConfigMap') };
    const held = (cluster: object) => contested.due('key', [create], cluster).held;
    contested.made('key', [create], { uid: 'one', generation: 1 });
    expect(held({ uid: 'one', generation: 1 })).toEqual([create]);
    expect(held({ uid: 'one', generation: 2 })).toEqual([]);
    expect(held({ uid: 'another', generation: 1 })).toEqual([]);
  });
});

it('a cluster of which a step fails each time is not said to be Ready in between, while a change before it is held back', async () => {
  put('theirs');
  await turns();
  rig.engine.find = (_, children) => {
    const live = children.get('ConfigMap', 'db');
    if (live === undefined) return {};
    const wanted: KubeObject = { ...testChild(rig.cluster(), 'ConfigMap'), data: { a: 'ours' } };
    const changes = difference(wanted, live);
    const apply: Step[] = changes.length === 0 ? [] : [{ type: 'apply', object: exactly(wanted, live), changes }];
    return { plan: { steps: [...apply, act], outcome: settled }, act: () => Promise.reject(new Error('no')) };
  };
  const said: string[] = [];
  for (let i = 0; i < 4000; i++) {
    await rig.pass().catch(() => undefined);
    const now = rig.condition('Ready');
    if (said.at(-1) !== now) said.push(now);
    put('theirs');
    await turns();
    await rig.clock.advance(5);
  }
  expect(said.slice(1).filter((one) => one.startsWith('True'))).toEqual([]);
});

it('an object that somebody makes again each time is deleted at growing distances', async () => {
  put('theirs');
  await turns();
  rig.engine.find = (_, children) => {
    const live = children.get('ConfigMap', 'db');
    const { uid = '' } = live?.metadata ?? {};
    const ref = { resource: configMaps, namespace: 'apps', name: 'db', uid };
    const reason = 'the spec does not ask for it any more';
    return { plan: { steps: live === undefined ? [] : [{ type: 'delete', ref, reason }], outcome: settled } };
  };
  for (let i = 0; i < 400; i++) {
    await rig.pass().catch(() => undefined);
    if (rig.api.get('ConfigMap', 'db') === undefined)
      rig.api.put({
        ...testChild(rig.cluster(), 'ConfigMap'),
        metadata: { ...testChild(rig.cluster(), 'ConfigMap').metadata, uid: `made-${i}` },
      });
    await turns();
    await rig.clock.advance(5);
  }
  expect(writes()).toBeLessThan(50);
});

it('a cluster whose names are taken stays Blocked while a change before it is held back', async () => {
  put('theirs');
  rig.api.put({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'db', namespace: 'apps' } });
  await turns();
  rig.engine.find = (_, children) => {
    const live = children.get('ConfigMap', 'db');
    if (live === undefined) return {};
    const wanted: KubeObject = { ...testChild(rig.cluster(), 'ConfigMap'), data: { a: 'ours' } };
    const changes = difference(wanted, live);
    const apply: Step[] = changes.length === 0 ? [] : [{ type: 'apply', object: exactly(wanted, live), changes }];
    const service: Step = { type: 'create', object: { ...testChild(rig.cluster(), 'ConfigMap'), kind: 'Service' } };
    return { plan: { steps: [...apply, service], outcome: settled } };
  };
  const said = new Set<string>();
  for (let i = 0; i < 2000; i++) {
    await rig.pass().catch(() => undefined);
    said.add(rig.condition('Ready'));
    put('theirs');
    await turns();
    await rig.clock.advance(5);
  }
  expect([...said]).toEqual([expect.stringMatching(/^False NameConflict/)]);
});

it('the same object may be deleted again at once: its end may not be seen yet', () => {
  const cluster = { uid: 'one', generation: 1 };
  const contested = createContested(rig.clock);
  const remove = (uid: string): Step => ({
    type: 'delete',
    ref: { resource: configMaps, namespace: 'apps', name: 'db', uid },
    reason: 'the spec does not ask for it any more',
  });
  contested.made('key', [remove('one')], cluster);
  expect(contested.due('key', [remove('one')], cluster).held).toEqual([]);
  expect(contested.due('key', [remove('another')], cluster).held).toEqual([remove('another')]);
});
