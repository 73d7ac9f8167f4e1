import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { childrenOf, ordinalOf, type Pod, podIsReady } from '../../src/resources/children.ts';

const object = (kind: string, name: string, more: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name },
  ...more,
});

describe('the children of a cluster', () => {
  const children = childrenOf([
    object('Pod', 'db-10'),
    object('Pod', 'db-sentinel-0'),
    object('Pod', 'db-9'),
    object('PersistentVolumeClaim', 'data-db-1'),
    object('PersistentVolumeClaim', 'data-db-0'),
    object('StatefulSet', 'db'),
    object('Service', 'db'),
    object('Pod', 'db-0'),
  ]);
  const names = (objects: readonly KubeObject[]): string[] => objects.map(({ metadata }) => metadata.name);

  it('come in the order of their ordinals, one set after the other', () => {
    expect(names(children.pods)).toEqual(['db-0', 'db-9', 'db-10', 'db-sentinel-0']);
    expect(names(children.claims)).toEqual(['data-db-0', 'data-db-1']);
  });

  it('are found by kind and name', () => {
    expect(children.get('Service', 'db')?.kind).toBe('Service');
    expect(children.statefulSet('db')?.kind).toBe('StatefulSet');
    expect([children.get('ConfigMap', 'db'), children.statefulSet('other')]).toEqual([undefined, undefined]);
  });
});

it.each([
  ['db-0', true],
  ['db-11', true],
  ['db-sentinel-2', true],
  ['db-0-0', true],
  ['db-14-0', true],
  ['db-0-20261123', false],
  ['db-20261123', false],
  ['db-0-0-20261123', false],
  ['db-debug', false],
  ['copy-of-db-0', false],
  ['db', false],
])('a pod with the labels of a cluster db and the name %s is one of the database: %s', (name, isOne) => {
  const labels = { 'app.kubernetes.io/instance': 'db' };
  const children = childrenOf([{ ...object('Pod', name), metadata: { name, labels } }]);
  expect(children.pods.length === 1).toBe(isOne);
  expect(children.objects).toHaveLength(1);
});

it.each([
  ['db-0', true],
  ['db-0-20261123', false],
  ['db-20261123', false],
  ['cp-0', false],
])('the pod %s of a StatefulSet db, relabelled, is one of the database: %s', (name, isOne) => {
  const own = { 'app.kubernetes.io/instance': 'db', 'app.kubernetes.io/component': 'data' };
  const set = { ...object('StatefulSet', 'db'), metadata: { name: 'db', labels: own } };
  for (const [label, value] of [
    ['app.kubernetes.io/instance', 'other'],
    ['app.kubernetes.io/component', 'agent'],
  ] as const) {
    const pod = { ...object('Pod', name), metadata: { name, labels: { ...own, [label]: value } } };
    expect(childrenOf([set, pod]).pods.length === 1).toBe(isOne);
    // Another cluster, whose label it has now, does not take it for its own.
    expect(childrenOf([pod]).pods).toEqual([]);
  }
});

describe('a pod', () => {
  const ready = (status: string): Pod =>
    object('Pod', 'db-0', { status: { conditions: [{ type: 'Ready', status }] } }) as Pod;

  it('is ready when it says so, and not otherwise', () => {
    expect([ready('True'), ready('False'), ready('Unknown'), object('Pod', 'db-0') as Pod].map(podIsReady)).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it('has the ordinal that its name ends with', () => {
    expect(['db-0', 'db-2-17', 'db'].map((name) => ordinalOf(object('Pod', name)))).toEqual([0, 17, Number.NaN]);
  });
});
