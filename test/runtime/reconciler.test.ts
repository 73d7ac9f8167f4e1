import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject, ObjectMeta } from '../../src/api/object.ts';
import { configMaps, persistentVolumeClaims, pods } from '../../src/api/resource.ts';
import { deletionFinalizer } from '../../src/plan/deletion.ts';
import { blocked, type Outcome, type Step, settled, wait } from '../../src/plan/plan.ts';
import { agentComponent, componentLabel, managedBy, managedByLabel } from '../../src/resources/metadata.ts';
import { detailDelayMs } from '../../src/runtime/status-writer.ts';
import { act, type ReconcilerRig, reconcilerRig, rigKey } from '../support/reconciler-rig.ts';
import { ready, testChild, testClaim, testCluster, testEngine } from '../support/test-engine.ts';
import { turn } from '../support/virtual-clock.ts';

let rig: ReconcilerRig;

async function begin(spec: object = {}, metadata: Partial<ObjectMeta> = {}): Promise<void> {
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db-auth', namespace: 'apps' } };
  const resources = () => [{ object: secret, generate: [{ key: 'password', length: 8 }] }];
  await rig?.stop();
  rig = await reconcilerRig([testCluster('db', spec, metadata)], testEngine({ resources }));
}

beforeEach(() => begin());
afterEach(() => rig.stop());

const child = (): KubeObject => testChild(rig.cluster(), 'ConfigMap');
const create = (): Step => ({ type: 'create', object: child() });
const growth: Step = {
  type: 'patch',
  optional: true,
  ref: { resource: persistentVolumeClaims, namespace: 'apps', name: 'data-db-0', uid: 'uid' },
  patch: {},
  changes: [],
};
const unserved: Step = {
  type: 'create',
  optional: true,
  object: { ...testChild(testCluster('db'), 'ConfigMap'), apiVersion: 'cert-manager.io/v1', kind: 'Certificate' },
};
const refused = (): Promise<never> => Promise.reject(new Error('NOPERM'));

