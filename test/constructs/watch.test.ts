/** Which namespaces the operator has its permissions in, and what its process is told of them. */
import { expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { Operator, type OperatorProps } from '../../src/constructs/operator.ts';
import { findObject, manifestsOf } from './manifests.ts';

const operator = (props: OperatorProps): KubeObject[] =>
  manifestsOf((chart) => void new Operator(chart, 'operator', { extendUserRoles: false, ...props }));

const rolesOf = (props: OperatorProps): string[] =>
  operator(props).flatMap(({ kind, metadata: { namespace, name } }) =>
    kind.includes('Role') ? [[kind, namespace, name].filter(Boolean).join(' ')] : [],
  );

function toldOf(props: OperatorProps): string | undefined {
  const { template } = findObject(operator(props), 'Deployment', 'clusterwright').spec as {
    readonly template: { readonly spec: { readonly containers: readonly { readonly env: readonly Variable[] }[] } };
  };
  return template.spec.containers[0]?.env.find(({ name }) => name === 'CLUSTERWRIGHT_NAMESPACES')?.value;
}

interface Variable {
  readonly name: string;
  readonly value?: string;
}

const leader = (namespace: string): string[] => [
  `Role ${namespace} clusterwright-leader`,
  `RoleBinding ${namespace} clusterwright-leader`,
];

it('is by default the namespace of the operator alone', () => {
  const own = [...leader('ops'), 'Role ops clusterwright-ops-watch', 'RoleBinding ops clusterwright-ops-watch'];
  expect(rolesOf({ namespace: 'ops' })).toEqual(own);
  expect(toldOf({ namespace: 'ops' })).toBe('ops');
  expect(toldOf({})).toBe('clusterwright-system');
});

it('is what is named, with a Role in each and nothing beyond', () => {
  const watch = { namespaces: ['b', 'a', 'b'] };
  expect(rolesOf({ watch })).toEqual([
    ...leader('clusterwright-system'),
    'Role b clusterwright-watch',
    'RoleBinding b clusterwright-watch',
    'Role a clusterwright-watch',
    'RoleBinding a clusterwright-watch',
  ]);
  expect(toldOf({ watch })).toBe('a,b');
});

it('is all of them where that is chosen, with the same permissions in a ClusterRole', () => {
  const watch = { all: true } as const;
  expect(rolesOf({ watch })).toEqual([
    ...leader('clusterwright-system'),
    'ClusterRole clusterwright',
    'ClusterRoleBinding clusterwright',
  ]);
  expect(toldOf({ watch })).toBeUndefined();
  const { rules } = findObject(operator({ watch }), 'ClusterRole', 'clusterwright');
  expect(rules).toEqual(findObject(operator({}), 'Role', 'clusterwright-watch').rules);
});

it.each([
  [[], 'watch.namespaces: must name a namespace'],
  [['shop', 'Team_A'], 'watch.namespaces: Team_A is no name of a namespace'],
])('is refused at synth as %j', (namespaces, fault) => {
  expect(() => operator({ watch: { namespaces } })).toThrow(fault);
});

it('can be that of another operator: each has its own Role in it, and no name of one is a name of the other', () => {
  const watch = { namespaces: ['shop'] };
  const first = rolesOf({ watch, namespace: 'leader' });
  const others = [rolesOf({ watch }), rolesOf({ watch, namespace: 'blue' }), rolesOf({ namespace: 'leader' }).slice(2)];
  expect(new Set([...first, ...others.flat()]).size).toBe(first.length + others.flat().length);
});
