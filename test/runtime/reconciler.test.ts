import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Cluster } from '../../src/api/cluster.ts';
import type { KubeObject, ObjectMeta } from '../../src/api/object.ts';
import { configMaps, persistentVolumeClaims, pods } from '../../src/api/resource.ts';
import type { ClusterStatus } from '../../src/api/status.ts';
import { deletionFinalizer } from '../../src/plan/deletion.ts';
import { type ActStep, blocked, type Outcome, type Plan, type Step, settled, wait } from '../../src/plan/plan.ts';
import { agentComponent, componentLabel, managedBy, managedByLabel } from '../../src/resources/metadata.ts';
import { createSecretReader, engineIO } from '../../src/runtime/engine-io.ts';
import { createExecutor } from '../../src/runtime/executor.ts';
import { createPace } from '../../src/runtime/pace.ts';
import { createReconciler, type PassResult, type Reconciler } from '../../src/runtime/reconciler.ts';
import { createStatusWriter, detailDelayMs } from '../../src/runtime/status-writer.ts';
import { blankClaims } from '../support/blank-claims.ts';
import { type ControllerParts, controllerParts } from '../support/controller-parts.ts';
import { ready, type TestEngine, testChild, testCluster, testEngine } from '../support/test-engine.ts';
import { turn } from '../support/virtual-clock.ts';

const key = 'test/apps/db';
let parts: ControllerParts;
let engine: TestEngine;
let reconciler: Reconciler;
let outcomes: Outcome[];

async function begin(spec: object = {}, metadata: Partial<ObjectMeta> = {}): Promise<void> {
  engine = testEngine({
    resources: () => [
      {
        object: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db-auth', namespace: 'apps' } },
        generate: [{ key: 'password', length: 8 }],
      },
    ],
  });
  await parts?.stop();
  parts = await controllerParts([testCluster('db', spec, metadata)], [engine]);
  const { cache, client, clock, log } = parts;
  const secrets = createSecretReader({ client, clock, onValue: () => undefined });
  reconciler = createReconciler({
    client,
    cache,
    executor: createExecutor({ client, cache }),
    status: createStatusWriter({ client, cache, clock }),
    pace: createPace(clock),
    io: (cluster, signal) =>
      engineIO({ namespace: cluster.metadata.namespace, secrets, claims: blankClaims, dial: refused, clock, signal }),
    log,
    onOutcome: (_engine, _cluster, _before, plan) => void outcomes.push(plan.outcome),
  });
}

beforeEach(async () => {
  outcomes = [];
  await begin();
});
afterEach(() => parts.stop());

/** One pass over the cluster as the API server has it. */
async function pass(signal = new AbortController().signal): Promise<PassResult> {
  const cluster = parts.api.get('RedisCluster', 'db');
  if (cluster === undefined) throw new Error('the cluster is gone');
  return reconciler.reconcile(engine, cluster, key, signal);
}

