/** The backup that comes before another minor: one a change, verified before any template names the new version. */

import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import type { AgentResult } from '../../../src/backup/agent-result.ts';
import { parseAgentTask } from '../../../src/backup/agent-task.ts';
import { drivers } from '../../../src/engines/drivers.ts';
import type { EtcdSpecInput } from '../../../src/engines/etcd/kind/schema.ts';
import { situationOf } from '../../../src/engines/etcd/observe/situation.ts';
import { planEtcd } from '../../../src/engines/etcd/plan/plan.ts';
import { versionBackup } from '../../../src/engines/etcd/plan/version-backup.ts';
import { etcdStatus } from '../../../src/engines/etcd/status.ts';
import { jobOf, refused, taken, target } from '../../support/backup-story.ts';
import { etcdCluster, etcdWorld, type Story } from '../../support/etcd-situation.ts';
import { takesEtcdBackup, versionWords, words } from '../../support/etcd-words.ts';

const five = '3.5.35';
const six = '3.6.16';
const backup = { target };
/** Five minutes after every Job that has ended. */
const soon = Date.parse('2026-11-21T03:05:00Z');
const hour = 3_600_000;

type World = Pick<Story, 'spec' | 'before' | 'members' | 'pods' | 'metadata' | 'leader' | 'agreed'>;

const up: World = { spec: { version: six, backup }, before: { version: five, backup } };
const down: World = {
  spec: { version: five, backup },
  before: { version: six, backup },
  members: { all: { version: six, storageVersion: '3.6.0' } },
};

/** Every template names the new minor. */
const written: World = {
  spec: { version: six, backup },
  members: { all: { version: five } },
  pods: { all: 'outdated' },
};
const refusedDown: World = { ...down, agreed: { downgrade: { state: 'refused', words: 'not now' } } };

const objectsFor = (
  version: string,
  from: number,
  generation = 1,
  policy: EtcdSpecInput['backup'] = backup,
  at = soon,
): readonly KubeObject[] => {
  const cluster = etcdCluster({ version, ...(policy === undefined ? {} : { backup: policy }) }, { generation });
  return takesEtcdBackup(cluster, versionBackup(cluster, from, at)) ?? [];
};
const [config, job] = objectsFor(six, 5) as [KubeObject, KubeObject];
const kept = (object: KubeObject): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, uid: object.metadata.uid ?? `uid-of-${object.kind}` },
});

function look(story: World, more: readonly KubeObject[] = [], at = soon) {
  const { cluster, children, observed } = etcdWorld({
    ...story,
    children: (objects) => [...objects, ...more.map(kept)],
    observed: { at },
  });
  const plan = planEtcd(situationOf(cluster, children, observed), takesEtcdBackup);
  return {
    plan,
    lines: versionWords(words(plan)),
    message: plan.outcome.state === 'settled' ? '' : plan.outcome.message,
    status: etcdStatus(situationOf(cluster, children, observed), plan),
  };
}

const created = ['create ConfigMap db-version-backup-task', 'create Job db-version-backup', 'wait VersionBackup'];
const removed = ['delete Job db-version-backup', 'delete ConfigMap db-version-backup-task'];
const templates = ['template db-0', 'template db-1', 'template db-2'];

