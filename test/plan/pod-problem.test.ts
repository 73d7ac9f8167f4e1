import { expect, it } from 'vitest';
import { podProblem } from '../../src/plan/pod-problem.ts';
import type { ContainerStatus, Pod } from '../../src/resources/children.ts';

const pod = (status: Pod['status'], deletionTimestamp?: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'db-0', ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }) },
  ...(status === undefined ? {} : { status }),
});
const waiting = (reason: string, more: Partial<ContainerStatus> = {}, message?: string): Pod =>
  pod({
    containerStatuses: [
      { name: 'redis', state: { waiting: { reason, ...(message === undefined ? {} : { message }) } }, ...more },
    ],
  });
const ended = (exitCode: number, message?: string): Partial<ContainerStatus> => ({
  lastState: { terminated: { exitCode, ...(message === undefined ? {} : { message }) } },
});

it.each<[string, Pod, string | undefined]>([
  ['nothing of one that has just been made', pod(undefined), undefined],
  ['nothing of one that is on its way', waiting('ContainerCreating'), undefined],
  ['that it goes', pod({}, '2030-01-01T00:00:00Z'), 'db-0 is terminating'],
  [
    'that no node takes it',
    pod({ conditions: [{ type: 'PodScheduled', status: 'False', message: '0/3 nodes are available' }] }),
    'db-0 cannot be scheduled: 0/3 nodes are available',
  ],
  [
    'that its image is not to be had',
    waiting('ErrImagePull', { image: 'redis:8.9' }),
    'db-0 has no image: redis:8.9 cannot be pulled',
  ],
  [
    'the same while Kubernetes waits before it tries again',
    waiting('ImagePullBackOff', { image: 'redis:8.9' }, 'Back-off pulling image "redis:8.9"'),
    'db-0 has no image: redis:8.9 cannot be pulled',
  ],
  [
    'what the kubelet says of it',
    waiting('CreateContainerConfigError', {}, 'secret "db-auth" not found'),
    'db-0 cannot be started: CreateContainerConfigError: secret "db-auth" not found',
  ],
  ['that it ends', waiting('CrashLoopBackOff', ended(1)), 'db-0 ends again and again with code 1'],
  [
    'nothing of what it has said, which may quote a password',
    waiting('CrashLoopBackOff', ended(1, '>>> requirepass "secret"')),
    'db-0 ends again and again with code 1',
  ],
  [
    'that a container has no image without which the others do not start',
    pod({
      initContainerStatuses: [{ name: 'exporter', image: 'e:1', state: { waiting: { reason: 'ImagePullBackOff' } } }],
      containerStatuses: [{ name: 'redis', state: { waiting: { reason: 'PodInitializing' } } }],
    }),
    'db-0: container exporter has no image: e:1 cannot be pulled',
  ],
  [
    'that a sidecar ends, while the database runs',
    pod({
      initContainerStatuses: [{ name: 'exporter', state: { waiting: { reason: 'CrashLoopBackOff' } }, ...ended(2) }],
      containerStatuses: [{ name: 'redis', state: { running: {} } }],
    }),
    'db-0: container exporter ends again and again with code 2',
  ],
  [
    'of the database first',
    pod({
      initContainerStatuses: [{ name: 'exporter', state: { waiting: { reason: 'CrashLoopBackOff' } }, ...ended(2) }],
      containerStatuses: [{ name: 'redis', state: { waiting: { reason: 'CrashLoopBackOff' } }, ...ended(1) }],
    }),
    'db-0 ends again and again with code 1',
  ],
  [
    'nothing of an init container that has done its work',
    pod({ initContainerStatuses: [{ name: 'copy', state: { terminated: { exitCode: 0 } } }] }),
    undefined,
  ],
])('tells %s', (_, one, words) => expect(podProblem(one)).toBe(words));
