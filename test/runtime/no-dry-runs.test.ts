/** An operator that makes no dry runs: nothing is asked or held, and what is waited for says that templates are not judged. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { pods } from '../../src/api/resource.ts';
import { blocked, type Outcome, type Step, settled, wait } from '../../src/plan/plan.ts';
import { noDryRuns } from '../../src/runtime/template-judge.ts';
import { act, type ReconcilerRig, reconcilerRig } from '../support/reconciler-rig.ts';
import { testChild } from '../support/test-engine.ts';
import { turn } from '../support/virtual-clock.ts';

let rig: ReconcilerRig;

beforeEach(async () => {
  rig = await reconcilerRig(undefined, undefined, noDryRuns);
});
afterEach(() => rig.stop());

async function put(lacks: boolean): Promise<{ readonly set: KubeObject; readonly pod: KubeObject }> {
  const { metadata, ...child } = testChild(rig.cluster(), 'Pod');
  const pod = rig.api.put({ ...child, metadata: { ...metadata, name: 'db-0' } });
  const template = { metadata: { labels: { app: 'db' } }, spec: { containers: [] } };
  const set = rig.api.put({
    ...child,
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata,
    spec: { replicas: 3, serviceName: 'db', selector: { matchLabels: { app: 'db' } }, template },
    status: { observedGeneration: 1, replicas: lacks ? 2 : 3 },
  });
  await turn();
  return { set, pod };
}

const away = wait('MembersNotReady', 'db-1 is away');
const unjudged = 'db-1 is away; pod templates are not judged: the operator makes no dry runs (dryRuns: false)';

it.each<readonly [story: string, step: 'end' | 'write' | 'scale' | 'act', lacks: boolean, Outcome, said: object]>([
  ['a pod ends that starts again', 'end', false, away, { waitingFor: unjudged }],
  ['a template is written', 'write', false, away, { waitingFor: unjudged }],
  ['a pod is missing', 'act', true, away, { waitingFor: unjudged }],
  ['no template matters', 'act', false, away, { waitingFor: 'db-1 is away' }],
  ['only the size changes', 'scale', false, away, { waitingFor: 'db-1 is away' }],
  ['a person has to decide', 'end', false, blocked('X', 'choose'), { blockedBy: 'choose' }],
  ['nothing is waited for', 'end', false, settled, { next: 'delete Pod db-0: it runs an older template' }],
])('%s', async (_, kind, lacks, outcome, said) => {
  const { set, pod } = await put(lacks);
  const written = (path: string): Step => ({ type: 'apply', object: set, changes: [{ path, to: 'x' }] });
  const ref = { resource: pods, namespace: 'apps', name: 'db-0', uid: pod.metadata.uid ?? '' };
  const steps: Record<typeof kind, Step> = {
    end: { type: 'delete', ref, reason: 'it runs an older template' },
    write: written('spec.template.spec'),
    scale: written('spec.replicas'),
    act,
  };
  rig.finds([steps[kind]], outcome);
  await rig.pass();
  expect(rig.api.dryRuns).toEqual([]);
  expect(rig.status().plan).toMatchObject(said);
  expect(JSON.stringify(rig.status()).includes('not judged')).toBe(JSON.stringify(said).includes('not judged'));
  const done: Record<typeof kind, readonly string[]> = {
    end: ['DELETE pods/db-0'],
    write: ['PATCH statefulsets/db'],
    scale: ['PATCH statefulsets/db'],
    act: [],
  };
  expect(rig.api.writes.filter((write) => !write.endsWith('/status'))).toEqual(done[kind]);
});
