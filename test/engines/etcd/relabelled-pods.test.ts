/** Pods whose labels somebody has changed: whose they are, their names say. */
import { expect, it } from 'vitest';
import { memberLabel } from '../../../src/resources/metadata.ts';
import { planned } from '../../support/etcd-words.ts';

it.each<[string, Readonly<Record<string, string>>]>([
  ['has lost the label of its member', {}],
  ['has got that of another member', { [memberLabel]: 'db-0' }],
  ['has got one that is no name of a member', { [memberLabel]: 'x' }],
])('a pod that %s is restarted, which has Kubernetes give it back', (_, changed) => {
  const plan = planned({
    children: (objects) =>
      objects.map((object) => {
        if (object.kind !== 'Pod' || object.metadata.name !== 'db-1-0') return object;
        const { [memberLabel]: __, ...labels } = object.metadata.labels ?? {};
        return { ...object, metadata: { ...object.metadata, labels: { ...labels, ...changed } } };
      }),
  });
  expect(plan).toEqual(['delete Pod db-1-0', 'wait Restarting']);
});
