import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { accessChildren } from '../../src/plan/access.ts';
import { fingerprinted } from '../../src/plan/difference.ts';
import { atSize, type Desired, objectSteps } from '../../src/plan/objects.ts';
import { childrenOf } from '../../src/resources/children.ts';

const configMap = (data: Readonly<Record<string, string>>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'db', namespace: 'apps' },
  data,
});
const set = (spec: object): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'db', namespace: 'apps' },
  spec,
});
const secret: Desired = {
  object: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db', namespace: 'apps' } },
  generate: [{ key: 'password', length: 32 }],
};

const steps = (desired: readonly Desired[], live: readonly KubeObject[]): string[] =>
  objectSteps(desired, childrenOf(live)).map((step) =>
    step.type === 'create' || step.type === 'apply' ? `${step.type} ${step.object.kind}` : step.type,
  );

describe('from desired children to steps', () => {
  const desired: readonly Desired[] = [secret, { object: configMap({ a: '1' }) }, { object: set({ replicas: 1 }) }];
  const made = [fingerprinted(configMap({ a: '1' })), fingerprinted(set({ replicas: 1 }))];

  it.each<readonly [story: string, live: readonly KubeObject[], steps: readonly string[]]>([
    ['nothing is there: all is made, in order', [], ['create Secret', 'create ConfigMap', 'create StatefulSet']],
    ['all is there: nothing to do, and the Secret is not written again', made, []],
    [
      'one is missing: the Secret is not made again, since processes run with the old one',
      made.slice(1),
      ['create ConfigMap'],
    ],
    ['one differs', [fingerprinted(configMap({ a: '2' })), ...made.slice(1)], ['apply ConfigMap']],
    [
      'one is on its way out: its successor has to wait',
      [{ ...configMap({ a: '2' }), metadata: { name: 'db', deletionTimestamp: 'now' } }, ...made.slice(1)],
      [],
    ],
    [
      'one was made by somebody else, without a fingerprint',
      [configMap({ a: '1' }), ...made.slice(1)],
      ['apply ConfigMap'],
    ],
  ])('%s', (_, live, expected) => expect(steps(desired, live)).toEqual(expected));

  it('a policy may be there before the Secret is: where one step fails, it is made all the same', () => {
    const policy: KubeObject = { ...configMap({ a: '1' }), apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' };
    const live = [fingerprinted(policy)];
    expect(steps([...desired, ...accessChildren([policy])], live)).toEqual([
      'create Secret',
      'create ConfigMap',
      'create StatefulSet',
    ]);
  });

  it('what is applied is what was compared, with the fields that differ', () => {
    expect(
      objectSteps([{ object: configMap({ a: '1' }) }], childrenOf([fingerprinted(configMap({ a: '2' }))])),
    ).toMatchObject([
      {
        type: 'apply',
        object: fingerprinted(configMap({ a: '1' })),
        changes: [{ path: expect.stringContaining('metadata.annotations') }, { path: 'data.a', from: '2', to: '1' }],
      },
    ]);
  });

  it('a StatefulSet keeps the claim templates it was made with', () => {
    const live = fingerprinted(set({ replicas: 1, volumeClaimTemplates: [{ size: '1Gi' }] }));
    const wanted = set({ replicas: 2, volumeClaimTemplates: [{ size: '2Gi' }] });
    const [step] = objectSteps([{ object: wanted }], childrenOf([live]));
    expect(step).toMatchObject({
      type: 'apply',
      object: { spec: { replicas: 2, volumeClaimTemplates: [{ size: '1Gi' }] } },
    });
  });

  const service = (spec: object): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'db', namespace: 'apps' },
    spec,
  });
  const both = { ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv4'] };
  const answered = { ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv4', 'IPv6'] };

  it.each<readonly [story: string, wanted: object, has: object, applied: object | undefined]>([
    ['that the API server has added stays, and is no difference', both, answered, undefined],
    ['stays when another field changes', { ...both, type: 'NodePort' }, answered, { ...answered, type: 'NodePort' }],
    [
      'goes where one family alone is asked for',
      { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4'] },
      answered,
      { ipFamilies: ['IPv4'] },
    ],
    ['is no first family', { ...both, ipFamilies: ['IPv6'] }, answered, { ipFamilies: ['IPv6'] }],
  ])('the second IP family of a Service %s', (_, wanted, has, applied) => {
    const desired = fingerprinted(service(wanted));
    const live = { ...desired, spec: { ...wanted, ...has, ...('type' in wanted ? { type: 'ClusterIP' } : {}) } };
    const planned = objectSteps([{ object: service(wanted) }], childrenOf([live]));
    expect(planned).toMatchObject(applied === undefined ? [] : [{ type: 'apply', object: { spec: applied } }]);
    expect(planned).toHaveLength(applied === undefined ? 0 : 1);
  });

  it('another size is all that changes', () => {
    expect(atSize(set({ replicas: 1, serviceName: 'db' }), 4)).toEqual(set({ replicas: 4, serviceName: 'db' }));
  });
});
