/** A Backup from its first Job to its last word: each row is a moment in which a controller may begin anew. */

import { describe, expect, it } from 'vitest';
import type { BackupStatus } from '../../../src/api/backup-status.ts';
import { type Condition, mergeConditions } from '../../../src/api/condition.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import { parseAgentTask } from '../../../src/backup/agent-task.ts';
import { desiredConditions } from '../../../src/engine/desired-conditions.ts';
import { drivers } from '../../../src/engines/drivers.ts';
import { fingerprinted } from '../../../src/plan/difference.ts';
import { childrenOf } from '../../../src/resources/children.ts';
import { describeStep } from '../../../src/runtime/executor.ts';
import { restrictedBreaches } from '../../../src/testing/pod-security.ts';
import { db, engineOf, jobOf, refused, resourceOf, taken, target, timeOnly } from '../../support/backup-story.ts';

const engine = engineOf('Backup');
const spec = { cluster: { kind: 'RedisCluster', name: 'db' }, target };
const backupWith = (status?: BackupStatus) => resourceOf('Backup', 'nightly', spec, status);
const [config, job] = engine.resources(backupWith(), db).map(({ object }) => fingerprinted(object)) as [
  KubeObject,
  KubeObject,
];

/** What stands in the status of one that has ended. */
function said(phase: 'Verified' | 'Failed'): readonly Condition[] {
  const judged = phase === 'Verified' ? {} : { degraded: true, stalled: true };
  const claims = desiredConditions(phase === 'Verified' ? 'True' : 'False', 'Ended', 'it has ended', judged);
  return mergeConditions([], claims, 1, '2026-11-21T03:00:10Z');
}

async function look(status: BackupStatus | undefined, objects: readonly KubeObject[], cluster = true, now?: string) {
  const backup = backupWith(status);
  const assessment = await engine.assess(backup, childrenOf(objects), timeOnly(now), cluster ? db : undefined);
  const said = assessment.status as BackupStatus;
  return {
    steps: assessment.plan.steps.map(describeStep),
    phase: said.phase,
    attempts: said.attempts,
    outcome: assessment.plan.outcome,
    message: said.conditions?.find(({ type }) => type === 'Ready')?.message,
    said,
  };
}

const made = ['create ConfigMap backup-nightly-task', 'create Job backup-nightly'];
const [createJob] = made.slice(1);