describe('a pass', () => {
  it('does what was planned, says so, and knows what it did', async () => {
    rig.finds([create()], wait('MembersStarting', 'no node answers yet', 500));
    const result = await rig.pass();
    expect(result).toMatchObject({ outcome: { reason: 'MembersStarting' }, again: 500 });
    expect(result.understood?.children.get('ConfigMap', 'db')).toBeDefined();
    expect(rig.status().plan).toEqual({ waitingFor: 'no node answers yet' });
    expect(rig.condition('Ready')).toBe('True AllMembersReady: all is well');
    expect(rig.outcomes).toEqual([wait('MembersStarting', 'no node answers yet', 500)]);
  });

  it('has nothing new to say about what it has created itself', async () => {
    rig.finds([create()], wait('MembersStarting', 'no node answers yet'));
    await rig.pass();
    rig.finds([], wait('MembersStarting', 'no node answers yet'));
    expect((await rig.pass()).again).toBeUndefined();
    expect(rig.api.writes).toEqual(['POST apps/configmaps', 'PATCH db/status']);
  });

  it('over a cluster where all is well writes nothing a second time', async () => {
    await rig.pass();
    await rig.pass();
    expect(rig.api.writes).toEqual(['PATCH db/status']);
  });

  it.each<readonly [story: string, steps: readonly Step[], outcome: Outcome, again: number | undefined]>([
    ['settled: a watch will tell', [], settled, undefined],
    ['waits for what a watch will tell', [], wait('Restarting', 'a pod restarts'), undefined],
    ['waits for the database', [], wait('Repairing', 'members are brought in line', 500), 500],
    ['is blocked by what a watch will tell of', [], blocked('DataLost', 'every volume is gone'), undefined],
    ['is blocked by what no watch tells of', [], blocked('SecretMissing', 'there is no password', 10_000), 10_000],
    ['has acted: the effect shows in a moment', [act], wait('Repairing', 'members are brought in line', 500), 50],
    ['has acted for the last time', [act], settled, 50],
  ])('comes back in time: %s', async (_, steps, outcome, again) => {
    rig.finds(steps, outcome);
    expect((await rig.pass()).again).toBe(again);
  });

  it('that fails over the wire says so in the status, and is repeated', async () => {
    rig.finds([act, create()], settled, refused);
    await expect(rig.pass()).rejects.toThrow('ask for something: NOPERM');
    expect(rig.condition('Ready')).toBe('False StepFailed: ask for something: NOPERM');
    expect(rig.api.list('ConfigMap')).toEqual([]);
    const said = 'True StepFailed: ask for something: NOPERM';
    expect([rig.status().phase, rig.condition('Progressing'), rig.condition('Reconciling')]).toEqual([
      'Updating',
      said,
      said,
    ]);
    expect(rig.condition('Degraded')).toBe('False StepFailed: ask for something: NOPERM');
  });

  it('that fails where nobody has asked for a change says that the cluster is less than it should be', async () => {
    await rig.pass();
    rig.finds([act], settled, refused);
    await expect(rig.pass()).rejects.toThrow('ask for something: NOPERM');
    expect([rig.status().phase, rig.condition('Degraded')]).toEqual([
      'Degraded',
      'True StepFailed: ask for something: NOPERM',
    ]);
  });

  it('that meets an object of somebody else is blocked, and looks again later', async () => {
    rig.api.put({ ...child(), metadata: { name: 'db', namespace: 'apps' } });
    rig.finds([create()]);
    expect(await rig.pass()).toEqual({
      outcome: {
        state: 'blocked',
        reason: 'NameConflict',
        message: 'ConfigMap db exists and belongs to somebody else',
      },
      again: 30_000,
    });
    const said = 'NameConflict: ConfigMap db exists and belongs to somebody else';
    expect(rig.status().phase).toBe('Blocked');
    expect(['Ready', 'Progressing', 'Stalled'].map(rig.condition)).toEqual([
      `False ${said}`,
      `False ${said}`,
      `True ${said}`,
    ]);
    expect(rig.status().plan).toEqual({ blockedBy: 'ConfigMap db exists and belongs to somebody else' });
  });

  it('goes on when a volume cannot grow, and logs it', async () => {
    rig.finds([growth, create()]);
    await rig.pass();
    expect(rig.api.list('ConfigMap').length).toBe(1);
    const warnings = rig.log.entries.filter(({ level }) => level !== 'debug');
    expect(warnings).toMatchObject([{ level: 'warn', fields: { cluster: rigKey } }]);
    expect(rig.condition('Ready')).toMatch(/^True/);
  });

  it('goes on where a kind of somebody else is not known, and says what it could not do', async () => {
    rig.api.intercept = ({ method, path }) =>
      method === 'POST' && path.includes('cert-manager')
        ? Promise.resolve({ status: 404, headers: {}, body: '404 page not found\n' })
        : undefined;
    rig.finds([unserved, create()]);
    await rig.pass();
    expect(rig.api.list('ConfigMap').length).toBe(1);
    expect(rig.status().plan).toEqual({ next: 'create Certificate db' });
    expect(rig.condition('Ready')).toMatch(/^True/);
  });

  it.each<readonly [story: string, steps: readonly Step[], observed: number]>([
    ['nothing had to be done for it', [], 2],
    [
      'an object is being changed',
      [{ type: 'apply', object: testChild(testCluster('db'), 'ConfigMap'), changes: [] }],
      1,
    ],
    ['a member is being asked', [act], 1],
    ['a volume that cannot grow holds up nothing', [growth], 2],
    ["a kind of somebody else's holds up nothing", [unserved], 2],
  ])('calls a new generation ready when it is: %s', async (_, steps, observed) => {
    await rig.pass();
    const now = rig.cluster();
    rig.api.put({ ...now, spec: { replicas: 5 } });
    rig.finds(steps);
    await rig.pass();
    expect([rig.status().observedGeneration, rig.condition('Ready')]).toEqual([
      observed,
      'True AllMembersReady: all is well',
    ]);
  });

  it('calls a new generation less than ready at once, whatever is under way for it', async () => {
    await rig.pass();
    rig.api.put({ ...rig.cluster(), spec: { replicas: 5 } });
    rig.finds([act], blocked('TooFewHealthy', 'too few are well'));
    await rig.pass();
    expect([rig.status().observedGeneration, rig.condition('Ready')]).toEqual([
      2,
      'False TooFewHealthy: too few are well',
    ]);
  });

  it('that would make a child again for a cluster that is gone does nothing: the watch is late', async () => {
    const seen = { ...rig.cluster(), status: { observedGeneration: 1 } };
    rig.finds([create()]);
    rig.api.vanish('RedisCluster', 'db');
    const result = await rig.pass(seen);
    expect(result.outcome).toMatchObject({ reason: 'Outdated' });
    expect(rig.api.list('ConfigMap')).toEqual([]);
  });

  it.each<readonly [story: string, step: Step, asked: number]>([
    ['that would end a member rests on the spec as it stands', { ...act, destructive: true }, 0],
    ['that merely asks a member for something does not look again', act, 1],
  ])('%s', async (_, step, asked) => {
    const now = rig.cluster();
    const seen = { ...now, metadata: { ...now.metadata, generation: 1 }, status: { observedGeneration: 1 } };
    rig.api.put({ ...now, spec: { replicas: 5 } });
    let did = 0;
    rig.finds([step], settled, async () => void did++);
    await rig.pass(seen);
    expect(did).toBe(asked);
  });

  it.each<readonly [story: string, meanwhile: 'same' | 'gone' | 'another', asked: number]>([
    ['that is there is carried out', 'same', 1],
    ['that is gone is not', 'gone', 0],
    ['in whose place there is another is not', 'another', 0],
  ])('a step that rests on an object %s', async (_, meanwhile, asked) => {
    const { namespace = 'apps', name } = child().metadata;
    const seen = rig.api.put(child());
    const precondition = { resource: configMaps, namespace, name, uid: seen.metadata.uid ?? '' };
    await rig.pass();
    await turn();
    rig.api.lag();
    if (meanwhile !== 'same') rig.api.vanish('ConfigMap', name);
    if (meanwhile === 'another') rig.api.put({ ...child(), metadata: { ...child().metadata, uid: 'another' } });
    let did = 0;
    rig.finds([{ ...act, destructive: true, precondition }], settled, async () => void did++);
    expect([(await rig.pass()).outcome.state, did]).toEqual([asked === 1 ? 'settled' : 'wait', asked]);
    const uids = rig.cache.children(rigKey).objects.map(({ metadata }) => metadata.uid);
    expect(uids).toEqual(meanwhile === 'gone' ? [] : [meanwhile === 'same' ? precondition.uid : 'another']);
  });

  it.each<readonly [story: string, meanwhile: 'same' | 'changed' | 'gone', restarted: boolean]>([
    ['are as they were, whatever else is said of them', 'same', true],
    ['are on their way out', 'changed', false],
    ['are fewer', 'gone', false],
  ])('that restarts a pod looks again whether the others %s', async (_, meanwhile, restarted) => {
    const podOf = (name: string): KubeObject => ({
      ...testChild(testCluster('db'), 'ConfigMap'),
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...testChild(testCluster('db'), 'ConfigMap').metadata, name },
    });
    const [one, other] = [rig.api.put(podOf('db-0')), rig.api.put(podOf('db-1'))];
    await rig.pass();
    await turn();
    rig.api.lag();
    if (meanwhile === 'same') rig.api.put({ ...other, status: { phase: 'Running' } });
    if (meanwhile === 'changed') {
      rig.api.put({ ...other, metadata: { ...other.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' } });
    }
    if (meanwhile === 'gone') rig.api.vanish('Pod', 'db-1');
    const { namespace = 'apps', name, uid = '' } = one.metadata;
    rig.finds([{ type: 'delete', ref: { resource: pods, namespace, name, uid }, reason: 'it is outdated' }]);
    const { outcome } = await rig.pass();
    const deletes = rig.api.writes.filter((write) => write.startsWith('DELETE'));
    expect([outcome.state, deletes.length]).toEqual(restarted ? ['settled', 1] : ['wait', 0]);
  });

  it.each<readonly [story: string, endedAgoMs: number, asked: boolean]>([
    ['has just ended', 0, true],
    ['ended long ago: its pod is gone', 120_000, false],
  ])('hears what the pod of a Job said that the watch has not told of, where the Job %s', async (_, ago, asked) => {
    const { metadata } = testChild(testCluster('db'), 'ConfigMap');
    const at = new Date(rig.clock.now() - ago).toISOString();
    const status = { conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: at }] };
    const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { ...metadata, name: 'take' }, status };
    const { uid } = rig.api.put(job).metadata;
    await rig.pass();
    await turn();
    rig.api.lag();
    const labels = { ...metadata.labels, [componentLabel]: agentComponent, 'batch.kubernetes.io/job-name': 'take' };
    const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'Job', name: 'take', uid: uid ?? '', controller: true }];
    const podMetadata = { ...metadata, name: 'take-x', labels, ownerReferences };
    rig.api.put({ apiVersion: 'v1', kind: 'Pod', metadata: podMetadata, status: { phase: 'Succeeded' } });
    await rig.pass();
    expect(rig.cache.children(rigKey).jobPods.map((pod) => pod.metadata.name)).toEqual(asked ? ['take-x'] : []);
  });

  it('in which nobody could look is repeated, and says nothing', async () => {
    rig.engine.find = () => Promise.reject(new Error('the API server does not give the Secret'));
    await expect(rig.pass()).rejects.toThrow('does not give the Secret');
    expect(rig.api.writes).toEqual([]);
  });

  it('that has to end writes nothing more, not even a status', async () => {
    const stopping = new AbortController();
    rig.finds([act, create()], settled, async () => stopping.abort(new Error('stopping')));
    await expect(rig.pass(undefined, stopping.signal)).rejects.toThrow('stopping');
    expect(rig.api.writes).toEqual([]);
  });
});

