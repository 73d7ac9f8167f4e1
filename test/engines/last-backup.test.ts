/** The end of a cluster under `deletionPolicy: Snapshot`: nothing goes before a last backup is verified. */

import { describe, expect, it } from 'vitest';
import type { Cluster, CommonSpec } from '../../src/api/cluster.ts';
import type { KubeObject, ObjectMeta } from '../../src/api/object.ts';
import type { AgentResult } from '../../src/backup/agent-result.ts';
import { parseAgentTask } from '../../src/backup/agent-task.ts';
import { drivers } from '../../src/engines/drivers.ts';
import { lastBackupAnnotation, planFinalization, withLastBackup } from '../../src/jobs/last-backup.ts';
import { deletionFinalizer } from '../../src/plan/deletion.ts';
import { childrenOf } from '../../src/resources/children.ts';
import { describeStep } from '../../src/runtime/executor.ts';
import { engineOf, jobOf, refused, resourceOf, taken, target } from '../support/backup-story.ts';
import { testEngine } from '../support/test-engine.ts';

type Policy = 'Retain' | 'Snapshot' | 'Delete';

function ending(
  kind: string,
  {
    policy = 'Snapshot',
    metadata = {},
    formed = true,
    backup = { target },
  }: { policy?: Policy; metadata?: Partial<ObjectMeta>; formed?: boolean; backup?: object },
): Cluster<CommonSpec> {
  const cluster = resourceOf(kind, 'db', { deletionPolicy: policy, backup });
  return {
    ...cluster,
    metadata: {
      ...cluster.metadata,
      deletionTimestamp: '2026-11-21T03:00:00Z',
      finalizers: [deletionFinalizer],
      ...metadata,
    },
    status: formed ? { initialized: true } : {},
  } as Cluster<CommonSpec>;
}

const stored = (kind: string, name: string): KubeObject => ({
  apiVersion: kind === 'StatefulSet' ? 'apps/v1' : 'v1',
  kind,
  metadata: { name, namespace: 'apps', uid: `uid-of-${name}` },
});
const ownerReferences = [{ apiVersion: 'x', kind: 'K', name: 'db', uid: 'uid-of-db', controller: true }];
const setOf = (name: string): KubeObject => {
  const { metadata, ...object } = stored('StatefulSet', name);
  return { ...object, metadata: { ...metadata, ownerReferences } };
};
const database = [setOf('db'), stored('PersistentVolumeClaim', 'data-db-0')];
const podThatIs = (status: 'True' | 'False'): KubeObject => ({
  ...stored('Pod', 'db-0'),
  status: { phase: 'Running', conditions: [{ type: 'Ready', status }] },
});
const stopping = ['delete StatefulSet db: the cluster is deleted'];

