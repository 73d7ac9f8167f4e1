import { expect, it } from 'vitest';
import { progressIn } from '../../../src/engines/etcd/observe/progress.ts';

/** As 3.5.35 and 3.6.16 tell them, with no leader. */
const lines = {
  id: 'etcd_server_id{server_id="886b03c4ae679a15"} 1',
  applied: 'etcd_server_proposals_applied_total 1.234567e+06',
  revision: 'etcd_debugging_mvcc_current_revision 38',
  learner: 'etcd_server_is_learner 0',
};
const told = (more: Partial<typeof lines>): string => Object.values({ ...lines, ...more }).join('\n');

it('is how far the data of a member goes, and whose it is', () => {
  expect(progressIn(told({}))).toEqual({ applied: 1_234_567, revision: '38', memberId: '886b03c4ae679a15' });
  expect(progressIn(told({ id: '' }))).toEqual({ applied: 1_234_567, revision: '38' });
});

it('is nothing where a number is missing, or broken, or the member has no vote', () => {
  expect(progressIn(told({ applied: '' }))).toBeUndefined();
  expect(progressIn(told({ revision: 'etcd_debugging_mvcc_current_revision 1.5' }))).toBeUndefined();
  expect(progressIn(told({ learner: 'etcd_server_is_learner 1' }))).toBeUndefined();
});
