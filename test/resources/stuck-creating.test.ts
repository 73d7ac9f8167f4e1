/** Pods whose containers are not made, perhaps for want of a Secret. */
import { expect, it } from 'vitest';
import type { ContainerStatus, Pod } from '../../src/resources/children.ts';
import { areCreating, isAnyStuckCreating, stuckCreatingMs } from '../../src/resources/stuck-creating.ts';

const startTime = '2030-01-01T00:00:00Z';
const pod = (containers: readonly ContainerStatus[], init?: readonly ContainerStatus[], more: object = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'db-0' },
  status: {
    phase: 'Pending',
    startTime,
    containerStatuses: containers,
    ...(init === undefined ? {} : { initContainerStatuses: init }),
    ...more,
  },
});
const waiting = (reason: string): ContainerStatus => ({ name: 'x', state: { waiting: { reason } } });
const running: ContainerStatus = { name: 'x', state: { running: {} } };

it.each<readonly [story: string, pod: Pod, is: boolean]>([
  ['a container is being made', pod([waiting('ContainerCreating')]), true],
  ['its containers run', pod([running]), false],
  ['an image is missing', pod([waiting('ErrImagePull')]), false],
  [
    'the first of its init containers is being made',
    pod([waiting('PodInitializing')], [waiting('PodInitializing')]),
    true,
  ],
  ['its sidecar runs', pod([waiting('PodInitializing')], [running]), false],
  ['its sidecar has no image', pod([waiting('PodInitializing')], [waiting('ErrImagePull')]), false],
  ['it has no node', pod([waiting('ContainerCreating')], undefined, { startTime: undefined }), false],
  ['nothing is known', { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'db-0' } }, false],
])('%s', (_, one, is) => {
  expect(areCreating({ pods: [one] })).toBe(is);
  const began = Date.parse(startTime);
  expect(isAnyStuckCreating({ pods: [one] }, began + stuckCreatingMs - 1)).toBe(false);
  expect(isAnyStuckCreating({ pods: [one] }, began + stuckCreatingMs)).toBe(is);
});
