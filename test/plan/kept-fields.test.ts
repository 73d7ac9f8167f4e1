/** Which steps the API server has answered with success, and changed nothing. */
import { expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { persistentVolumeClaims } from '../../src/api/resource.ts';
import { fieldsKept, isIneffective } from '../../src/plan/kept-fields.ts';
import type { ObjectStep } from '../../src/plan/plan.ts';

type Fields = Readonly<Record<string, unknown>>;

const patchStep = (patch: Fields, path: string): ObjectStep => ({
  type: 'patch',
  ref: { resource: persistentVolumeClaims, namespace: 'apps', name: 'data-db-0', uid: 'uid-1' },
  patch,
  changes: [{ path, to: 'wanted' }],
});

const claim = (metadata: object, spec: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data-db-0', namespace: 'apps', uid: 'uid-1', ...metadata },
  spec,
});

const label = patchStep({ metadata: { labels: { role: 'primary' } } }, 'metadata.labels.role');
const noLabel = patchStep({ metadata: { labels: { role: null } } }, 'metadata.labels.role');
const noOwner = patchStep({ metadata: { ownerReferences: [] } }, 'metadata.ownerReferences');
const finalizer = patchStep({ metadata: { finalizers: ['ours'], resourceVersion: '7' } }, 'metadata.finalizers');
const size = patchStep({ spec: { resources: { requests: { storage: '2Gi' } } } }, 'spec.resources.requests.storage');
const two = patchStep({ metadata: { annotations: { a: '1', b: '2' } } }, 'metadata.annotations.a');

it.each<[story: string, step: ObjectStep, answer: KubeObject, isVoid: boolean]>([
  ['a label that is not there', label, claim({}), true],
  ['a label that is another', label, claim({ labels: { role: 'replica' } }), true],
  ['a label that is there', label, claim({ labels: { role: 'primary' } }), false],
  ['a label that is to go and stays', noLabel, claim({ labels: { role: 'replica' } }), true],
  ['a label that has gone', noLabel, claim({ labels: {} }), false],
  ['an owner that stays', noOwner, claim({ ownerReferences: [{ name: 'db' }] }), true],
  ['an owner that has gone', noOwner, claim({}), false],
  [
    'a finalizer that is not there, of the version that it was to be set on',
    finalizer,
    claim({ resourceVersion: '7' }),
    true,
  ],
  ['a finalizer that is there', finalizer, claim({ resourceVersion: '8', finalizers: ['ours'] }), false],
  ['a size that stays', size, claim({}, { resources: { requests: { storage: '1Gi' } } }), true],
  ['a size that grows', size, claim({}, { resources: { requests: { storage: '2Gi' } } }), false],
  ['one of two fields that is there', two, claim({ annotations: { b: '2' } }), false],
])('a patch and %s', (_, step, answer, isVoid) => {
  expect(isIneffective(step, answer)).toBe(isVoid);
});

it('is told of with its object and its field', () => {
  if (!isIneffective(label, claim({}))) throw new Error('it has an effect');
  expect(fieldsKept([label])).toMatchObject({
    message: expect.stringMatching(/webhook: PersistentVolumeClaim data-db-0: metadata\.labels\.role$/),
  });
});
