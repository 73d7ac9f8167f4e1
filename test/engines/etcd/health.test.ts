/** What is said of members that are not well. */
import { describe, expect, it } from 'vitest';
import { planEtcd } from '../../../src/engines/etcd/plan.ts';
import { etcdWorld, type Plight, type Story } from '../../support/etcd-situation.ts';
import { takesEtcdBackup } from '../../support/etcd-words.ts';

const said = (story: Story): string => {
  const { cluster, children, observed } = etcdWorld(story);
  const { outcome } = planEtcd(cluster, children, observed, takesEtcdBackup);
  return 'message' in outcome ? outcome.message : '';
};

/** As etcd 3.5.35 and 3.6.16 end on a volume that is full, each time that they start. */
const full: Plight = {
  crashingForMs: 60_000,
  restarts: 3,
  lastWords:
    '{"level":"fatal","msg":"failed to commit tx","error":"write /var/lib/etcd/data/member/snap/db: no space left on device"}',
};
const words = 'its volume is full, and needs a larger storage.size';

describe('a member whose process ends since its volume is full', () => {
  it('is told of as that', () => {
    expect(said({ members: { 1: 'silent' }, pods: { 1: full } })).toBe(
      `db-1-0 ends again and again with code 1: ${words}`,
    );
  });

  it('is where no majority is left', () => {
    const story: Story = { leader: 'nobody', members: { all: 'silent' }, pods: { all: full } };
    expect(said(story)).toContain(`db-0-0 ends again and again with code 1: ${words}; db-1-0 ends`);
  });

  it('is while its process has just begun again', () => {
    const story: Story = { members: { 1: 'silent' }, pods: { 1: { ...full, isRunning: true } } };
    expect(said(story)).toMatch(new RegExp(`^db-1-0 does not answer: .*: ${words}$`));
  });

  it('is while its process has just begun again, where no majority is left', () => {
    const again: Plight = { ...full, isRunning: true };
    const story: Story = { leader: 'nobody', members: { all: 'silent' }, pods: { 0: again } };
    expect(said(story)).toContain(`db-0-0 does not answer: no answer: ${words}; db-1-0 does not answer: no answer;`);
  });

  it('is no more once it answers', () => {
    expect(said({ pods: { 1: { ...full, isRunning: true } } })).toBe('db-1-0 is not ready');
  });
});
