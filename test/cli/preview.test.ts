/** Plans of engines in general: an engine that would act whatever it hears. */
import { describe, expect, it } from 'vitest';
import type { Cluster, CommonSpec } from '../../src/api/cluster.ts';
import { type LiveOptions, livePreview } from '../../src/cli/preview.ts';
import type { KindHandler } from '../../src/engine/engine.ts';
import { redisKind } from '../../src/engines/redis/kind/schema.ts';
import { type Plan, type Step, settled } from '../../src/plan/plan.ts';
import { createClient } from '../../src/runtime/client.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { apiServer } from './api-server.ts';
import { now, refusing, unreachable } from './world.ts';

const plan: Plan = {
  steps: [{ type: 'act', action: { type: 'rash.promote' }, summary: 'make a-0 primary' }],
  outcome: settled,
};

const rash: KindHandler = {
  name: 'rash',
  kind: redisKind,
  permissions: [],
  ports: [],
  resources: () => [],
  async assess(_cluster, _children, io) {
    await io.dial('10.0.0.1', 1, io.signal).catch(() => undefined);
    return { plan, status: { conditions: [] }, act: () => Promise.resolve() };
  },
  planOffline: () => plan,
};

const cluster: Cluster<CommonSpec> = {
  apiVersion: 'clusterwright.dev/v1alpha1',
  kind: 'RedisCluster',
  metadata: { name: 'a', namespace: 'team', uid: 'u' },
  spec: { deletionPolicy: 'Retain' },
};

const options: LiveOptions = {
  client: createClient({ transport: apiServer(), clock: new VirtualClock(now), random: () => 0.5 }),
  way: 'direct',
  dial: refusing,
  forward: () => Promise.reject(new Error('not this way')),
};

it.each([
  [
    'says that its template is not judged, where nothing is waited for',
    false,
    [/^pod templates are not judged: .*dryRuns: false/],
  ],
  ['says nothing where it is', true, []],
])('a StatefulSet that changes %s', async (_, dryRuns, said) => {
  const metadata = { name: 'a', namespace: 'team', uid: 's' };
  const spec = { replicas: 1, serviceName: 'a', template: { metadata: {}, spec: { containers: [] } } };
  const set = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata, spec };
  const step: Step = { type: 'apply', object: set, changes: [{ path: 'spec.template.spec', to: 'x' }] };
  const assess: KindHandler['assess'] = () =>
    Promise.resolve({
      plan: { steps: [step], outcome: settled },
      status: { conditions: [] },
      act: () => Promise.resolve(),
    });
  const { follows, plan: found } = await livePreview({ ...rash, assess }, cluster, [], { ...options, dryRuns });
  expect(found).toEqual({ steps: [step], outcome: settled });
  expect(follows).toEqual(said.map((words) => expect.stringMatching(words)));
});

describe('actions', () => {
  it('that follow from what the processes say are part of the plan', async () => {
    const preview = await livePreview(rash, cluster, [], options);
    expect(preview.plan).toEqual(plan);
    expect(preview.basis).toBe('processes');
  });

  it('that follow from silence alone are not', async () => {
    for (const blind of [
      { ...options, dial: unreachable },
      { ...options, way: 'never' as const },
    ]) {
      const preview = await livePreview(rash, cluster, [], blind);
      expect(preview.plan.steps).toEqual([]);
      expect(preview.plan.outcome).toMatchObject({ state: 'wait', reason: 'NotObserved' });
    }
  });

  it('of a paused cluster are none', async () => {
    const paused = { ...cluster, spec: { ...cluster.spec, paused: true } };
    const preview = await livePreview(rash, paused, [], options);
    expect(preview.plan).toMatchObject({ steps: [], outcome: { state: 'wait', reason: 'Paused' } });
  });

  it('come after the finalizer that a deletion of the data needs', async () => {
    const deleting = { ...cluster, spec: { deletionPolicy: 'Delete' as const } };
    const preview = await livePreview(rash, deleting, [], options);
    expect(preview.plan.steps.map(({ type }) => type)).toEqual(['patch', 'act']);
  });
});
