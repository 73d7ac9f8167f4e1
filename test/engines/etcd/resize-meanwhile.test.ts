import { expect, it } from 'vitest';
import { type PlanRow, planned } from '../../support/etcd-words.ts';
import { due, resizing, underway } from '../../support/resizing.ts';

const mebibyte = 1024 ** 2;
const full = { dbSize: 100 * mebibyte, dbInUse: 99 * mebibyte };
const alarmed = {
  spec: { config: { quotaBackend: '100Mi' } },
  alarms: [{ memberId: '2', type: 'NOSPACE' }],
  members: { all: full },
  pods: { 1: 'outdated' },
} as const;

it.each<PlanRow>([
  [
    'a quota that is used up stops all writes, and does not wait for a kubelet',
    { ...alarmed, agreed: { compacted: '-1' }, children: resizing({ 'db-1-0': underway }) },
    ['compact 100 on db-0-0 db-1-0 db-2-0', 'wait FreeingSpace'],
  ],
  [
    'a resize begins first',
    { ...alarmed, agreed: { compacted: '-1' }, children: resizing({ 'db-1-0': due('etcd') }) },
    ['db-1-0: resize new now', 'resize db-1-0: limits.memory 2Gi', 'wait Resizing'],
  ],
  [
    'that every client is let in does not wait for one either',
    {
      spec: { auth: { enabled: true } },
      agreed: { isAuthenticated: false },
      pods: { 1: 'outdated' },
      children: resizing({ 'db-1-0': underway }),
    },
    ['enableAuth', 'wait EnablingAuth'],
  ],
  [
    'a quota that only a person can make room in leaves the resize as it is',
    {
      ...alarmed,
      agreed: { compacted: '100' },
      members: { all: { ...full, dbInUse: 100 * mebibyte } },
      children: resizing({ 'db-1-0': underway }),
    },
    ['wait Resizing'],
  ],
])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));
