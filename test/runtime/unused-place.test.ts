/** A cluster that has its turn to roll out and cannot use it lets the next one go on. */
import { expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { settled } from '../../src/plan/plan.ts';
import { noDryRuns } from '../../src/runtime/template-judge.ts';
import { reconcilerRig } from '../support/reconciler-rig.ts';
import { testChild, testCluster } from '../support/test-engine.ts';
import { turns } from '../support/virtual-clock.ts';

const forbidden = JSON.stringify({ kind: 'Status', reason: 'Forbidden', message: 'a policy wants another image' });

/** What the cluster has done with its place after a pass that writes a template, which the API server answers so. */
async function afterPass(answer: 'taken' | 'refused' | 'without effect'): Promise<string[]> {
  const said: string[] = [];
  const rollouts = {
    take: () => void said.push('takes it'),
    begun: () => void said.push('uses it'),
    giveBack: () => void said.push('gives it back'),
    release: () => undefined,
    isAwaited: () => false,
  };
  const cluster: KubeObject = { ...testCluster('db'), status: { initialized: true } };
  const rig = await reconcilerRig([cluster], undefined, noDryRuns, undefined, rollouts);
  const { metadata } = testChild(rig.cluster(), 'ConfigMap');
  const setOf = (image: string): KubeObject => ({
    ...{ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata },
    spec: { replicas: 0, template: { spec: { containers: [{ name: 'db', image }] } } },
  });
  const before = rig.api.put({ ...setOf('old'), spec: { ...(setOf('old').spec as object), replicas: 1 } });
  const pod = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  rig.api.put({
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name: `${metadata.name}-0` } },
    status: pod,
  });
  await turns();
  rig.api.intercept = ({ headers }) => {
    if (headers?.['content-type'] !== 'application/apply-patch+yaml') return undefined;
    if (answer === 'refused') return Promise.resolve({ status: 403, headers: {}, body: forbidden });
    return answer === 'taken' ? undefined : Promise.resolve({ status: 200, headers: {}, body: JSON.stringify(before) });
  };
  const changes = [{ path: 'spec.template.spec.containers[db].image', from: 'old', to: 'new' }];
  rig.finds([{ type: 'apply', object: setOf('new'), changes }], settled);
  await rig.pass().catch(() => undefined);
  await rig.stop();
  return [...new Set(said)];
}

it.each([
  ['keeps the place for a template that is written', 'taken', ['takes it', 'uses it']],
  ['gives it back where the template is refused', 'refused', ['takes it', 'gives it back']],
  ['gives it back where the template is changed back at once', 'without effect', ['takes it', 'gives it back']],
] as const)('a cluster %s', async (_, answer, expected) => {
  expect(await afterPass(answer)).toEqual(expected);
});