const finds = (steps: readonly Step[], outcome: Outcome = settled, act?: () => Promise<void>): void => {
  const plan: Plan = { steps, outcome };
  engine.find = () => ({ plan, ...(act === undefined ? {} : { act }) });
};
const status = (): ClusterStatus => (parts.api.get('RedisCluster', 'db') as Cluster | undefined)?.status ?? {};
const condition = (type: string): string => {
  const found = status().conditions?.find((candidate) => candidate.type === type);
  return found === undefined ? 'absent' : `${found.status} ${found.reason}: ${found.message}`;
};
const child = (): KubeObject => testChild(parts.api.get('RedisCluster', 'db') ?? testCluster('db'), 'ConfigMap');
const create = (): Step => ({ type: 'create', object: child() });
const act: ActStep = { type: 'act', action: { type: 'test.act' }, summary: 'ask for something' };
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
    finds([create()], wait('MembersStarting', 'no node answers yet', 500));
    const result = await pass();
    expect(result).toMatchObject({ outcome: { reason: 'MembersStarting' }, again: 500 });
    expect(result.understood?.children.get('ConfigMap', 'db')).toBeDefined();
    expect(status().plan).toEqual({ waitingFor: 'no node answers yet' });
    expect(condition('Ready')).toBe('True AllMembersReady: all is well');
    expect(outcomes).toEqual([wait('MembersStarting', 'no node answers yet', 500)]);
  });

  it('has nothing new to say about what it has created itself', async () => {
    finds([create()], wait('MembersStarting', 'no node answers yet'));
    await pass();
    finds([], wait('MembersStarting', 'no node answers yet'));
    expect((await pass()).again).toBeUndefined();
    expect(parts.api.writes).toEqual(['POST apps/configmaps', 'PATCH db/status']);
  });

  it('over a cluster where all is well writes nothing a second time', async () => {
    await pass();
    await pass();
    expect(parts.api.writes).toEqual(['PATCH db/status']);
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
    finds(steps, outcome);
    expect((await pass()).again).toBe(again);
  });

  it('that fails over the wire says so in the status, and is repeated', async () => {
    finds([act, create()], settled, refused);
    await expect(pass()).rejects.toThrow('ask for something: NOPERM');
    expect(condition('Ready')).toBe('False StepFailed: ask for something: NOPERM');
    expect(parts.api.list('ConfigMap')).toEqual([]);
    const said = 'True StepFailed: ask for something: NOPERM';
    expect([status().phase, condition('Progressing'), condition('Reconciling')]).toEqual(['Updating', said, said]);
    expect(condition('Degraded')).toBe('False StepFailed: ask for something: NOPERM');
  });

  it('that fails where nobody has asked for a change says that the cluster is less than it should be', async () => {
    await pass();
    finds([act], settled, refused);
    await expect(pass()).rejects.toThrow('ask for something: NOPERM');
    expect([status().phase, condition('Degraded')]).toEqual(['Degraded', 'True StepFailed: ask for something: NOPERM']);
  });

  it('that meets an object of somebody else is blocked, and looks again later', async () => {
    parts.api.put({ ...child(), metadata: { name: 'db', namespace: 'apps' } });
    finds([create()]);
    expect(await pass()).toEqual({
      outcome: {
        state: 'blocked',
        reason: 'NameConflict',
        message: 'ConfigMap db exists and belongs to somebody else',
      },
      again: 30_000,
    });
    const said = 'NameConflict: ConfigMap db exists and belongs to somebody else';
    expect(status().phase).toBe('Blocked');
    expect(['Ready', 'Progressing', 'Stalled'].map(condition)).toEqual([
      `False ${said}`,
      `False ${said}`,
      `True ${said}`,
    ]);
    expect(status().plan).toEqual({ blockedBy: 'ConfigMap db exists and belongs to somebody else' });
  });

  it('goes on when a volume cannot grow, and logs it', async () => {
    finds([growth, create()]);
    await pass();
    expect(parts.api.list('ConfigMap').length).toBe(1);
    const warnings = parts.log.entries.filter(({ level }) => level !== 'debug');
    expect(warnings).toMatchObject([{ level: 'warn', fields: { cluster: key } }]);
    expect(condition('Ready')).toMatch(/^True/);
  });

  it('goes on where a kind of somebody else is not known, and says what it could not do', async () => {
    parts.api.intercept = ({ method, path }) =>
      method === 'POST' && path.includes('cert-manager')
        ? Promise.resolve({ status: 404, headers: {}, body: '404 page not found\n' })
        : undefined;
    finds([unserved, create()]);
    await pass();
    expect(parts.api.list('ConfigMap').length).toBe(1);
    expect(status().plan).toEqual({ next: 'create Certificate db' });
    expect(condition('Ready')).toMatch(/^True/);
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
    await pass();
    const now = parts.api.get('RedisCluster', 'db') as KubeObject;
    parts.api.put({ ...now, spec: { replicas: 5 } });
    finds(steps);
    await pass();
    expect([status().observedGeneration, condition('Ready')]).toEqual([observed, 'True AllMembersReady: all is well']);
  });

  it('that would make a child again for a cluster that is gone does nothing: the watch is late', async () => {
    const seen = { ...(parts.api.get('RedisCluster', 'db') as KubeObject), status: { observedGeneration: 1 } };
    parts.api.vanish('RedisCluster', 'db');
    finds([create()]);
    const result = await reconciler.reconcile(engine, seen, key, new AbortController().signal);
    expect(result.outcome).toMatchObject({ reason: 'Outdated' });
    expect(parts.api.list('ConfigMap')).toEqual([]);
  });

  it.each<readonly [story: string, step: Step, asked: number]>([
    ['that would end a member rests on the spec as it stands', { ...act, takesAway: true }, 0],
    ['that merely asks a member for something does not look again', act, 1],
  ])('%s', async (_, step, asked) => {
    const now = parts.api.get('RedisCluster', 'db') as KubeObject;
    const seen = { ...now, metadata: { ...now.metadata, generation: 1 }, status: { observedGeneration: 1 } };
    parts.api.put({ ...now, spec: { replicas: 5 } });
    let did = 0;
    finds([step], settled, async () => void did++);
    await reconciler.reconcile(engine, seen, key, new AbortController().signal);
    expect(did).toBe(asked);
  });

  it.each<readonly [story: string, meanwhile: 'same' | 'gone' | 'another', asked: number]>([
    ['that is there is carried out', 'same', 1],
    ['that is gone is not', 'gone', 0],
    ['in whose place there is another is not', 'another', 0],
  ])('a step that rests on an object %s', async (_, meanwhile, asked) => {
    const { namespace = 'apps', name } = child().metadata;
    const seen = parts.api.put(child());
    const restsOn = { resource: configMaps, namespace, name, uid: seen.metadata.uid ?? '' };
    await pass();
    await turn();
    parts.api.lag();
    if (meanwhile !== 'same') parts.api.vanish('ConfigMap', name);
    if (meanwhile === 'another') parts.api.put({ ...child(), metadata: { ...child().metadata, uid: 'another' } });
    let did = 0;
    finds([{ ...act, takesAway: true, restsOn }], settled, async () => void did++);
    expect([(await pass()).outcome.state, did]).toEqual([asked === 1 ? 'settled' : 'wait', asked]);
    const uids = parts.cache.children(key).objects.map(({ metadata }) => metadata.uid);
    expect(uids).toEqual(meanwhile === 'gone' ? [] : [meanwhile === 'same' ? restsOn.uid : 'another']);
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
    const [one, other] = [parts.api.put(podOf('db-0')), parts.api.put(podOf('db-1'))];
    await pass();
    await turn();
    parts.api.lag();
    if (meanwhile === 'same') parts.api.put({ ...other, status: { phase: 'Running' } });
    if (meanwhile === 'changed') {
      parts.api.put({ ...other, metadata: { ...other.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' } });
    }
    if (meanwhile === 'gone') parts.api.vanish('Pod', 'db-1');
    const { namespace = 'apps', name, uid = '' } = one.metadata;
    finds([{ type: 'delete', ref: { resource: pods, namespace, name, uid }, reason: 'it is outdated' }]);
    const { outcome } = await pass();
    const deletes = parts.api.writes.filter((write) => write.startsWith('DELETE'));
    expect([outcome.state, deletes.length]).toEqual(restarted ? ['settled', 1] : ['wait', 0]);
  });

  it.each<readonly [story: string, endedAgoMs: number, asked: boolean]>([
    ['has just ended', 0, true],
    ['ended long ago: its pod is gone', 120_000, false],
  ])('hears what the pod of a Job said that the watch has not told of, where the Job %s', async (_, ago, asked) => {
    const { metadata } = testChild(testCluster('db'), 'ConfigMap');
    const at = new Date(parts.clock.now() - ago).toISOString();
    const status = { conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: at }] };
    const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { ...metadata, name: 'take' }, status };
    const { uid } = parts.api.put(job).metadata;
    await pass();
    await turn();
    parts.api.lag();
    const labels = { ...metadata.labels, [componentLabel]: agentComponent, 'batch.kubernetes.io/job-name': 'take' };
    const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'Job', name: 'take', uid: uid ?? '', controller: true }];
    const podMetadata = { ...metadata, name: 'take-x', labels, ownerReferences };
    parts.api.put({ apiVersion: 'v1', kind: 'Pod', metadata: podMetadata, status: { phase: 'Succeeded' } });
    await pass();
    expect(parts.cache.children(key).jobPods.map((pod) => pod.metadata.name)).toEqual(asked ? ['take-x'] : []);
  });

  it('in which nobody could look is repeated, and says nothing', async () => {
    engine.find = () => Promise.reject(new Error('the API server does not give the Secret'));
    await expect(pass()).rejects.toThrow('does not give the Secret');
    expect(parts.api.writes).toEqual([]);
  });

  it('that has to end writes nothing more, not even a status', async () => {
    const stopping = new AbortController();
    finds([act, create()], settled, async () => stopping.abort(new Error('stopping')));
    await expect(pass(stopping.signal)).rejects.toThrow('stopping');
    expect(parts.api.writes).toEqual([]);
  });
});

