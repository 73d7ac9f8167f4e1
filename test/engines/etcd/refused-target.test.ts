/** A target that may not be used holds up the backup, and the version that waits for it: nothing else of the cluster. */
import { describe, expect, it } from 'vitest';
import type { EtcdAction } from '../../../src/engines/etcd/action.ts';
import { etcd } from '../../../src/engines/etcd/index.ts';
import type { EtcdSpecInput } from '../../../src/engines/etcd/kind/schema.ts';
import { toHandler } from '../../../src/jobs/to-handler.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import { timeOnly } from '../../support/backup-story.ts';
import { etcdWorld, type Story } from '../../support/etcd-situation.ts';
import { versionWords, words } from '../../support/etcd-words.ts';
import { coherent } from '../../support/truthful-engine.ts';

const s3 = { endpoint: 'https://s3.example', bucket: 'backups', serviceAccountName: 'nobody' };
const backup: EtcdSpecInput['backup'] = { target: { s3 } };
const up: Story = { spec: { version: '3.6.16', backup }, before: { version: '3.5.35', backup } };

/** There is no ServiceAccount of the name. */
async function look(story: Story): Promise<readonly string[]> {
  const { cluster, children, observed } = etcdWorld(story);
  const engine = toHandler({ ...etcd, observe: async () => observed }, 'agent:test');
  const { plan, status } = await engine.assess(cluster, children, timeOnly());
  coherent(status);
  return versionWords(words(plan as Plan<EtcdAction>));
}

describe('where the target of the backup before another minor is refused', () => {
  it('no Job is made, and the status says why', async () => {
    expect(await look(up)).toEqual(['wait ServiceAccountMissing']);
  });

  it('E3: a member that joins is told how to start, and its process is made', async () => {
    const story: Story = {
      ...up,
      numbers: [0, 2, 3],
      members: { 3: 'unstarted' },
      starts: { 3: 'unwritten' },
      claims: { 3: 'none' },
    };
    expect(await look(story)).toEqual([
      expect.stringMatching(/^apply ConfigMap db-members: .*db-3\.state=existing, /),
      'create StatefulSet db-3',
      'wait Joining',
    ]);
  });

  it('G8: a member that has joined resumes from then on: on a blank volume it starts no more', async () => {
    const resumes = expect.stringMatching(/^apply ConfigMap db-members: .*db-3\.cluster=db-3=/);
    const copying: Story = { ...up, numbers: [0, 2, 3], members: { 3: 'copying' }, starts: { 3: 'joins' } };
    expect(await look(copying)).toEqual([resumes, 'promote 3', 'wait Joining']);
    expect(await look({ ...copying, members: {} })).toEqual([resumes, 'wait ServiceAccountMissing']);
  });

  it('what is wrong with the data is said first', async () => {
    const alarms = [{ memberId: '0', type: 'CORRUPT' }] as const;
    expect((await look({ ...up, alarms })).at(-1)).toBe('blocked DataCorrupt');
  });
});