describe('before another minor', () => {
  it.each<[string, World]>([
    ['up', up],
    ['down', down],
  ])('a backup is taken first, on the way %s', (_, story) => {
    const found = look(story);
    expect(found.lines).toEqual(created);
    expect(found.message).toMatch(/^a backup is taken before 3\.\d becomes 3\.\d$/);
  });

  it('it is made for this very change: an attempt that is repeated finds it, and no other change does', () => {
    const task = (objects: readonly KubeObject[]) =>
      parseAgentTask((objects[0]?.data as Record<string, string> | undefined)?.['task.json'] ?? '', drivers);
    const uid = 'uid-db-7-498675';
    expect(task(objectsFor(six, 5, 7))).toMatchObject({ purpose: { type: 'version', name: 'db', uid } });
    expect(task(objectsFor(six, 5, 9))).toMatchObject({ purpose: { uid: 'uid-db-9-498675' } });
    expect(task(objectsFor(six, 5, 7, backup, soon + hour))).toMatchObject({ purpose: { uid: 'uid-db-7-498676' } });
  });

  it('it is found again by whoever died after the first of two objects', () => {
    expect(look(up, [config]).lines).toEqual(created.slice(1));
  });

  it.each(['pending', 'running'] as const)('nothing restarts while its Job is %s, and the status says why', (end) => {
    const { lines, status } = look(up, [config, ...jobOf(job, end)]);
    expect(lines).toEqual(['wait VersionBackup']);
    expect(status.conditions[0]).toMatchObject({ type: 'Ready', status: 'False', reason: 'VersionBackup' });
  });

  it('nothing restarts where it fails; it is begun anew a minute later', () => {
    const failed = [config, ...jobOf(job, 'failed', refused('the store does not answer', true))];
    const at = Date.parse('2026-11-21T03:00:30Z');
    const soon = look(up, failed, at);
    expect(soon.lines).toEqual(['wait VersionBackupFailed']);
    expect(soon.message).toMatch(/the store does not answer; it is tried again, and no member restarts before/);
    expect(soon.plan.outcome).toMatchObject({ recheckMs: 40_000 });
    expect(look(up, failed, at + 60_000).lines).toEqual([...removed, 'wait VersionBackupFailed']);
  });

  it('its task goes with its Job: the next attempt asks those who are members by then', () => {
    const at = Date.parse('2026-11-21T03:05:00Z');
    const failed = jobOf(job, 'failed', refused('full'));
    expect(look(up, failed, at).lines).toEqual(['delete Job db-version-backup', 'wait VersionBackupFailed']);
    expect(look(up, [], at).lines).toEqual(created);
  });

  it('once it is verified the version is rolled out, and no second one is taken', () => {
    const verified = [config, ...jobOf(job, 'complete', taken)];
    expect(look(up, verified).lines).toEqual([...templates, 'settled']);
    // Dead after the last of three templates.
    expect(look(written, verified).lines.at(-1)).toBe('wait Restarting');
  });

  const away: World['members'] = { 0: { version: five }, 1: 'silent', 2: { version: five } };
  const begun: World['members'] = { 0: { version: five }, 1: { version: five }, 2: { version: six } };
  type Row = readonly [story: string, world: World, minutes: number, lines: readonly string[]];
  const anew = [...removed, 'wait VersionBackup'];
  it.each<Row>([
    ['of an hour ago is good', up, 60, [...templates, 'settled']],
    ['of more than an hour ago is followed by another one', up, 61, anew],
    ['of more than an hour ago, on the way down', down, 61, anew],
    ['is good while everybody is well and nobody has restarted', written, 60, ['delete Pod db-1-0', 'wait Restarting']],
    ['is followed by another one where nobody has restarted by then', written, 61, [...templates, ...anew]],
    ['is asked for no more where somebody may have', { ...written, members: away }, 61, ['wait MembersNotReady']],
    [
      'is asked for no more where somebody has',
      { ...written, members: begun },
      61,
      ['delete Pod db-1-0', 'wait Restarting'],
    ],
    ['is not taken anew for what etcd refuses', refusedDown, 61, ['blocked DowngradeRefused']],
  ])('one %s', (_, world, minutes, lines) => {
    const wanted = world.spec?.version === five ? objectsFor(five, 6) : [config, job];
    const [task, first] = wanted as [KubeObject, KubeObject];
    const at = Date.parse('2026-11-21T03:00:01.5Z') + minutes * 60_000;
    expect(look(world, [task, ...jobOf(first, 'complete', taken)], at).lines).toEqual(lines);
  });

  const stored = taken as Extract<AgentResult, { result: 'taken' }>;
  it('the age of one is that of what is stored, where a second attempt has found it', () => {
    const backup = { ...stored.backup, completedAt: '2026-11-21T01:59:00Z' };
    const objects = [config, ...jobOf(job, 'complete', { ...stored, isRepeated: true, backup })];
    expect(look(up, objects).lines).toEqual(anew);
  });

  it('one of which nobody knows what it came to is taken again', () => {
    const [ended] = jobOf(job, 'complete', taken);
    expect(look(up, ended === undefined ? [] : [config, ended]).lines).toEqual(anew);
  });

  it('what was taken on the way there is nothing for the way back', () => {
    const { lines } = look(down, [config, ...jobOf(job, 'complete', taken)]);
    expect(lines).toEqual([...removed, 'wait VersionBackup']);
  });

  it('nor is what a cluster of the same name has left', () => {
    const owner = (uid: string) => [{ apiVersion: 'x', kind: 'EtcdCluster', name: 'db', uid, controller: true }];
    const old = [config, ...jobOf(job, 'complete', taken)].map((object) =>
      object.kind === 'Pod'
        ? object
        : { ...object, metadata: { ...object.metadata, ownerReferences: owner('uid-old') } },
    );
    expect(look(up, old).lines.at(-1)).toBe('wait VersionBackup');
  });

  it('one that was taken for a change that did not happen goes; one for a change that did stays', () => {
    const left = [config, ...jobOf(job, 'complete', taken)];
    expect(look({ spec: { version: five, backup } }, left).lines).toEqual([...removed, 'settled']);
    expect(look({ spec: { version: six, backup } }, left).lines).toEqual(['settled']);
  });

  it('none is taken for another patch, nor where nobody could be asked for the data', () => {
    expect(look({ spec: { version: six, backup }, before: { version: '3.6.1', backup } }).lines).toEqual([
      ...templates,
      'settled',
    ]);
    expect(look({ ...up, members: { all: 'silent' }, leader: 'nobody' }).lines).toEqual(['wait QuorumLost']);
  });

  it('E7: etcd is asked for the way back only after it', () => {
    const [task, wanted] = objectsFor(five, 6) as [KubeObject, KubeObject];
    const { lines } = look(down, [task, ...jobOf(wanted, 'complete', taken)]);
    expect(lines).toEqual(['enableDowngrade 3.5.0', 'wait Downgrading']);
  });
});

