/** A claim that holds somebody's data is no target for backups: whoever would mount it is not made. */
import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../src/api/cluster.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { jobs } from '../../src/api/resource.ts';
import type { ClaimUse } from '../../src/engine/engine-context.ts';
import { redis } from '../../src/engines/redis/index.ts';
import { whyNotATarget, withCheckedTarget } from '../../src/jobs/target-claim.ts';
import { toHandler } from '../../src/jobs/to-handler.ts';
import { type Plan, type Step, settled, wait } from '../../src/plan/plan.ts';
import { childrenOf, noChildren } from '../../src/resources/children.ts';
import type { ClaimReader } from '../../src/runtime/claim-use.ts';
import { describeStep } from '../../src/runtime/executor.ts';
import { db, engineOf, resourceOf, target, timeOnly } from '../support/backup-story.ts';
import { blankClaims } from '../support/blank-claims.ts';

const labels = { 'app.kubernetes.io/managed-by': 'clusterwright', 'app.kubernetes.io/component': 'data' };
const claimWith = (metadata: object = {}, name = 'backups'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace: 'apps', ...metadata },
});
const use = (more: Partial<ClaimUse> = {}): ClaimUse => ({ claim: claimWith(), pods: [], sets: [], ...more });

function podWith(spec: object = {}, metadata: object = {}): KubeObject {
  const volumes = [{ name: 'files', persistentVolumeClaim: { claimName: 'backups' } }];
  const containers = [{ name: 'c', volumeMounts: [{ name: 'files', mountPath: '/files' }] }];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'somebody', ...metadata },
    spec: { volumes, containers, ...spec },
  };
}
const setOf = (name: string, ...templates: readonly string[]): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name },
  spec: {
    volumeClaimTemplates: (templates.length === 0 ? ['data'] : templates).map((data) => ({ metadata: { name: data } })),
  },
});
/** Its pods have no volumes of their own. */
const bare = (name: string): KubeObject => ({ ...setOf(name), spec: {} });
const claimed = (claimName: string, more: object = {}) => ({ persistentVolumeClaim: { claimName, ...more } });
const forBackups = { 'clusterwright.dev/for-backups': 'true' };

describe('a claim', () => {
  it.each<[string, ClaimUse, RegExp | undefined]>([
    ['that nobody uses', use(), undefined],
    [
      'of a cluster of ours',
      use({
        claim: claimWith({
          labels: { ...labels, 'app.kubernetes.io/instance': 'cache', 'app.kubernetes.io/name': 'redis' },
        }),
      }),
      /^holds data of the cluster cache \(redis\)/,
    ],
    [
      'of a cluster of ours, whatever somebody says',
      use({ claim: claimWith({ labels, annotations: forBackups }) }),
      /^holds data of the cluster/,
    ],
    [
      'that belongs to somebody',
      use({ claim: claimWith({ ownerReferences: [{ apiVersion: 'x/v1', kind: 'Cluster', name: 'pg', uid: 'u' }] }) }),
      /^belongs to Cluster pg/,
    ],
    [
      'of a StatefulSet without pods',
      use({ claim: claimWith({}, 'data-pg-2'), sets: [setOf('pg')] }),
      /^is a volume of StatefulSet pg/,
    ],
    [
      'of the twelfth pod of a StatefulSet, in its second template',
      use({ claim: claimWith({}, 'data-pg-12'), sets: [bare('cache'), setOf('pg', 'logs', 'data')] }),
      /^is a volume of StatefulSet pg/,
    ],
    ['with a name like that of one', use({ claim: claimWith({}, 'data-pg-backup'), sets: [setOf('pg')] }), undefined],
    ['of a set whose name goes on', use({ claim: claimWith({}, 'data-pg-0-0'), sets: [setOf('pg')] }), undefined],
    ['that a pod mounts', use({ pods: [podWith()] }), /^is mounted by Pod somebody/],
    [
      'that a pod mounts for an init container',
      use({
        pods: [
          podWith({
            containers: [],
            initContainers: [{ name: 'i', volumeMounts: [{ name: 'files', mountPath: '/' }] }],
          }),
        ],
      }),
      /^is mounted by Pod/,
    ],
    [
      'that a pod has as a device',
      use({
        pods: [podWith({ containers: [{ name: 'c', volumeDevices: [{ name: 'files', devicePath: '/dev/x' }] }] })],
      }),
      /^is mounted by Pod/,
    ],
    [
      'that a pod only reads',
      use({
        pods: [
          podWith({ containers: [{ name: 'c', volumeMounts: [{ name: 'files', mountPath: '/', readOnly: true }] }] }),
        ],
      }),
      undefined,
    ],
    [
      'that a pod has as a volume to read',
      use({
        pods: [
          podWith({ volumes: [{ name: 'files', persistentVolumeClaim: { claimName: 'backups', readOnly: true } }] }),
        ],
      }),
      undefined,
    ],
    [
      'that a pod has and mounts nowhere, beside another that it writes to',
      use({ pods: [podWith({ containers: [{ name: 'c', volumeMounts: [{ name: 'others', mountPath: '/' }] }] })] }),
      undefined,
    ],
    [
      'that a pod has and mounts nowhere, beside a claim of its own that it writes to',
      use({
        pods: [
          podWith({
            volumes: [
              { name: 'files', ...claimed('backups') },
              { name: 'own', ...claimed('own') },
            ],
            containers: [{ name: 'c', volumeMounts: [{ name: 'own', mountPath: '/' }] }],
          }),
        ],
      }),
      undefined,
    ],
    [
      'that a pod has twice, once to read and once to write, beside a directory that is passed on',
      use({
        pods: [
          podWith({
            volumes: [
              { name: 'old', ...claimed('backups', { readOnly: true }) },
              { name: 'tmp', emptyDir: {} },
              { name: 'files', ...claimed('backups') },
            ],
            containers: [
              {
                name: 'c',
                volumeMounts: [
                  { name: 'tmp', mountPath: '/tmp' },
                  { name: 'files', mountPath: '/files' },
                ],
              },
            ],
          }),
        ],
      }),
      /^is mounted by Pod somebody/,
    ],
    [
      'that an agent of somebody else mounts',
      use({ pods: [podWith({}, { labels: { 'app.kubernetes.io/component': 'agent' } })] }),
      /^is mounted by Pod somebody/,
    ],
    [
      'that a Job of ours mounts',
      use({ pods: [podWith({}, { labels: { ...labels, 'app.kubernetes.io/component': 'agent' } })] }),
      undefined,
    ],
    ['that a pod of ours mounts', use({ pods: [podWith({}, { labels })] }), /^is mounted by Pod/],
    [
      'that is for backups, as a person says',
      use({ claim: claimWith({ annotations: forBackups }), pods: [podWith()] }),
      undefined,
    ],
  ])('%s may be mounted, or the reason is said', (_, found, words) => {
    if (words === undefined) expect(whyNotATarget(found)).toBeUndefined();
    else expect(whyNotATarget(found)).toMatch(words);
  });
});

