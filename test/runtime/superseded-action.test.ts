/** A server that has to restart, and whose pod gets another template in the same plan. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import type { Step } from '../../src/plan/plan.ts';
import { createExecutor, describeStep } from '../../src/runtime/executor.ts';
import { controllerParts } from '../support/controller-parts.ts';

describe('a plan', () => {
  it.each<readonly [string, boolean, readonly string[]]>([
    ['leaves out the restart of a server whose pod restarts for its template', true, ['update StatefulSet db']],
    ['restarts the server where the template is changed back at once', false, ['update StatefulSet db', 'do restart']],
  ])('%s', async (_, isTaken, done) => {
    const setOf = (image: string): KubeObject => ({
      ...{ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'db', namespace: 'apps' } },
      spec: { template: { spec: { containers: [{ name: 'db', image }] } } },
    });
    const rig = await controllerParts();
    const before = rig.api.put(setOf('old'));
    rig.api.intercept = ({ headers }) => {
      const isApply = headers?.['content-type'] === 'application/apply-patch+yaml';
      if (isTaken || !isApply) return undefined;
      return Promise.resolve({ status: 200, headers: {}, body: JSON.stringify(before) });
    };
    const changes = [{ path: 'spec.template.spec.containers[db].image', from: 'old', to: 'new' }];
    const restart: Step = { type: 'act', action: { type: 'restart' }, summary: 'do restart', unlessWritten: ['db'] };
    const other: Step = { type: 'act', action: { type: 'other' }, summary: 'do other', unlessWritten: ['db-proxy'] };
    const found: string[] = [];
    const executor = createExecutor({ client: rig.client, cache: rig.cache });
    const steps: Step[] = [{ type: 'apply', object: setOf('new'), changes }, restart, other];
    await executor.run(steps, async () => undefined, new AbortController().signal, {
      done: (step) => void found.push(describeStep(step)),
      failed: () => undefined,
    });
    await rig.stop();
    expect(found).toEqual([...done, 'do other']);
  });
});