describe.each(['RedisCluster', 'EtcdCluster', 'PostgresCluster'] as const)(
  'a %s that is deleted with a last backup',
  (kind) => {
    const engine = engineOf(kind);

    function look(cluster: Cluster<CommonSpec>, objects: readonly KubeObject[], now = '2026-11-21T03:00:30Z') {
      const { plan, isWaitingForBackup } = planFinalization(engine, cluster, childrenOf(objects), [], Date.parse(now));
      const { outcome } = plan;
      return {
        plan,
        isWaitingForBackup,
        steps: plan.steps.map(describeStep),
        reason: outcome.state === 'settled' ? 'settled' : outcome.reason,
        message: outcome.state === 'settled' ? '' : outcome.message,
      };
    }

    const begun = look(ending(kind, {}), database);
    const [config, job] = begun.plan.steps.flatMap((step) =>
      step.type === 'create' ? [{ ...step.object, metadata: { ...step.object.metadata, uid: 'uid' } }] : [],
    ) as [KubeObject, KubeObject];

    it('takes it first', () => {
      const begun = look(ending(kind, {}), database);
      const config = begun.plan.steps.flatMap((step) => (step.type === 'create' ? [step.object] : []))[0] as KubeObject;
      expect(begun.steps).toEqual(['create ConfigMap db-last-backup-task', 'create Job db-last-backup']);
      expect(begun).toMatchObject({
        reason: 'LastBackup',
        message: 'a last backup is taken before anything is deleted',
        isWaitingForBackup: true,
      });
      expect(parseAgentTask((config.data as Record<string, string>)['task.json'] ?? '', drivers)).toMatchObject({
        task: 'take',
        purpose: { type: 'deletion', name: 'db', uid: 'uid-of-db' },
      });
    });

    it('waits while it is taken, and deletes nothing', () => {
      for (const end of ['pending', 'running'] as const) {
        expect(look(ending(kind, {}), [...database, config, ...jobOf(job, end)])).toMatchObject({
          steps: [],
          reason: 'LastBackup',
        });
      }
    });

    it.each(['pending', 'running'] as const)(
      'makes its task again under a Job that is %s: a pod waits for it',
      (end) => {
        expect(look(ending(kind, {}), [...database, ...jobOf(job, end)])).toMatchObject({
          steps: ['create ConfigMap db-last-backup-task'],
          reason: 'LastBackup',
        });
      },
    );

    it('writes down that it is verified, before anything goes', () => {
      const written = 'uid-of-db/20261121T030000Z-0123abcd/2026-11-21T03:00:01.500Z';
      const { plan } = look(ending(kind, {}), [...database, config, ...jobOf(job, 'complete', taken)]);
      expect(plan.steps).toEqual([
        expect.objectContaining({
          type: 'patch',
          patch: { metadata: { annotations: { [lastBackupAnnotation]: written } } },
          changes: [
            {
              path: `metadata.annotations[${lastBackupAnnotation}]`,
              to: written,
            },
          ],
        }),
      ]);
    });

    it('is not satisfied with one of more than an hour ago', () => {
      const objects = [...database, podThatIs('True'), config, ...jobOf(job, 'complete', taken)];
      expect(look(ending(kind, {}), objects, '2026-11-21T04:01:00Z')).toMatchObject({
        steps: [
          'delete Job db-last-backup: it was taken more than an hour ago',
          'delete ConfigMap db-last-backup-task: it was taken more than an hour ago',
        ],
        reason: 'LastBackup',
      });
    });

    it.each([
      ['hours ahead', '2026-11-21T06:00:00Z', '2026-11-21T03:50:00Z', true],
      ['hours ahead, and it is old', '2026-11-21T06:00:00Z', '2026-11-21T04:01:00Z', false],
      ['hours behind', '2026-11-20T22:00:00Z', '2026-11-21T03:50:00Z', true],
      ['hours behind, and it is old', '2026-11-20T22:00:00Z', '2026-11-21T04:01:00Z', false],
    ])('goes by no clock of a node where that is %s', (_, completedAt, now, isGood) => {
      const said = {
        ...taken,
        backup: { ...(taken as { readonly backup: object }).backup, completedAt },
      } as AgentResult;
      const begun = { ...job, metadata: { ...job.metadata, creationTimestamp: '2026-11-21T02:59:00Z' } };
      const objects = [...database, podThatIs('True'), config, ...jobOf(begun, 'complete', said)];
      const { steps } = look(ending(kind, {}), objects, now);
      expect(steps[0]).toBe(
        isGood ? `patch ${kind} db` : 'delete Job db-last-backup: it was taken more than an hour ago',
      );
    });

    it('deletes nothing for a backup that holds suddenly little, until a person says so', () => {
      const little = { ...taken, suddenLoss: 'it holds no keys, and 20261120T030000Z-0123abcd held 5 keys' };
      const objects = [...database, podThatIs('True'), config, ...jobOf(job, 'complete', little)];
      const found = look(ending(kind, {}), objects);
      expect(found).toMatchObject({ steps: [], reason: 'LastBackupSuddenLoss', isWaitingForBackup: true });
      expect(found.message).toMatch(
        /^the last backup 20261121T030000Z-0123abcd is verified, but it holds no keys, and 20261120T030000Z-0123abcd held 5 keys: nothing is deleted; .* clusterwright.dev\/confirmed-backup=20261121T030000Z-0123abcd/,
      );
      expect(
        look(ending(kind, {}), [...database, config, ...jobOf(job, 'complete', little)], '2026-11-21T03:02:00Z').reason,
      ).toBe('LastBackupSuddenLoss');
      const annotations = { 'clusterwright.dev/confirmed-backup': '20261121T030000Z-0123abcd' };
      expect(look(ending(kind, { metadata: { annotations } }), objects).steps).toEqual([`patch ${kind} db`]);
      expect(look(ending(kind, { policy: 'Delete' }), objects).steps).toEqual(stopping);
      const retaken = look(ending(kind, {}), objects, '2026-11-21T04:01:00Z');
      expect(retaken.steps).toContain('delete Job db-last-backup: it was taken more than an hour ago');
    });

    it('is not satisfied with one whose Job somebody is deleting, and begins anew when that is gone', () => {
      const [ended, pod] = jobOf(job, 'complete', taken) as [KubeObject, KubeObject];
      const going = { ...ended, metadata: { ...ended.metadata, deletionTimestamp: '2026-11-21T03:00:20Z' } };
      expect(look(ending(kind, {}), [...database, podThatIs('True'), config, going, pod])).toMatchObject({
        steps: [],
        reason: 'LastBackup',
        message: 'a last backup is taken before anything is deleted: begun anew',
      });
    });

    it('awaits the last words of a Job that has just ended, and looks again when they should have come', () => {
      const [ended] = jobOf(job, 'complete', taken) as [KubeObject];
      const { plan, reason } = look(ending(kind, {}), [...database, podThatIs('True'), config, ended]);
      expect([reason, plan.steps, plan.outcome]).toMatchObject(['LastBackup', [], { recheckMs: 10_000 }]);
    });

    it('takes another one where the pod is gone that has said what the last one came to', () => {
      const little = { ...taken, suddenLoss: 'it holds no keys, and 20261120T030000Z-0123abcd held 5 keys' };
      const [job1, pod] = jobOf(job, 'complete', little) as [KubeObject, KubeObject];
      const said = [...database, podThatIs('True'), config, job1, pod];
      expect(look(ending(kind, {}), said, '2026-11-21T03:02:00Z').reason).toBe('LastBackupSuddenLoss');
      // Finished pods are cleaned away: by people, and by Kubernetes with the node.
      const unsaid = said.filter((object) => object !== pod);
      expect(look(ending(kind, {}), unsaid, '2026-11-21T03:02:00Z')).toMatchObject({
        steps: [
          'delete Job db-last-backup: nobody has kept what it came to',
          'delete ConfigMap db-last-backup-task: nobody has kept what it came to',
        ],
        reason: 'LastBackup',
        isWaitingForBackup: true,
      });
    });

    it('goes on once that is written, whether its Job is still there or not', () => {
      const done = ending(kind, { metadata: { annotations: { [lastBackupAnnotation]: 'uid-of-db/x' } } });
      expect(look(done, database)).toMatchObject({ steps: stopping, isWaitingForBackup: false });
      expect(look(done, [...database, config, ...jobOf(job, 'complete', taken)]).steps).toEqual(stopping);
    });

    it('takes another one where nothing has gone for an hour since: what was written meanwhile is in none', () => {
      const [patch] = look(ending(kind, {}), [...database, config, ...jobOf(job, 'complete', taken)]).plan.steps;
      const { annotations } = (patch as unknown as { readonly patch: { readonly metadata: ObjectMeta } }).patch
        .metadata;
      const written = ending(kind, { metadata: annotations === undefined ? {} : { annotations } });
      const inAnHour = '2026-11-21T04:00:00Z';
      const late = '2026-11-21T04:01:00Z';
      const serving = [...database, podThatIs('True')];
      expect(look(written, serving, inAnHour).steps).toEqual(stopping);
      expect(look(written, serving, late).steps).toEqual(begun.steps);
      expect(look(written, [...serving, config, ...jobOf(job, 'complete', taken)], late).steps).toContain(
        'delete Job db-last-backup: it was taken more than an hour ago',
      );
      // What has begun is brought to its end: no backup can be taken of what is left.
      const going = {
        ...database[0],
        metadata: { ...database[0]?.metadata, deletionTimestamp: inAnHour },
      } as KubeObject;
      for (const left of [
        database.slice(1),
        [going, ...database.slice(1)],
        [podThatIs('True'), ...database.slice(1)],
      ]) {
        expect(look(written, left, late).isWaitingForBackup).toBe(false);
      }
    });

    it('takes another one where less has gone than the database needs: it was written to meanwhile', () => {
      const annotations = { [lastBackupAnnotation]: 'uid-of-db/20261121T030000Z-0123abcd/2026-11-21T03:00:00Z' };
      const late = '2026-11-21T04:01:00Z';
      const isRedis = kind === 'RedisCluster';
      const sets = isRedis ? ['db', 'db-sentinel'] : ['db-0', 'db-1', 'db-2'];
      const members = (isRedis ? ['db-0', 'db-1', 'db-sentinel-0'] : ['db-0-0', 'db-1-0', 'db-2-0']).map((name) => ({
        name,
      }));
      const enough = { RedisCluster: ['db'], EtcdCluster: ['db-1', 'db-2'], PostgresCluster: ['db-1'] };
      const tooFew = { RedisCluster: [['db-sentinel'], []], EtcdCluster: [['db-1'], []], PostgresCluster: [[]] };
      const known = { ...ending(kind, { metadata: { annotations } }), status: { initialized: true, members } };
      const left = (...names: readonly string[]) =>
        look(known as unknown as Cluster<CommonSpec>, [...names.map(setOf), ...database.slice(1)], late);
      const copy = { ...stored('StatefulSet', 'copy'), metadata: { name: 'copy', uid: 'uid-of-copy' } };
      expect(left(...sets).steps).toEqual(begun.steps);
      expect(left(...enough[kind]).steps).toEqual(begun.steps);
      for (const names of tooFew[kind]) {
        expect(left(...names)).toMatchObject({
          isWaitingForBackup: false,
          steps: expect.not.arrayContaining(begun.steps),
        });
      }
      // Of others: they stay, whatever becomes of the cluster.
      const others = [copy, { ...copy, metadata: { name: 'copy-2', uid: 'uid-of-copy-2' } }];
      const end = look(known as unknown as Cluster<CommonSpec>, [...others, ...database.slice(1)], late);
      expect(end.isWaitingForBackup).toBe(false);
    });

    it('is not satisfied with the last backup of another cluster of its name', () => {
      const copied = ending(kind, { metadata: { annotations: { [lastBackupAnnotation]: 'uid-before/x' } } });
      expect(look(copied, database).steps).toEqual(begun.steps);
    });

    it('says why it could not be taken, waits, and tries again', () => {
      const objects = [...database, config, ...jobOf(job, 'failed', refused('the store does not answer', true))];
      const soon = look(ending(kind, {}), objects);
      expect(soon).toMatchObject({ steps: [], reason: 'LastBackupFailed' });
      expect(soon.message).toMatch(/the store does not answer; it is tried again, nothing is deleted before/);
      // Sooner than it is tried again: by then a minute has gone since the deletion, and nobody is ready.
      expect(soon.plan.outcome).toMatchObject({ recheckMs: 30_000 });
      for (const at of ['2026-11-21T03:01:10Z', '2026-11-21T03:01:30Z']) {
        const later = look(ending(kind, {}), [...objects, podThatIs('True')], at);
        expect(later.steps).toEqual([
          'delete Job db-last-backup: it has failed and is begun anew',
          'delete ConfigMap db-last-backup-task: it has failed and is begun anew',
        ]);
        // That it is gone is what the next look waits for.
        expect(later.plan.outcome).not.toHaveProperty('recheckMs');
      }
    });

    it.each<[string, readonly KubeObject[], string, string]>([
      ['no member runs', [], '03:01:00', 'LastBackupHeldUp'],
      ['no member is ready', [podThatIs('False')], '03:01:00', 'LastBackupHeldUp'],
      ['none has been for less than a minute', [], '03:00:59', 'LastBackup'],
      ['a member is ready', [podThatIs('True')], '09:00:00', 'LastBackup'],
    ])('says so where nobody could give one: %s', (_, pods, at, reason) => {
      const objects = [...database, ...pods, config, ...jobOf(job, 'running')];
      const found = look(ending(kind, {}), objects, `2026-11-21T${at}Z`);
      expect([found.reason, found.steps]).toEqual([reason, []]);
      const { outcome } = found.plan;
      const soon = at === '03:00:59' ? { recheckMs: 1000 } : {};
      expect(outcome).toMatchObject({ state: 'wait', ...soon });
      if (reason !== 'LastBackupHeldUp') return;
      expect(found.message).toMatch(
        /^no member is ready, so no last backup .* waits since 2026-11-21T03:00:00Z; set deletionPolicy to Retain, .* or to Delete.* \(a last backup is taken before anything is deleted: .*\)$/,
      );
    });

    it('is begun anew at once where its target is another one by now', () => {
      const objects = [...database, config, ...jobOf(job, 'failed', refused('no such claim'))];
      const corrected = ending(kind, { backup: { target: { claim: { name: 'others' } } } });
      expect(look(corrected, objects)).toMatchObject({
        steps: [
          'delete Job db-last-backup: it was taken for something else',
          'delete ConfigMap db-last-backup-task: it was taken for something else',
        ],
        reason: 'LastBackup',
      });
      const created = look(corrected, database).plan.steps.flatMap((step) =>
        step.type === 'create' ? [JSON.stringify(step.object)] : [],
      );
      expect(created.at(-1)).toContain('others');
    });

    it.each<[Policy, readonly string[]]>([
      ['Delete', stopping],
      ['Retain', [`patch ${kind} db`]],
    ])('goes the way of %s where that is wanted by now', (policy, steps) => {
      const objects = [...database, config, ...jobOf(job, 'failed', refused('full'))];
      expect(look(ending(kind, { policy }), objects).steps).toEqual(steps);
    });

    it('backs up nothing where there never was anything', () => {
      expect(look(ending(kind, { formed: false }), [])).toMatchObject({ reason: 'settled', isWaitingForBackup: false });
      // What an earlier cluster of the name has left counts.
      expect(look(ending(kind, { formed: false }), database).steps).toEqual(begun.steps);
      // So does what was formed without volumes.
      expect(look(ending(kind, {}), database.slice(0, 1)).steps).toEqual(begun.steps);
    });

    it('backs up nothing while it is being restored: what restores it owns the volumes', () => {
      const owners = [
        { apiVersion: 'v1', kind: 'Other', name: 'other', uid: 'uid-of-other' },
        { apiVersion: 'batch/v1', kind: 'Job', name: 'db-restore', uid: 'uid-of-job', controller: true },
      ];
      const claim = stored('PersistentVolumeClaim', 'data-db-0');
      const owned = { ...claim, metadata: { ...claim.metadata, ownerReferences: owners } };
      expect(look(ending(kind, { formed: false }), [owned])).toMatchObject({
        reason: 'DeletingData',
        isWaitingForBackup: false,
      });
    });
  },
);

