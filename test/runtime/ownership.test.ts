import { expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { FIELD_MANAGER, isPostOwned, takeOverPatch } from '../../src/runtime/ownership.ts';
import { isNewer } from '../../src/runtime/resource-version.ts';

const live = (...managedFields: object[]): KubeObject => {
  const metadata = { name: 'a', resourceVersion: '7', managedFields };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata };
};
const entry = (operation: string, fieldsV1: object, more: object = {}) => ({
  manager: FIELD_MANAGER,
  operation,
  apiVersion: 'v1',
  time: '2030-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1,
  ...more,
});
const others = entry('Update', { 'f:data': { 'f:x': {} } }, { manager: 'kubectl' });
const status = entry('Update', { 'f:status': {} }, { subresource: 'status' });

it('an object that we created by POST becomes one that we applied', () => {
  const object = live(others, entry('Update', { 'f:data': { '.': {}, 'f:a': {} } }), status);
  expect(isPostOwned(object)).toBe(true);
  const patch = takeOverPatch(object);
  expect(patch).toEqual([
    { op: 'test', path: '/metadata/resourceVersion', value: '7' },
    {
      op: 'replace',
      path: '/metadata/managedFields',
      value: [others, status, entry('Apply', { 'f:data': { '.': {}, 'f:a': {} } })],
    },
  ]);
});

it('fields of both entries are united', () => {
  const object = live(
    entry('Apply', { 'f:data': { 'f:a': {} } }),
    entry('Update', { 'f:data': { 'f:b': {} }, 'f:spec': {} }),
  );
  expect(takeOverPatch(object)?.[1]?.value).toEqual([
    entry('Apply', { 'f:data': { 'f:a': {}, 'f:b': {} }, 'f:spec': {} }),
  ]);
});

it('nothing is to be done for an object that we only applied, or that is not ours', () => {
  expect(takeOverPatch(live(others, status, entry('Apply', {})))).toBeUndefined();
  expect(takeOverPatch(live())).toBeUndefined();
});

it.each([
  ['10', '9', true],
  ['9', '10', false],
  ['10', '10', false],
  ['18446744073709551617', '18446744073709551616', true],
  ['a10', '9', false],
  ['9', undefined, false],
  ['', '', false],
  ['0', '0', false],
])('%s is newer than %s: %s', (a, b, expected) => {
  expect(isNewer(a, b)).toBe(expected);
});