describe('a cluster that is paused', () => {
  beforeEach(() => begin({ paused: true }));

  it('is looked at, and nothing is written but its status', async () => {
    finds([create(), act], wait('Repairing', 'members are brought in line', 500), refused);
    expect(await pass()).toMatchObject({ outcome: { reason: 'Paused' } });
    expect(engine.surveyed).toEqual(['db']);
    expect(parts.api.writes).toEqual(['PATCH db/status']);
    expect([status().phase, status().plan]).toEqual([
      'Paused',
      { waitingFor: 'spec.paused is true: nothing is changed' },
    ]);
    expect(condition('Ready')).toMatch(/^True/);
    expect(condition('Progressing')).toBe('False Paused: spec.paused is true: nothing is changed');
  });

  it('gets no finalizer', async () => {
    await begin({ paused: true, deletionPolicy: 'Delete' });
    await pass();
    expect(parts.api.get('RedisCluster', 'db')?.metadata.finalizers).toBeUndefined();
  });
});

describe('a cluster whose spec is not valid', () => {
  beforeEach(() => begin({ replicas: 0, storage: { size: 'much' } }));

  it('is not looked at, nothing of it is touched, and it says what is wrong', async () => {
    parts.api.put({ ...(parts.api.get('RedisCluster', 'db') as KubeObject), status: { primary: 'db-1', replicas: 3 } });
    await turn();
    expect(await pass()).toMatchObject({ outcome: { state: 'blocked', reason: 'InvalidSpec' } });
    expect([engine.surveyed, parts.api.writes]).toEqual([[], ['PATCH db/status']]);
    expect(status()).toMatchObject({ phase: 'Invalid', primary: 'db-1', replicas: 3 });
    expect(condition('Ready')).toMatch(
      /^False InvalidSpec: spec\.replicas: must be at least 1; spec\.storage\.size: must be a quantity such as/,
    );
    expect(condition('Stalled')).toMatch(/^True InvalidSpec/);
  });

  it('and that knows more fields than we do is taken without them', async () => {
    await begin({ replicas: 3, fromTheFuture: true });
    await pass();
    expect(engine.surveyed).toEqual(['db']);
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
    parts.api.put(generated);
    parts.api.put({ ...child(), kind: 'Pod' });
    await turn();
    expect((await pass()).outcome).toMatchObject({ reason: 'Stopping' });
    parts.api.vanish('Pod', 'db');
    parts.api.put({ ...child(), kind: 'PersistentVolumeClaim' });
    await turn();
    expect(await pass()).toMatchObject({ outcome: { reason: 'DeletingData' }, again: 1000 });
    await turn();
    expect((await pass()).outcome).toEqual(settled);
    expect(parts.api.get('RedisCluster', 'db')).toBeUndefined();
    expect([engine.surveyed, parts.api.writes.filter((write) => write !== 'PATCH db/status')]).toEqual([
      [],
      ['DELETE persistentvolumeclaims/db', 'DELETE secrets/db-auth', 'PATCH redisclusters/db'],
    ]);
  });

  it('leaves a Secret that somebody else made, though it was used', async () => {
    await begin({ deletionPolicy: 'Delete' }, going);
    parts.api.put({ ...generated, metadata: { name: 'db-auth', namespace: 'apps' } });
    expect((await pass()).outcome).toEqual(settled);
    expect(parts.api.list('Secret').length).toBe(1);
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
    engine.resources = (cluster) => {
      const { auth } = cluster.spec as { readonly auth?: unknown };
      return auth === undefined ? [{ object: generated, generate: [{ key: 'password', length: 8 }] }] : [];
    };
    parts.api.put(generated);
    parts.api.put({ ...child(), kind: 'PersistentVolumeClaim' });
    await turn();
    for (let i = 0; i < 2 && parts.api.list('RedisCluster').length > 0; i++) {
      await pass();
      await turn();
    }
    expect(parts.api.list('RedisCluster')).toEqual([]);
    expect(['PersistentVolumeClaim', 'Secret'].filter((kind) => parts.api.list(kind).length > 0)).toEqual(left);
  });

  it('under Retain is none of our business', async () => {
    await begin({}, { ...going, finalizers: ['example.com/backup'] });
    expect(await pass()).toEqual({ outcome: settled });
    expect(parts.api.writes).toEqual([]);
  });

  it('is held by a finalizer from the pass on in which the policy says so', async () => {
    await begin({ deletionPolicy: 'Delete' });
    await pass();
    expect(parts.api.get('RedisCluster', 'db')?.metadata.finalizers).toEqual([deletionFinalizer]);
    expect(status().plan).toEqual({ next: 'patch RedisCluster db' });
  });
});

it('details of a status are not forgotten: the pass comes back for them', async () => {
  const counting = (replicas: number) => () => ({ status: { phase: 'Ready', conditions: ready, replicas } as const });
  engine.find = counting(2);
  const first = await pass();
  engine.find = counting(3);
  expect([first.again, (await pass()).again]).toEqual([undefined, detailDelayMs]);
});