describe('a RedisCluster without volumes', () => {
  it('takes another last backup where its sentinels have gone alone: the nodes were written to meanwhile', () => {
    const annotations = { [lastBackupAnnotation]: 'uid-of-db/20261121T030000Z-0123abcd/2026-11-21T03:00:00Z' };
    const cluster = ending('RedisCluster', { metadata: { annotations } });
    const members = ['db-0', 'db-1', 'db-2', 'db-sentinel-0'].map((name) => ({ name }));
    const ephemeral = {
      ...cluster,
      spec: { ...cluster.spec, storage: { size: '1Gi', ephemeral: true } },
      status: { initialized: true, members },
    } as unknown as Cluster<CommonSpec>;
    const late = Date.parse('2026-11-21T04:01:00Z');
    const isWaiting = (...sets: readonly string[]): boolean =>
      planFinalization(engineOf('RedisCluster'), ephemeral, childrenOf(sets.map(setOf)), [], late).isWaitingForBackup;
    expect([isWaiting('db', 'db-sentinel'), isWaiting('db'), isWaiting('db-sentinel')]).toEqual([true, true, false]);
  });
});

describe('an EtcdCluster that is parked', () => {
  it('says that it is parked, and what lets it go', () => {
    const cluster = ending('EtcdCluster', {});
    const parked = { ...cluster, spec: { ...cluster.spec, replicas: 0 } };
    const { plan } = planFinalization(
      engineOf('EtcdCluster'),
      parked,
      childrenOf(database),
      [],
      Date.parse('2026-11-21T05:00:00Z'),
    );
    expect(plan.outcome).toMatchObject({
      reason: 'LastBackupHeldUp',
      message: expect.stringMatching(/^the cluster is parked \(replicas: 0\), so no last backup can be taken/),
    });
  });
});

describe('a cluster of which nobody can take a backup', () => {
  const cluster = ending('RedisCluster', {});
  const resources = engineOf('RedisCluster').resources;
  const withoutBackups = withLastBackup(testEngine({ resources }), 'operator:1');
  const withoutTarget = { ...cluster, spec: { ...cluster.spec, backup: undefined } } as unknown as Cluster<CommonSpec>;

  it.each([
    ['its engine has no backups', withoutBackups, cluster],
    ['its kind lets Snapshot pass without a target', engineOf('RedisCluster'), withoutTarget],
  ])('stays under Snapshot with its data: %s', (_, engine, ending) => {
    const { plan, isWaitingForBackup } = planFinalization(engine, ending, childrenOf(database), [], 0);
    expect(isWaitingForBackup).toBe(true);
    expect(plan).toMatchObject({ steps: [], outcome: { state: 'wait', reason: 'LastBackupHeldUp' } });
  });

  it('goes where it has no volumes: an engine without backups keeps no data elsewhere', () => {
    const { plan } = planFinalization(withoutBackups, cluster, childrenOf([setOf('db')]), [], 0);
    expect(plan.steps.map(describeStep)).toEqual(stopping);
  });
});