describe('a target that is corrected', () => {
  type Policy = NonNullable<EtcdSpecInput['backup']>;
  const s3 = { endpoint: 'https://s3.example', bucket: 'right', region: 'eu', credentials: 'right' };
  const right: Policy = { target: { s3 }, encryption: { secret: 'right' } };
  const wrong: readonly (readonly [string, Policy])[] = [
    ['another bucket', { ...right, target: { s3: { ...s3, bucket: 'wrong' } } }],
    ['a Secret that is not there', { ...right, target: { s3: { ...s3, credentials: 'wrong' } } }],
    ['another key', { ...right, encryption: { secret: 'wrong' } }],
    ['no key', { target: { s3 } }],
    ['a claim', { target, encryption: { secret: 'right' } }],
  ];
  const corrected: World = { spec: { version: six, backup: right }, before: { version: five } };
  const madeFor = (policy: Policy, generation = 1) =>
    objectsFor(six, 5, generation, policy) as readonly [KubeObject, KubeObject];
  const begunAnew = [...removed, 'wait VersionBackup'];

  it.each(wrong)('reaches an attempt that was made for %s, whatever has become of it', (_, policy) => {
    const [task, first] = madeFor(policy);
    for (const end of ['pending', 'running', 'deadline'] as const) {
      expect(look(corrected, [task, ...jobOf(first, end)]).lines).toEqual(begunAnew);
    }
    expect(look(corrected, [task, ...jobOf(first, 'failed', refused('no such bucket'))]).lines).toEqual(begunAnew);
  });

  it.each(wrong)('reaches the next attempt where the operator died after the Job for %s was gone', (_, policy) => {
    const [task] = madeFor(policy);
    expect(look(corrected, [task]).lines).toEqual([removed[1], 'wait VersionBackup']);
    expect(look(corrected).lines).toEqual(created);
  });

  it('waits for a Job that is on its way out', () => {
    const [task, first] = madeFor(wrong[0]?.[1] ?? right);
    const [stopping = first] = jobOf(first, 'running');
    const going = { ...stopping, metadata: { ...stopping.metadata, deletionTimestamp: '2026-11-21T03:00:00Z' } };
    expect(look(corrected, [task, going]).lines).toEqual([removed[1], 'wait VersionBackup']);
    expect(look(corrected, [going]).lines).toEqual(['wait VersionBackup']);
  });

  it.each(wrong)('takes nothing away from a backup that is verified, though it was made for %s', (_, policy) => {
    const [task, first] = madeFor(policy);
    expect(look(corrected, [task, ...jobOf(first, 'complete', taken)]).lines).toEqual([...templates, 'settled']);
  });

  it('is nothing that another change of the spec would be', () => {
    const [task, first] = madeFor(right, 7);
    expect(look(corrected, [task, ...jobOf(first, 'running')]).lines).toEqual(['wait VersionBackup']);
  });
});
