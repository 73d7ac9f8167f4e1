/** Who may connect is decided for every kind, whatever the plan of its engine comes to and whatever that has planned. */
import { describe, expect, it } from 'vitest';
import type { Cluster, CommonSpec } from '../../src/api/cluster.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { redisKind } from '../../src/engines/redis/kind/schema.ts';
import { accessChildren } from '../../src/plan/access.ts';
import { wantedAccess } from '../../src/plan/access-steps.ts';
import { fingerprinted } from '../../src/plan/difference.ts';
import { objectSteps } from '../../src/plan/objects.ts';
import { passPlan } from '../../src/plan/pass.ts';
import { blocked, findingOf, type Plan, type Step, settled } from '../../src/plan/plan.ts';
import { childrenOf } from '../../src/resources/children.ts';
import { accessComponent, networkComponent, ownedMetadata } from '../../src/resources/metadata.ts';

type Written = Cluster<CommonSpec>;

const cluster = (more: object = {}, spec: object = {}): Written => ({
  apiVersion: 'clusterwright.dev/v1alpha1',
  kind: 'RedisCluster',
  metadata: { name: 'db', namespace: 'shop', uid: 'ours' },
  spec: spec as CommonSpec,
  ...more,
});
const formed = cluster({ status: { initialized: true } });
const earlier = cluster({ metadata: { name: 'db', namespace: 'shop', uid: 'earlier' } });

function child(kind: 'Service' | 'NetworkPolicy', component: string, of: Written = cluster(), to = 'all'): KubeObject {
  const name = component === accessComponent ? 'db-external' : 'db';
  const apiVersion = kind === 'Service' ? 'v1' : 'networking.k8s.io/v1';
  const metadata = ownedMetadata(of, name, { engine: 'redis', component, version: '8.0' });
  return { apiVersion, kind, metadata, spec: { to } };
}
const policy = child('NetworkPolicy', networkComponent);
const external = child('Service', accessComponent);
const own = child('Service', 'data');
const stored = (object: KubeObject): KubeObject => {
  const made = fingerprinted(object);
  return { ...made, metadata: { ...made.metadata, uid: `uid-${object.kind}-${object.metadata.name}` } };
};

const stuck: Plan = { steps: [], outcome: blocked('DataLost', 'a person has to decide') };
const text = (step: Step): string => {
  if (step.type === 'act') return step.summary;
  return 'object' in step ? `${step.type} ${step.object.kind}` : `${step.type} ${step.ref.resource.kind}`;
};

function planned(
  of: Written,
  live: readonly KubeObject[],
  plan: Plan = stuck,
  access: readonly KubeObject[] = [external, policy],
): readonly Step[] {
  const wanted = wantedAccess([{ object: own }, ...accessChildren(access)]);
  return passPlan(of, { resource: redisKind.resource, children: childrenOf(live), access: wanted }, plan).steps;
}
const told = (...args: Parameters<typeof planned>): string[] => planned(...args).map(text);
type Row = readonly [story: string, steps: readonly string[], of: Written, live: readonly KubeObject[]];
const [whole, there] = [[stored(own), stored(external), stored(policy)], stored(own)];

describe('an engine that plans nothing', () => {
  it.each<Row>([
    ['of a cluster that is as its spec says', [], formed, whole],
    ['where the policy has been deleted', ['create NetworkPolicy'], formed, [there, stored(external)]],
    ['where the Service has been deleted', ['create Service'], formed, [there, stored(policy)]],
    [
      'where somebody has changed both',
      ['apply Service', 'apply NetworkPolicy'],
      formed,
      [
        there,
        stored(child('Service', accessComponent, cluster(), 'x')),
        stored(child('NetworkPolicy', networkComponent, cluster(), 'x')),
      ],
    ],
    ['of a cluster that has not been formed: it is not exposed', ['create NetworkPolicy'], cluster(), []],
    ['where the Service is there, formed or not', [], cluster(), [stored(external), stored(policy)]],
    ['where an earlier cluster has the name', [], formed, [stored(child('Service', 'data', earlier))]],
    ['while it is paused', [], cluster({}, { paused: true }), []],
  ])('%s', (_, steps, of, live) => expect(told(of, live)).toEqual(steps));

  it('where the spec asks for neither any more', () => {
    expect(told(formed, whole, stuck, [])).toEqual(['delete Service', 'delete NetworkPolicy']);
  });
});

describe('an engine that plans them, too', () => {
  const all = objectSteps([{ object: own }, ...accessChildren([external, policy])], childrenOf([]));

  it('each is planned once, and last', () => {
    const act: Step = { type: 'act', action: { type: 'repair' }, summary: 'repair' };
    const steps = planned(cluster(), [], { steps: [...all, act], outcome: settled });
    expect(steps.map(text)).toEqual(['create Service', 'repair', 'create Service', 'create NetworkPolicy']);
    expect(steps.map(findingOf)).toEqual([undefined, undefined, 'AccessRefused', 'AccessRefused']);
  });
  it('what its plan has of them counts for nothing', () => {
    const other = accessChildren([child('NetworkPolicy', networkComponent, cluster(), 'engine')]);
    expect(told(formed, whole, { steps: objectSteps(other, childrenOf(whole)), outcome: settled })).toEqual([]);
  });
  it('none is planned where an earlier cluster has the name', () => {
    const live = [stored(child('Service', 'data', earlier))];
    expect(told(cluster(), live, { steps: all, outcome: settled })).toEqual(['create Service']);
  });
});