describe('a Backup', () => {
  it('is a Job that the Pod Security Standard lets in, with a task that the agent understands', () => {
    const template = (job.spec as { template: { spec: Record<string, unknown> } }).template;
    expect(restrictedBreaches(template.spec)).toEqual([]);
    expect(template.spec).toMatchObject({ automountServiceAccountToken: false, restartPolicy: 'Never' });
    const task = parseAgentTask((config.data as Record<string, string>)['task.json'] ?? '', drivers);
    expect(task).toMatchObject({
      task: 'take',
      cluster: { namespace: 'apps', kind: 'RedisCluster', name: 'db', uid: 'uid-of-db' },
      purpose: { type: 'backup', name: 'nightly', uid: 'uid-of-nightly' },
      source: { engine: 'redis', members: [0, 1, 2].map((n) => ({ host: `db-${n}.db.apps.svc`, port: 6379 })) },
    });
  });

  it('is not carried out by the task that an earlier one of the name has left', async () => {
    const of = (uid: string) => [{ apiVersion: 'x', kind: 'Backup', name: 'nightly', uid, controller: true }];
    const left = (object: KubeObject, uid: string): KubeObject => ({
      ...object,
      metadata: { ...object.metadata, uid: `left-${object.kind}`, ownerReferences: of(uid) },
    });
    // Making it finds the other one, and waits until that is gone.
    expect((await look(undefined, [left(config, 'uid-of-an-earlier-one')])).steps).toEqual(made);
    const orphan = { ...config, metadata: { ...config.metadata, ownerReferences: [] } };
    expect((await look(undefined, [orphan])).steps).toEqual(made);
    // Its own, from an attempt that was cut off, of what the cluster was then.
    const old = { ...left(config, 'uid-of-nightly'), data: { 'task.json': '{}' } };
    expect((await look(undefined, [old])).steps).toEqual(['update ConfigMap backup-nightly-task', createJob]);
  });

  it('whose pod is evicted says so in the words of the node, and tries no more than three times again', async () => {
    const { backoffLimit, podFailurePolicy } = job.spec as {
      readonly backoffLimit: number;
      readonly podFailurePolicy: { readonly rules: readonly { readonly action: string }[] };
    };
    expect(backoffLimit).toBe(3);
    expect(podFailurePolicy.rules.map(({ action }) => action)).toEqual(['FailJob']);
    const words = 'Usage of EmptyDir volume "scratch" exceeds the limit "1Gi". ';
    const evicted = (end: 'pending' | 'failed'): KubeObject[] =>
      jobOf(job, end).map((object) =>
        object.kind === 'Pod'
          ? { ...object, status: { phase: 'Failed', reason: 'Evicted', message: words, containerStatuses: [] } }
          : object,
      );
    expect(await look(undefined, evicted('pending'))).toMatchObject({
      phase: 'Pending',
      message: expect.stringContaining(
        `the attempt before it failed: backup-nightly-x7k2p was evicted: ${words.trim()}`,
      ),
    });
    expect(await look(undefined, evicted('failed'))).toMatchObject({
      phase: 'Failed',
      message: `backup-nightly-x7k2p was evicted: ${words.trim()}`,
    });
  });

  it.each([
    ['EtcdCluster', { storage: { size: '1Gi' } }, 2 ** 30],
    ['RedisCluster', { storage: { size: '3Gi' } }, 3 * 2 ** 30],
    // Data is kept in memory: a small volume does not bound it while it is about to grow.
    ['RedisCluster', { storage: { size: '1Gi' }, resources: { limits: { memory: '4Gi' } } }, 4 * 2 ** 30],
  ])('of a %s with %j has room for all of its data', (kind, more, bytes) => {
    const backup = resourceOf('Backup', 'nightly', { ...spec, cluster: { kind, name: 'db' } });
    const objects = engine.resources(backup, resourceOf(kind, 'db', more)).map(({ object }) => object);
    const room = { name: 'scratch', emptyDir: { sizeLimit: String(bytes + bytes / 1024 + 2 ** 20) } };
    expect(JSON.stringify(objects)).toContain(JSON.stringify(room));
    expect(JSON.stringify(objects)).toContain('scratchDirectory');
  });

  it('of an etcd with passwords says what is in no backup, where it is to be found', async () => {
    const password = 'the password of root (Secret db-root, key password), which is in no backup';
    const messageFor = async (kind: string, more: object) => {
      const named = resourceOf('Backup', 'nightly', { ...spec, cluster: { kind, name: 'db' } });
      const objects = childrenOf(jobOf(job, 'complete', taken));
      const assessment = await engine.assess(named, objects, timeOnly(), resourceOf(kind, 'db', more));
      return assessment.status.conditions.find(({ type }) => type === 'Ready')?.message;
    };
    expect(await messageFor('EtcdCluster', { auth: { enabled: true } })).toContain(password);
    expect(await messageFor('EtcdCluster', { auth: { enabled: false } })).not.toContain('password');
    expect(await messageFor('RedisCluster', {})).not.toContain('password');
  });

  it('to a bucket takes a token of the credentials where they have one, and says what to encrypt with', () => {
    const serverSideEncryption = { algorithm: 'aws:kms', kmsKeyId: 'a-key' };
    const s3 = { endpoint: 'https://s3.example.com', bucket: 'backups', credentials: 's3', serverSideEncryption };
    const backup = resourceOf('Backup', 'nightly', { ...spec, target: { s3 } });
    const objects = engine.resources(backup, db).map(({ object }) => object);
    const [{ data } = { data: {} }] = objects as readonly { readonly data?: Readonly<Record<string, string>> }[];
    expect(parseAgentTask(data?.['task.json'] ?? '', drivers)).toMatchObject({
      target: { sessionTokenFile: '/etc/clusterwright/session/sessionToken', serverSideEncryption },
    });
    const items = [{ key: 'sessionToken', path: 'sessionToken' }];
    const volume = { name: 'session', secret: { secretName: 's3', items, optional: true } };
    expect(JSON.stringify(objects)).toContain(JSON.stringify(volume));
  });

  it('that holds suddenly little is verified, kept, and says so', async () => {
    const less = { ...taken, suddenLoss: 'it holds no keys, and X held 3 keys' } as typeof taken;
    const { phase, said } = await look(undefined, jobOf(job, 'complete', less));
    expect(phase).toBe('Verified');
    expect(said.suddenLoss).toBe('it holds no keys, and X held 3 keys');
    const message = 'it was read back from its target and found whole, but it holds no keys, and X held 3 keys';
    expect(said.conditions).toMatchObject([
      { type: 'Ready', status: 'True', reason: 'SuddenLoss', message },
      { type: 'Progressing', status: 'False' },
      { type: 'Degraded', status: 'True', reason: 'SuddenLoss', message },
    ]);
    const again = await look(said, []);
    expect(again.said).toMatchObject({ suddenLoss: said.suddenLoss, conditions: said.conditions });
  });

  it('waits for its cluster', async () => {
    expect(await look(undefined, [], false)).toMatchObject({
      steps: [],
      phase: 'Pending',
      message: 'there is no RedisCluster db in this namespace',
    });
  });

  it('of a kind that this operator does not back up says so, and begins nothing', async () => {
    const backup = backupWith(undefined);
    const unknown = { ...backup, spec: { ...(backup.spec as object), cluster: { kind: 'KafkaCluster', name: 'db' } } };
    const { plan, status } = await engine.assess(unknown, childrenOf([]), timeOnly(), undefined);
    const message =
      'spec.cluster.kind is KafkaCluster, and this operator backs up RedisCluster, EtcdCluster, PostgresCluster';
    expect(plan).toEqual({ steps: [], outcome: { state: 'blocked', reason: 'UnknownKind', message } });
    expect(status).toMatchObject({
      phase: 'Blocked',
      conditions: expect.arrayContaining([{ type: 'Stalled', status: 'True', reason: 'UnknownKind', message }]),
    });
  });

  it('makes its Job', async () => {
    expect(await look(undefined, [])).toMatchObject({ steps: made, phase: 'Pending', attempts: undefined });
  });

  it('counts its Job once it is there, and not those that could not be made', async () => {
    const { said } = await look(undefined, []);
    expect(await look(said, [config])).toMatchObject({ steps: [createJob], attempts: undefined });
    expect(await look(said, jobOf(job, 'pending'))).toMatchObject({ attempts: 1 });
  });

  it('makes its Job where only the task was made', async () => {
    expect(await look(undefined, [config])).toMatchObject({ steps: [createJob] });
  });

  it.each(['pending', 'running'] as const)(
    'makes its task again under a Job that is %s: a pod waits for it',
    async (end) => {
      const [createTask] = made;
      expect(await look({ phase: 'Pending', attempts: 1 }, jobOf(job, end))).toMatchObject({ steps: [createTask] });
      expect((await look({ phase: 'Pending', attempts: 1 }, jobOf(job, end), false)).steps).toEqual([]);
      expect((await look({ phase: 'Pending', attempts: 1 }, jobOf(job, 'complete', taken))).steps).toEqual([]);
    },
  );

  it.each([
    ['of an image that is not there', 'pending', undefined, 'Pending', /ImagePullBackOff: no such image/],
    ['at work', 'running', undefined, 'Running', /is at work/],
    ['ended well', 'complete', taken, 'Verified', /found whole/],
    ['ended well, and its pod has been cleared away', 'complete', undefined, 'Verified', /manifest/],
    ['refused by the target', 'failed', refused('no such bucket'), 'Failed', /^no such bucket$/],
    ['ended without a word', 'failed', '', 'Failed', /ended with code 2/],
    ['ended well without a word', 'complete', '', 'Failed', /is no result; is its image the operator's/],
    ['ended well with words of its own', 'complete', 'done!', 'Failed', /is no result/],
    ['ended well, and said what no agent says', 'complete', '{"result":"taken"}', 'Failed', /backup is required/],
    ['stopped for its time', 'deadline', undefined, 'Failed', /longer than its deadline/],
  ] as const)('with its Job %s', async (_, end, said, phase, message) => {
    const found = await look({ phase: 'Pending', attempts: 1 }, [config, ...jobOf(job, end, said)]);
    expect(found).toMatchObject({ steps: [], phase, attempts: 1 });
    expect(found.message).toMatch(message);
  });

  it('tells what the agent told', async () => {
    const { said } = await look({ attempts: 1 }, jobOf(job, 'complete', taken));
    expect(said).toMatchObject({
      id: '20261121T030000Z-0123abcd',
      location: 'apps/RedisCluster/uid-of-db/20261121T030000Z-0123abcd',
      engine: 'redis',
      version: '8.0.5',
      topology: '3 data nodes under Sentinel',
      size: 1000,
      storedSize: 1100,
      checksum: 'ab'.repeat(32),
      durationSeconds: 1.5,
      job: 'backup-nightly',
    });
  });

  it('is still at work while its pod has ended and its Job has not said so', async () => {
    const ended = jobOf(job, 'complete', taken).map((object) =>
      object.kind === 'Job' ? { ...object, status: { conditions: [] } } : object,
    );
    expect(await look({ phase: 'Running', attempts: 1 }, [config, ...ended])).toMatchObject({ phase: 'Running' });
  });

  it.each([
    ['complete', taken, 'Verified'],
    ['failed', refused('no such bucket'), 'Failed'],
  ] as const)(
    'with its Job %s waits for the last words of a pod that it sees at work, or not at all',
    async (end, said, phase) => {
      const [ended, pod] = jobOf(job, end, said) as [KubeObject, KubeObject];
      const [, atWork] = jobOf(job, 'running') as [KubeObject, KubeObject];
      const [soon, later] = ['2026-11-21T03:00:15Z', '2026-11-21T03:00:41Z'];
      const told = { phase: 'Running', attempts: 1 } as const;
      for (const seen of [[ended], [ended, atWork]]) {
        expect(await look(told, seen, true, soon)).toMatchObject({ phase: 'Running', outcome: { recheckMs: 25_000 } });
      }
      expect(await look(told, [ended, pod], true, soon)).toMatchObject({ phase });
      expect(await look(told, [ended], true, later)).toMatchObject({ phase });
    },
  );

  it('is not taken for the one of its name before', async () => {
    const other = jobOf(job, 'complete', taken).map((object) =>
      object.kind === 'Job' ? { ...object, metadata: { ...object.metadata, ownerReferences: [] } } : object,
    );
    expect(await look(undefined, other)).toMatchObject({ steps: made, phase: 'Pending' });
  });

  it('makes its Job a second time where it vanished before it ended, and no third time', async () => {
    const again = await look({ phase: 'Running', attempts: 1 }, [config]);
    const told = ['update ConfigMap backup-nightly-task', createJob];
    expect(again).toMatchObject({ steps: told, phase: 'Pending' });
    const second = { ...job, metadata: { ...job.metadata, annotations: { 'clusterwright.dev/attempt': '2' } } };
    expect(await look(again.said, [config, ...jobOf(second, 'running')])).toMatchObject({ steps: [], attempts: 2 });
    expect(await look({ phase: 'Running', attempts: 2 }, [config])).toMatchObject({ steps: [], phase: 'Failed' });
  });

  it.each(['Verified', 'Failed'] as const)('%s remembers it when its Job is gone, and its cluster', async (phase) => {
    const told: BackupStatus = { phase, attempts: 1, id: 'x', conditions: said(phase) };
    expect(await look(told, [], false)).toMatchObject({ steps: [], phase, said: { id: 'x' } });
  });
});