describe('a cluster that is paused', () => {
  beforeEach(() => begin({ paused: true }));

  it('is looked at, and nothing is written but its status', async () => {
    rig.finds([create(), act], wait('Repairing', 'members are brought in line', 500), refused);
    expect(await rig.pass()).toMatchObject({ outcome: { reason: 'Paused' } });
    expect(rig.engine.surveyed).toEqual(['db']);
    expect(rig.api.writes).toEqual(['PATCH db/status']);
    expect([rig.status().phase, rig.status().plan]).toEqual([
      'Paused',
      { waitingFor: 'spec.paused is true: nothing is changed' },
    ]);
    expect(rig.condition('Ready')).toMatch(/^True/);
    expect(rig.condition('Progressing')).toBe('False Paused: spec.paused is true: nothing is changed');
  });

  it('gets no finalizer', async () => {
    await begin({ paused: true, deletionPolicy: 'Delete' });
    await rig.pass();
    expect(rig.api.get('RedisCluster', 'db')?.metadata.finalizers).toBeUndefined();
  });
});

describe('a cluster whose spec is not valid', () => {
  beforeEach(() => begin({ replicas: 0, storage: { size: 'much' } }));

  it('is not looked at, nothing of it is touched, and it says what is wrong', async () => {
    rig.api.put({ ...rig.cluster(), status: { primary: 'db-1', replicas: 3 } });
    await turn();
    expect(await rig.pass()).toMatchObject({ outcome: { state: 'blocked', reason: 'InvalidSpec' } });
    expect([rig.engine.surveyed, rig.api.writes]).toEqual([[], ['PATCH db/status']]);
    expect(rig.status()).toMatchObject({ phase: 'Invalid', primary: 'db-1', replicas: 3 });
    expect(rig.condition('Ready')).toMatch(
      /^False InvalidSpec: spec\.replicas: must be at least 1; spec\.storage\.size: must be a quantity such as/,
    );
    expect(rig.condition('Stalled')).toMatch(/^True InvalidSpec/);
  });

  it('and that knows more fields than we do is taken without them', async () => {
    await begin({ replicas: 3, fromTheFuture: true });
    await rig.pass();
    expect(rig.engine.surveyed).toEqual(['db']);
  });
});

