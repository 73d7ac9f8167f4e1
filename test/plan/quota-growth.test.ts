/** A quota that is used up: whether the pod that restarts asks for more than it gives back, and than there is. */
import { expect, it } from 'vitest';
import { outgrowsQuota } from '../../src/plan/quota-growth.ts';
import type { ContainerOf } from '../../src/resources/children.ts';

const words = (used: string, limited: string, requested = 'limits.memory=2Gi'): string =>
  `pods "db-0" is forbidden: exceeded quota: small, requested: ${requested}, used: ${used}, limited: ${limited}`;
const limits = (memory: string | undefined, cpu?: string | number, name = 'redis'): ContainerOf => ({
  name,
  resources: {
    limits: { ...(memory === undefined ? {} : { memory }), ...(cpu === undefined ? {} : { cpu }) },
    requests: { ...(cpu === undefined ? {} : { cpu }) },
  },
});
const full = words('limits.memory=3Gi', 'limits.memory=3Gi');

it.each<
  readonly [story: string, told: string, wanted: readonly ContainerOf[], has: readonly ContainerOf[], is: boolean]
>([
  ['as much as before', full, [limits('1Gi')], [limits('1Gi')], false],
  ['as much, in another form', full, [limits('1024Mi')], [limits('1Gi')], false],
  ['less', full, [limits('512Mi')], [limits('1Gi')], false],
  ['more', full, [limits('2Gi')], [limits('1Gi')], true],
  ['more, and there is room', words('limits.memory=2Gi', 'limits.memory=3Gi'), [limits('2Gi')], [limits('1Gi')], false],
  [
    'more than there is room',
    words('limits.memory=2.5Gi', 'limits.memory=3Gi'),
    [limits('2Gi')],
    [limits('1Gi')],
    true,
  ],
  [
    'as much, of a quota that was made smaller',
    words('limits.memory=4Gi', 'limits.memory=3Gi'),
    [limits('1Gi')],
    [limits('1Gi')],
    true,
  ],
  [
    'so much less that it fits a smaller one',
    words('limits.memory=4Gi', 'limits.memory=3Gi'),
    [limits('1Gi')],
    [limits('2Gi')],
    false,
  ],
  [
    'a number of pods that was made smaller',
    words('pods=4', 'pods=3', 'pods=1'),
    [limits('1Gi')],
    [limits('1Gi')],
    true,
  ],
  [
    'a higher request under the same limit',
    words('cpu=3', 'cpu=3'),
    [{ name: 'redis', resources: { limits: { cpu: 2 }, requests: { cpu: 2 } } }],
    [{ name: 'redis', resources: { limits: { cpu: 2 }, requests: { cpu: 1 } } }],
    true,
  ],
  [
    'more of one container, less of another',
    full,
    [limits('2Gi'), limits('1Gi', undefined, 'other')],
    [limits('1Gi'), limits('2Gi', undefined, 'other')],
    false,
  ],
  ['what others have added to the pod', full, [limits('1Gi')], [limits('1Gi'), limits('1Gi', 1, 'sidecar')], false],
  [
    'a container that is new, beside one that is not',
    full,
    [limits('1Gi'), limits('64Mi', undefined, 'exporter')],
    [limits('1Gi')],
    true,
  ],
  ['a new one without limits', full, [limits('1Gi'), limits(undefined, undefined, 'exporter')], [limits('1Gi')], false],
  ['a container that is new, of which nothing can be told', full, [limits('2Gi', 1, 'other')], [limits('1Gi')], false],
  ['more of something else', full, [limits('1Gi', 2)], [limits('1Gi', 1)], false],
  ['CPU, of which requests count', words('cpu=3', 'cpu=3'), [limits('1Gi', '1500m')], [limits('1Gi', 1)], true],
  [
    'the second of several',
    words('pods=3,requests.cpu=3', 'pods=3,requests.cpu=3'),
    [limits('1Gi', 2)],
    [limits('1Gi', 1)],
    true,
  ],
  ['the number of pods', words('pods=3', 'pods=3', 'pods=1'), [limits('2Gi')], [limits('1Gi')], false],
  [
    'an amount in no form that is known',
    words('limits.memory=many', 'limits.memory=3Gi'),
    [limits('2Gi')],
    [limits('1Gi')],
    false,
  ],
  ['other words', 'no', [limits('2Gi')], [limits('1Gi')], false],
])('%s', (_, told, wanted, has, is) => {
  expect(outgrowsQuota(told, wanted, has)).toBe(is);
});