describe('a target', () => {
  const foreign: ClaimReader = async () => use({ pods: [podWith()] });
  const missing: ClaimReader = async () => undefined;
  const going: ClaimReader = async () => use({ claim: claimWith({ deletionTimestamp: '2026-11-21T03:00:00Z' }) });
  const spec = { cluster: { kind: 'RedisCluster', name: 'db' }, target };
  const backup = resourceOf('Backup', 'nightly', spec);
  const schedule = resourceOf('BackupSchedule', 'nightly', { ...spec, schedule: '0 3 * * *' });
  const restored = resourceOf('RedisCluster', 'new', { bootstrap: { restore: { target, cluster: { name: 'db' } } } });
  const message = `PersistentVolumeClaim backups is mounted by Pod somebody: backups need one of their own; one that is meant for them all the same is annotated with clusterwright.dev/for-backups=true`;

  it.each([backup, schedule, restored])('of somebody’s data blocks a $kind before anything is made', async (object) => {
    const { plan, status } = await engineOf(object.kind).assess(object, noChildren, timeOnly(undefined, foreign), db);
    expect(plan.steps.filter((step) => step.type === 'create' && /Job|ConfigMap/.test(step.object.kind))).toEqual([]);
    expect(plan.outcome).toEqual({ state: 'blocked', reason: 'ClaimInUse', message, recheckMs: 10_000 });
    expect(status.phase).toBe('Blocked');
    expect(status.conditions).toContainEqual({ type: 'Ready', status: 'False', reason: 'ClaimInUse', message });
    expect(status.conditions).toContainEqual({ type: 'Stalled', status: 'True', reason: 'ClaimInUse', message });
  });

  it.each([
    [missing, 'there is no PersistentVolumeClaim backups in this namespace to keep backups on'],
    [going, 'somebody has deleted the PersistentVolumeClaim backups in this namespace to keep backups on'],
  ])('that is not there is waited for', async (claims, message) => {
    for (const object of [backup, schedule, restored]) {
      const { plan } = await engineOf(object.kind).assess(object, noChildren, timeOnly(undefined, claims), db);
      expect(plan.steps.filter((step) => step.type === 'create' && /Job/.test(step.object.kind))).toEqual([]);
      expect(plan.outcome).toMatchObject({ state: 'wait', reason: 'ClaimMissing', message, recheckMs: 10_000 });
    }
  });

  it('is looked at also for what is done while restarts wait', async () => {
    const { plan } = await engineOf('Backup').assess(backup, noChildren, timeOnly(), db);
    const waits: Plan<never> = { steps: plan.steps as Plan<never>['steps'], outcome: wait('VersionBackup', 'x') };
    const status = { phase: 'Ready', conditions: [] } as const;
    const engine = toHandler({
      ...redis,
      observe: async () => redis.offlineObservation,
      plan: () => ({ ...waits, otherwise: waits }),
      status: () => status,
    });
    const { otherwise } = await engine.assess(db, noChildren, timeOnly(undefined, foreign));
    expect(otherwise?.plan).toMatchObject({ steps: [], outcome: { state: 'blocked', reason: 'ClaimInUse' } });
  });

  it('that is good lets everything be made, and a restore only reads it', async () => {
    for (const object of [backup, schedule, restored]) {
      const { plan } = await engineOf(object.kind).assess(object, noChildren, timeOnly(undefined, blankClaims), db);
      expect(plan.steps.some((step) => step.type === 'create' && /Job/.test(step.object.kind))).toBe(true);
      const isRead = JSON.stringify(plan.steps).includes('"name":"target","mountPath":"/backups","readOnly":true');
      expect(isRead).toBe(object === restored);
    }
  });

  it('that is refused leaves the rest of a plan as it was', async () => {
    const { steps } = engineOf('Backup').planOffline(backup, db);
    const own: Step = {
      type: 'apply',
      object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'db' } },
      changes: [],
    };
    const ref = { resource: jobs, namespace: 'apps', name: 'before', uid: 'u', resourceVersion: '1' };
    const removal: Step = { type: 'delete', ref, reason: 'nobody waits for it' };
    const plan: Plan = { steps: [own, removal, ...steps], outcome: settled, destructive: true };
    const checked = await withCheckedTarget(plan, timeOnly(undefined, missing), () => false);
    expect(checked).toEqual({ steps: [own, removal], outcome: settled, destructive: true });
  });

  describe('for a schedule that had another one', () => {
    const before = resourceOf('BackupSchedule', 'nightly', {
      ...spec,
      target: { claim: { name: 'good' } },
      schedule: '0 3 * * *',
    });
    const live = engineOf('BackupSchedule')
      .resources(before, db)
      .map(({ object }): KubeObject => {
        return { ...object, metadata: { ...object.metadata, uid: 'u', resourceVersion: '1' } };
      });
    const look = async (claims: ClaimReader, cluster: Cluster, children: readonly KubeObject[] = live) => {
      const io = timeOnly(undefined, claims);
      return (await engineOf('BackupSchedule').assess(schedule, childrenOf(children), io, cluster)).plan;
    };
    const again = { ...db, metadata: { ...db.metadata, uid: 'uid-of-the-next' } };

    it('is none where it holds somebody’s data: it goes on with the other one', async () => {
      const outcome = { state: 'blocked', reason: 'ClaimInUse' };
      expect(await look(foreign, db)).toMatchObject({ steps: [], outcome });
    });

    it('begins no more runs for an earlier cluster of the name: the data of the next one would age out its backups', async () => {
      for (const claims of [foreign, missing]) {
        const { steps } = await look(claims, again);
        expect(steps).toMatchObject([
          { type: 'patch', ref: { name: 'schedule-nightly', uid: 'u' }, patch: { spec: { suspend: true } } },
        ]);
      }
      const suspended = live.map((object) =>
        object.kind === 'CronJob' ? { ...object, spec: { ...(object.spec as object), suspend: true } } : object,
      );
      expect((await look(foreign, again, suspended)).steps).toEqual([]);
      const { steps } = await look(blankClaims, again, suspended);
      expect(steps.map(describeStep)).toEqual([
        'update ConfigMap schedule-nightly-task',
        'update CronJob schedule-nightly',
      ]);
      expect(JSON.stringify(steps.at(-1))).toContain('"suspend":false');
    });

    it('is not asked whose backups it takes where nobody can tell', async () => {
      const of = (data: object) => live.map((object) => (object.kind === 'ConfigMap' ? { ...object, data } : object));
      for (const data of [{}, { 'task.json': '{' }, { 'task.json': 'null' }, { 'task.json': '{"cluster":null}' }]) {
        expect((await look(foreign, again, of(data))).steps).toEqual([]);
      }
      expect((await look(foreign, again, live.slice(0, 1))).steps).toEqual([]);
    });
  });

  it('is the only claim that is asked about: the volume that a restore fills is none', async () => {
    const names = new Set<string>();
    const noted: ClaimReader = async (namespace, name, signal) => {
      names.add(name);
      return blankClaims(namespace, name, signal);
    };
    for (const object of [backup, schedule, restored]) {
      await engineOf(object.kind).assess(object, noChildren, timeOnly(undefined, noted), db);
    }
    expect([...names]).toEqual(['backups']);
  });

  it('is not asked for where nothing is to be made', async () => {
    const never: ClaimReader = () => Promise.reject(new Error('not asked'));
    const { plan } = await engineOf('Backup').assess(backup, noChildren, timeOnly(), db);
    const made = plan.steps.flatMap((step) => (step.type === 'create' ? [step.object] : []));
    const seen = made.map((object) => ({ ...object, metadata: { ...object.metadata, uid: 'u' } }));
    await engineOf('Backup').assess(backup, childrenOf(seen), timeOnly(undefined, never), db);
  });
});