describe('a cluster that is being deleted', () => {
  const generated: KubeObject = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'db-auth', namespace: 'apps', labels: { [managedByLabel]: managedBy } },
  };
  const going = { finalizers: [deletionFinalizer], deletionTimestamp: '2030-01-01T00:00:00Z' };

  it('is not looked at, and loses its children one after the other, the finalizer last', async () => {
    await begin({ deletionPolicy: 'Delete' }, going);
    rig.api.put(generated);
    const pod = child();
    rig.api.put({ ...pod, kind: 'Pod', metadata: { ...pod.metadata, name: 'db-0' } });
    await turn();
    expect((await rig.pass()).outcome).toMatchObject({ reason: 'Stopping' });
    rig.api.vanish('Pod', 'db-0');
    rig.api.put(testClaim(rig.cluster()));
    await turn();
    expect(await rig.pass()).toMatchObject({ outcome: { reason: 'DeletingData' }, again: 1000 });
    await turn();
    expect((await rig.pass()).outcome).toEqual(settled);
    expect(rig.api.get('RedisCluster', 'db')).toBeUndefined();
    expect([rig.engine.surveyed, rig.api.writes.filter((write) => write !== 'PATCH db/status')]).toEqual([
      [],
      ['DELETE persistentvolumeclaims/data-db-0', 'DELETE secrets/db-auth', 'PATCH redisclusters/db'],
    ]);
  });

  it('leaves a Secret that somebody else made, though it was used', async () => {
    await begin({ deletionPolicy: 'Delete' }, going);
    rig.api.put({ ...generated, metadata: { name: 'db-auth', namespace: 'apps' } });
    expect((await rig.pass()).outcome).toEqual(settled);
    expect(rig.api.list('Secret').length).toBe(1);
  });

  it.each<readonly [story: string, spec: object, left: readonly string[]]>([
    ['the data goes, as it says', { deletionPolicy: 'Delete', replicas: 0 }, []],
    ['the data stays, as it says', { deletionPolicy: 'Retain', replicas: 0 }, ['PersistentVolumeClaim', 'Secret']],
    ['the data stays where it cannot be read', { deletionPolicy: 'Erase' }, ['PersistentVolumeClaim', 'Secret']],
    [
      'the data goes, the password of the user stays',
      { deletionPolicy: 'Delete', auth: { secretRef: { name: 'db-auth' } }, replicas: 0 },
      ['Secret'],
    ],
  ])('G3: with a spec that is not valid is not stuck: %s', async (_, spec, left) => {
    await begin(spec, going);
    rig.engine.resources = (cluster) => {
      const { auth } = cluster.spec as { readonly auth?: unknown };
      return auth === undefined ? [{ object: generated, generate: [{ key: 'password', length: 8 }] }] : [];
    };
    rig.api.put(generated);
    rig.api.put(testClaim(rig.cluster()));
    await turn();
    for (let i = 0; i < 2 && rig.api.list('RedisCluster').length > 0; i++) {
      await rig.pass();
      await turn();
    }
    expect(rig.api.list('RedisCluster')).toEqual([]);
    expect(['PersistentVolumeClaim', 'Secret'].filter((kind) => rig.api.list(kind).length > 0)).toEqual(left);
  });

  it('under Retain is none of our business', async () => {
    await begin({}, { ...going, finalizers: ['example.com/backup'] });
    expect(await rig.pass()).toEqual({ outcome: settled });
    expect(rig.api.writes).toEqual([]);
  });

  it('is held by a finalizer from the pass on in which the policy says so', async () => {
    await begin({ deletionPolicy: 'Delete' });
    await rig.pass();
    expect(rig.api.get('RedisCluster', 'db')?.metadata.finalizers).toEqual([deletionFinalizer]);
    expect(rig.status().plan).toEqual({ next: 'patch RedisCluster db' });
  });
});

it('details of a status are not forgotten: the pass comes back for them', async () => {
  const counting = (replicas: number) => () => ({ status: { phase: 'Ready', conditions: ready, replicas } as const });
  rig.engine.find = counting(2);
  const first = await rig.pass();
  rig.engine.find = counting(3);
  expect([first.again, (await rig.pass()).again]).toEqual([undefined, detailDelayMs]);
});
