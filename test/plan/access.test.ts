/** Services for clients outside in the plans of every engine: others need not wait for them, and they come last. */
import { expect, it } from 'vitest';
import type { Cluster, CommonSpec } from '../../src/api/cluster.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { validateCluster } from '../../src/api/validate.ts';
import { accessOf } from '../../src/engine/access-of.ts';
import type { KindHandler } from '../../src/engine/engine.ts';
import { type PassFacts, passPlan } from '../../src/plan/pass.ts';
import { findingOf, isOptional, type Step, settled } from '../../src/plan/plan.ts';
import { surplusSteps } from '../../src/plan/surplus.ts';
import { childrenOf, noChildren } from '../../src/resources/children.ts';
import { accessComponent, componentLabel } from '../../src/resources/metadata.ts';
import { silentContext } from '../../src/testing/silent-context.ts';
import { target } from '../support/backup-story.ts';
import { handlers } from '../support/handlers.ts';

const specs: Readonly<Record<string, object>> = {
  RedisCluster: { access: { primary: { type: 'NodePort' }, replicas: { type: 'LoadBalancer' } } },
  EtcdCluster: { access: { clients: { type: 'LoadBalancer' } } },
  PostgresCluster: { version: '17', access: { primary: { type: 'LoadBalancer' }, replicas: { type: 'NodePort' } } },
};

function clusterOf(kind: string, spec: unknown = specs[kind]): Cluster<CommonSpec> {
  const handler = handlers.find((each) => each.kind.resource.kind === kind);
  if (handler === undefined) throw new Error(`no kind ${kind}`);
  const metadata = { name: 'db', namespace: 'apps', uid: 'uid-db' };
  const object = { apiVersion: 'clusterwright.dev/v1alpha1', kind, metadata, spec };
  const verdict = validateCluster(handler.kind, object);
  if (!verdict.ok) throw new Error(JSON.stringify(verdict.violations));
  return verdict.cluster as Cluster<CommonSpec>;
}

function planOf(kind: string): readonly Step[] {
  const handler = handlers.find((each) => each.kind.resource.kind === kind);
  const cluster = clusterOf(kind);
  return handler === undefined ? [] : passPlan(cluster, factsOf(handler, cluster), handler.planOffline(cluster)).steps;
}

function factsOf(handler: KindHandler, cluster: Cluster): PassFacts {
  return { resource: handler.kind.resource, children: noChildren, access: accessOf(handler, cluster) };
}

const isExternal = (step: Step): boolean => step.type === 'create' && step.object.metadata.name.endsWith('-external');

it('every kind that has `access` is in this test', () => {
  const kinds = handlers.filter(({ kind }) => kind.schema.properties?.spec?.properties?.access !== undefined);
  expect(kinds.map(({ kind }) => kind.resource.kind)).toEqual(Object.keys(specs));
});

it.each(Object.keys(specs))('%s: all else is done first, and whether they are made decides about nothing', (kind) => {
  const steps = planOf(kind);
  const first = steps.findIndex(isExternal);
  expect(first).toBeGreaterThan(3);
  expect(steps.slice(first).every((step) => isExternal(step) && isOptional(step))).toBe(true);
  expect(steps.map(findingOf)).toEqual(steps.map((step) => (isExternal(step) ? 'AccessRefused' : undefined)));
});

it('so it is with what is done to the database itself', () => {
  const cluster = clusterOf('RedisCluster');
  const [external] = planOf('RedisCluster').filter(isExternal);
  if (external === undefined) throw new Error('no Service');
  const repair: Step = { type: 'act', action: { type: 'repair' }, summary: 'repair' };
  const handler = handlers.find(({ kind }) => kind.resource.kind === 'RedisCluster');
  if (handler === undefined) throw new Error('no kind');
  const plan = passPlan(cluster, factsOf(handler, cluster), { steps: [external, repair], outcome: settled });
  expect(plan.steps).toEqual([repair, external]);
});

it('so it is with the plan for the time in which nobody may be interrupted', () => {
  const cluster = clusterOf('RedisCluster', { networkPolicy: {} });
  const handler = handlers.find(({ kind }) => kind.resource.kind === 'RedisCluster');
  if (handler === undefined) throw new Error('no kind');
  const none = { steps: [], outcome: settled };
  const { steps, otherwise } = passPlan(cluster, factsOf(handler, cluster), { ...none, otherwise: none });
  expect(steps.map((step) => (step.type === 'create' ? step.object.kind : step.type))).toContain('NetworkPolicy');
  expect(otherwise?.steps).toEqual(steps);
});

it('and with those that the spec does not ask for any more', () => {
  const cluster = clusterOf('RedisCluster');
  const owner = { apiVersion: 'v1', kind: 'RedisCluster', name: 'db', uid: 'uid-db', controller: true };
  const service = (component: string): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: component,
      namespace: 'apps',
      uid: `uid-${component}`,
      labels: { [componentLabel]: component },
      ownerReferences: [owner],
    },
  });
  const live = childrenOf([service(accessComponent), service('pooler')]);
  const steps = surplusSteps(cluster, live, [], [accessComponent, 'pooler']);
  expect(steps.map((step) => [step.type === 'delete' && step.ref.name, findingOf(step)])).toEqual([
    [accessComponent, 'AccessRefused'],
    ['pooler', undefined],
  ]);
});

it.each(Object.keys(specs))(
  '%s: the policy is there while a restore runs, and no Service before there are members',
  async (kind) => {
    const spec = {
      ...specs[kind],
      networkPolicy: {},
      bootstrap: { restore: { target, id: '20261121T030000Z-0123abcd', cluster: { name: 'old' } } },
    };
    const cluster = clusterOf(kind, spec);
    const handler = handlers.find((each) => each.kind.resource.kind === kind);
    if (handler === undefined) throw new Error(`no kind ${kind}`);
    const { plan } = await handler.assess(cluster, noChildren, silentContext());
    const { steps } = passPlan(cluster, factsOf(handler, cluster), plan);
    const made = steps.map((step) => (step.type === 'create' ? step.object.kind : step.type));
    expect(made).toEqual(['PersistentVolumeClaim', 'NetworkPolicy']);
  },
);
