/** What a person is told while nobody can say what etcd itself has agreed on. */

import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { restoredAnnotation } from '../../../src/engine/backup-support.ts';
import { situationOf } from '../../../src/engines/etcd/observe/situation.ts';
import { planEtcd } from '../../../src/engines/etcd/plan/plan.ts';
import { etcdWorld, type Story } from '../../support/etcd-situation.ts';
import { planned, takesEtcdBackup } from '../../support/etcd-words.ts';

const messageOf = (story: Story): string => {
  const { cluster, children, observed } = etcdWorld(story);
  const { outcome } = planEtcd(situationOf(cluster, children, observed), takesEtcdBackup);
  return outcome.state === 'settled' ? '' : outcome.message;
};

describe('root’s password is not there', () => {
  const credentialsProblem = 'Secret db-root with key password does not exist';
  const secretless: Story = { observed: { credentialsProblem } };
  const hint =
    / the restored data asks for the password that root had in the cluster of the backup: add the old password to Secret db-root as the key password-previous$/;
  /** The first of them was filled from a backup. */
  const restored: NonNullable<Story['children']> = (objects) =>
    objects.map((object): KubeObject => {
      if (object.metadata.name !== 'data-db-0-0') return object;
      const annotations = { ...object.metadata.annotations, [restoredAnnotation]: 'apps/EtcdCluster/uid/x' };
      return { ...object, metadata: { ...object.metadata, annotations } };
    });

  it('says which one the data wants, where that is of a backup and has never been used', () => {
    expect(messageOf({ ...secretless, status: {}, children: restored })).toMatch(hint);
  });

  it('names the Secret and the key of the user, where the spec has them', () => {
    const spec = { auth: { enabled: true, secretRef: { name: 'mine', key: 'root' } } };
    expect(messageOf({ ...secretless, spec, status: {}, children: restored })).toMatch(
      / add the old password to Secret mine as the key root-previous$/,
    );
  });

  it.each<[string, Story]>([
    ['has formed long ago', { ...secretless, children: restored }],
    ['began without a backup', { ...secretless, status: {} }],
  ])('does not where the cluster %s', (_, story) => {
    expect(messageOf(story)).toContain(credentialsProblem);
    expect(messageOf(story)).not.toMatch(hint);
  });
});

describe('no majority answers', () => {
  it('of a cluster that forms: the status names the members that are missing, or says that they elect', () => {
    const forming: Story = { status: {}, leader: 'nobody', starts: { all: 'forms' }, claims: { all: 'blank' } };
    expect(planned({ ...forming, members: { all: 'leaderless' } })).toContain('wait Forming');
    expect(messageOf({ ...forming, members: { all: 'leaderless' } })).toBe(
      'db-0-0 knows no leader; db-1-0 knows no leader; db-2-0 knows no leader',
    );
    expect(messageOf({ ...forming, members: { all: 'silent' } })).not.toContain('elect');
  });

  it('of a cluster that forms, and all of them run: they elect', () => {
    const { cluster, children, observed } = etcdWorld({ status: {} });
    const { agreed: _, ...told } = observed;
    expect(planEtcd(situationOf(cluster, children, told), takesEtcdBackup).outcome).toMatchObject({
      reason: 'Forming',
      message: 'the members elect a leader',
    });
  });

  it('since most of the volumes are gone: the status names them', () => {
    const lost: Story = { leader: 'nobody', members: { all: 'silent' }, claims: { 0: 'none', 2: 'blank' } };
    expect(planned(lost).at(-1)).toBe('blocked QuorumLost');
    expect(messageOf(lost)).toMatch(/^a majority of the members has lost its volume \(db-0-0, db-2-0\): the others/);
  });

  it('and a member that answers has a volume, even where its claim is not marked yet', () => {
    const marked: Story = {
      leader: 'nobody',
      members: { all: 'leaderless', 2: 'silent' },
      claims: { 0: 'blank', 2: 'blank' },
    };
    expect(planned(marked).at(-1)).toBe('wait QuorumLost');
  });
});
