/** Whether etcd takes its turn among the clusters that roll out: only where something can begin. All pods are ready. */
import { expect, it } from 'vitest';
import { etcdKind } from '../../../src/engines/etcd/kind/schema.ts';
import type { EtcdObserved } from '../../../src/engines/etcd/observe/observed.ts';
import { situationOf } from '../../../src/engines/etcd/observe/situation.ts';
import { planEtcd } from '../../../src/engines/etcd/plan/plan.ts';
import { versionBackup } from '../../../src/engines/etcd/plan/version-backup.ts';
import { jobOf, target } from '../../support/backup-story.ts';
import { etcdWorld, now, type Story } from '../../support/etcd-situation.ts';
import { takesEtcdBackup, versionWords, words } from '../../support/etcd-words.ts';
import { withFreeTurn } from '../../support/held-back.ts';

const five = '3.5.35';
const six = '3.6.16';
const backup = { target };
const down: Story = {
  spec: { version: five },
  before: { version: six },
  members: { all: { version: six, storageVersion: '3.6.0' } },
};

/** Somebody has added a member to etcd by hand. */
function withForeign({ agreed, ...observed }: EtcdObserved): EtcdObserved {
  const one = { id: '77', name: 'theirs', hasStarted: true, peerUrls: ['http://x:2380'], isLearner: false };
  return agreed === undefined ? observed : { ...observed, agreed: { ...agreed, members: [...agreed.members, one] } };
}

const upgrade: Story = { spec: { version: six, backup }, before: { version: five, backup } };

/** The Job of the backup, whose pod is so old, in minutes, and has or has not got a process; and for how long it has been deleted. */
function backupJob(minutes: number, end: 'pending' | 'running', goingFor?: number): Pick<Story, 'children'> {
  const { cluster } = etcdWorld(upgrade);
  const creationTimestamp = new Date(now - minutes * 60_000).toISOString();
  const made = takesEtcdBackup(cluster, versionBackup(cluster, 5, now)) ?? [];
  const objects = made.flatMap((object) => (object.kind === 'Job' ? jobOf(object, end) : [object]));
  const going = goingFor === undefined ? {} : { deletionTimestamp: new Date(now - goingFor * 60_000).toISOString() };
  const aged = objects.map((object) => ({
    ...object,
    metadata: { ...object.metadata, creationTimestamp, ...(object.kind === 'Job' ? going : {}) },
  }));
  return { children: (children) => [...children, ...aged] };
}

const patch: Story = { spec: { version: six }, before: { version: '3.6.1' } };

it('says of a patch release that the Secret is missing, also where nobody has been asked', () => {
  const observed = { credentialsProblem: 'there is no Secret db-auth' };
  const world = etcdWorld({ status: { initialized: true }, ...patch, observed });
  const { agreed: _, ...unasked } = world.observed;
  const situation = situationOf(world.cluster, world.children, unasked);
  expect(planEtcd(situation, takesEtcdBackup).noRestarts).toBe('there is no Secret db-auth');
});

function begins(story: Story, isForeign: boolean): string[] {
  const { cluster, children, observed } = etcdWorld({ status: { initialized: true }, ...story });
  const situation = situationOf(cluster, children, isForeign ? withForeign(observed) : observed);
  const gate = withFreeTurn(planEtcd(situation, takesEtcdBackup), cluster, children, {
    ...{ at: now, resource: etcdKind.resource },
  });
  return [...versionWords(words(gate.plan as ReturnType<typeof planEtcd>)), gate.place];
}

it.each<readonly [string, Story, boolean, string[]]>([
  ['a downgrade begins', down, false, ['enableDowngrade 3.5.0', 'wait Downgrading', 'begins']],
  [
    'a patch release begins',
    { spec: { version: six }, before: { version: '3.6.1' } },
    false,
    ['template db-0', 'template db-1', 'template db-2', 'settled', 'begins'],
  ],
  [
    'a patch release does not begin while etcd lists a member of somebody else',
    { spec: { version: six }, before: { version: '3.6.1' } },
    true,
    ['wait MembersNotReady', 'over'],
  ],
  [
    'nor while the only member would lose its volume',
    {
      spec: { version: six, replicas: 1 },
      before: { version: '3.6.1', replicas: 1 },
      numbers: [0],
      claims: { 0: 'going' },
    },
    false,
    ['wait WaitingForRollout', 'over'],
  ],
  [
    'no backup is taken for an upgrade that cannot begin',
    { spec: { version: six, backup }, before: { version: five, backup } },
    true,
    ['wait MembersNotReady', 'over'],
  ],
  [
    'a backup that takes long keeps the turn',
    { ...upgrade, ...backupJob(60, 'running') },
    false,
    ['wait VersionBackup', 'begins'],
  ],
  [
    'a backup that is about to start keeps it, too',
    { ...upgrade, ...backupJob(4, 'pending') },
    false,
    ['wait VersionBackup', 'begins'],
  ],
  [
    'a backup whose pod has not started for five minutes does not',
    { ...upgrade, ...backupJob(6, 'pending') },
    false,
    ['wait VersionBackup', 'over'],
  ],
  [
    'a patch release does not begin while the Secret is missing',
    { ...patch, observed: { credentialsProblem: 'there is no Secret db-auth' } },
    false,
    ['blocked SecretMissing', 'over'],
  ],
  [
    'nor while cert-manager has yet to make a certificate',
    { ...patch, observed: { awaited: ['db-server'] } },
    false,
    ['wait AwaitingCertificates', 'over'],
  ],
  [
    'a backup that is deleted and begun anew keeps the turn',
    { ...upgrade, ...backupJob(60, 'running', 4) },
    false,
    ['wait VersionBackup', 'begins'],
  ],
  [
    'a backup whose deletion hangs for five minutes does not',
    { ...upgrade, ...backupJob(60, 'running', 6) },
    false,
    ['wait VersionBackup', 'over'],
  ],
  ['not while etcd lists a member of somebody else', down, true, ['wait MembersNotReady', 'over']],
  [
    'a backup comes before, and keeps the turn',
    { ...down, spec: { version: five, backup }, before: { version: six, backup } },
    false,
    ['create ConfigMap db-version-backup-task', 'create Job db-version-backup', 'wait VersionBackup', 'begins'],
  ],
])('%s', (_, story, isForeign, expected) => expect(begins(story, isForeign)).toEqual(expected));
