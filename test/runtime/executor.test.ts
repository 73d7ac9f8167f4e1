import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject, ObjectMeta } from '../../src/api/object.ts';
import { persistentVolumeClaims, pods as podResource } from '../../src/api/resource.ts';
import type { EngineAction, Step } from '../../src/plan/plan.ts';
import { instanceLabel, managedBy, managedByLabel, nameLabel } from '../../src/resources/metadata.ts';
import {
  createExecutor,
  describeStep,
  type ExecutorOptions,
  randomText,
  StepFailed,
} from '../../src/runtime/executor.ts';
import { NameConflict } from '../../src/runtime/name-conflict.ts';
import { type ControllerParts, controllerParts } from '../support/controller-parts.ts';
import { turn } from '../support/virtual-clock.ts';

const key = 'redis/apps/db';
const owned = (uid: string): ObjectMeta => ({
  name: 'db',
  namespace: 'apps',
  labels: { [nameLabel]: 'redis', [instanceLabel]: 'db', [managedByLabel]: managedBy },
  ownerReferences: [
    { apiVersion: 'clusterwright.dev/v1alpha1', kind: 'RedisCluster', name: 'db', uid, controller: true },
  ],
});
const configMap = (value: string, metadata: ObjectMeta = owned('uid-db')): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata,
  data: { value },
});
const secret: KubeObject = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db-auth', namespace: 'apps' } };
const pod = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Pod', metadata: { ...owned('uid-db'), name } });

const create = (object: KubeObject): Step => ({ type: 'create', object });
const act = (type: string): Step => ({ type: 'act', action: { type }, summary: `do ${type}` });

let parts: ControllerParts;
beforeEach(async () => {
  parts = await controllerParts();
});
afterEach(() => parts.stop());

interface Run {
  readonly done: readonly string[];
  readonly failures: readonly StepFailed[];
}

async function run(
  steps: readonly Step[],
  options: Partial<ExecutorOptions> = {},
  doing: (action: EngineAction) => Promise<void> = async () => undefined,
  signal = new AbortController().signal,
): Promise<Run> {
  const done: string[] = [];
  const executor = createExecutor({
    client: parts.client,
    cache: parts.cache,
    ...options,
  });
  const failures = await executor.run(steps, doing, signal, {
    done: (step) => done.push(describeStep(step)),
    failed: () => undefined,
  });
  return { done, failures };
}

const cached = (kind: string, name = 'db'): KubeObject | undefined => parts.cache.children(key).get(kind, name);

describe('a create', () => {
  it('is a POST, and shows in the cache before the watch tells', async () => {
    parts.api.lag();
    await run([create(configMap('1'))]);
    expect(parts.api.writes).toEqual(['POST apps/configmaps']);
    expect(cached('ConfigMap')).toMatchObject({ data: { value: '1' }, metadata: { uid: 'uid-1' } });
  });

  it('of what a former process has made for the same cluster is done', async () => {
    parts.api.lag();
    parts.api.put(configMap('old'));
    const { done } = await run([create(configMap('1')), act('next')]);
    expect(done).toEqual(['create ConfigMap db', 'do next']);
    expect(cached('ConfigMap')).toMatchObject({ data: { value: '1' } });
  });

  it('of a StatefulSet that somebody has taken out of sight keeps the claim templates that it was made with', async () => {
    const set = (size: string, instance: string): KubeObject => ({
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { ...owned('uid-db'), labels: { ...owned('uid-db').labels, [instanceLabel]: instance } },
      spec: { replicas: 3, volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: { size } }] },
    });
    parts.api.put(set('1Gi', 'another'));
    await run([create(set('2Gi', 'db'))]);
    expect(parts.api.get('StatefulSet', 'db')).toMatchObject({
      metadata: { labels: { [instanceLabel]: 'db' } },
      spec: { volumeClaimTemplates: [{ spec: { size: '1Gi' } }] },
    });
  });

  it('of a Job that is there leaves it as it was made, and sets right only what it is found by', async () => {
    const job = (image: string, labels: ObjectMeta['labels']): KubeObject => ({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { ...owned('uid-db'), labels: { ...owned('uid-db').labels, ...labels } },
      spec: { template: { spec: { containers: [{ name: 'agent', image }] } } },
    });
    parts.api.put(job('old', {}));
    await run([create(job('new', {}))]);
    await run([create(job('new', { 'clusterwright.dev/engine': 'redis' }))]);
    expect(parts.api.writes.filter((write) => write.startsWith('PATCH'))).toEqual(['PATCH jobs/db']);
    expect(parts.api.get('Job', 'db')).toMatchObject({
      metadata: { labels: { 'clusterwright.dev/engine': 'redis' } },
      spec: { template: { spec: { containers: [{ image: 'old' }] } } },
    });
  });

  it.each<readonly [story: string, metadata: ObjectMeta, owner: string]>([
    ['somebody else', { name: 'db', namespace: 'apps' }, 'somebody else'],
    ['a former cluster of the name', owned('uid-former'), 'an earlier RedisCluster db'],
    [
      'a cluster of another kind',
      {
        ...owned('uid-db'),
        ownerReferences: [{ ...owner(), kind: 'EtcdCluster', uid: 'uid-other', controller: true }],
      },
      'EtcdCluster db',
    ],
    [
      'one that is an owner, but not the controller',
      { ...owned('uid-db'), ownerReferences: [{ ...owner(), controller: false }] },
      'somebody else',
    ],
  ])('never takes over an object of %s, and names the owner', async (_, metadata, whose) => {
    parts.api.put(configMap('theirs', metadata));
    const running = run([create(configMap('1')), act('next')]);
    await expect(running).rejects.toThrow(NameConflict);
    await expect(running).rejects.toMatchObject({
      message: `ConfigMap db exists and belongs to ${whose}`,
      cause: { reason: 'AlreadyExists' },
    });
    expect(parts.api.get('ConfigMap', 'db')).toMatchObject({ data: { value: 'theirs' } });
  });

  it('takes no Secret of somebody else for one that is to be ours alone', async () => {
    const labels = { 'app.kubernetes.io/managed-by': 'clusterwright' };
    const own = { ...secret, metadata: { ...secret.metadata, labels } };
    const making: Step = {
      type: 'create',
      object: own,
      generate: [{ key: 'password', length: 32, isOursAlone: true }],
    };
    parts.api.put(secret);
    await expect(run([making])).rejects.toThrow('Secret db-auth exists and belongs to somebody else');
    parts.api.put(own);
    await run([making]);
    expect(parts.api.list('Secret')).toEqual([expect.not.objectContaining({ stringData: expect.anything() })]);
  });

  it('leaves a Secret of somebody else as it is where that is as good, and goes on', async () => {
    const making: Step = { type: 'create', object: secret, generate: [{ key: 'password', length: 32 }] };
    parts.api.put({ ...secret, metadata: { ...secret.metadata, labels: { 'app.kubernetes.io/managed-by': 'helm' } } });
    const before = parts.api.list('Secret');
    expect((await run([making, act('next')])).done).toEqual([`create Secret db-auth`, 'do next']);
    expect(parts.api.list('Secret')).toEqual(before);
    const [password, token] = [
      { key: 'password', length: 32 },
      { key: 'token', length: 8, isOursAlone: true },
    ] as const;
    const both: Step = { type: 'create', object: secret, generate: [password, token] };
    await expect(run([both])).rejects.toThrow('Secret db-auth exists and belongs to somebody else');
  });

  it('of what is there as it should be changes nothing', async () => {
    parts.api.lag();
    parts.api.put(configMap('1'));
    await run([create(configMap('1'))]);
    expect(parts.api.writes.filter((write) => write.startsWith('PATCH'))).toEqual([]);
    expect(cached('ConfigMap')).toMatchObject({ data: { value: '1' } });
  });

  it('fills a generated Secret once, and tells who has to know', async () => {
    const told: unknown[] = [];
    const generating: Step = { type: 'create', object: secret, generate: [{ key: 'password', length: 32 }] };
    const onSecret: ExecutorOptions['onSecret'] = (made, values) => void told.push([made.metadata.name, values]);
    await run([generating], { generate: (length) => 'x'.repeat(length), onSecret });
    await run([generating], { generate: (length) => 'y'.repeat(length), onSecret });
    expect(parts.api.list('Secret')).toMatchObject([
      { data: { password: Buffer.from('x'.repeat(32)).toString('base64') } },
    ]);
    expect(told).toEqual([['db-auth', { password: 'x'.repeat(32) }]]);
  });

  it('draws letters and digits that nobody guesses', () => {
    expect(randomText(32)).toMatch(/^[A-Za-z0-9]{32}$/);
    expect(new Set(Array.from({ length: 100 }, () => randomText(32))).size).toBe(100);
  });
});

describe('an apply', () => {
  const apply = (value: string): Step => ({ type: 'apply', object: configMap(value), changes: [] });

  it('first makes the fields ours that a POST left behind, once', async () => {
    await run([create(configMap('1'))]);
    await run([apply('2')]);
    await run([apply('3')]);
    expect(parts.api.writes).toEqual([
      'POST apps/configmaps',
      'PATCH configmaps/db',
      'PATCH configmaps/db',
      'PATCH configmaps/db',
    ]);
    expect(parts.api.get('ConfigMap', 'db')).toMatchObject({
      data: { value: '3' },
      metadata: { managedFields: [{ manager: 'clusterwright', operation: 'Apply' }] },
    });
    expect(cached('ConfigMap')).toMatchObject({ data: { value: '3' } });
  });

  it('of an object that changed in between fails, and is tried again by the next pass', async () => {
    await run([create(configMap('1'))]);
    parts.api.intercept = (request) => {
      if (!request.headers?.['content-type']?.includes('json-patch')) return undefined;
      parts.api.put(configMap('changed by hand'));
      return undefined;
    };
    await expect(run([apply('2')])).rejects.toThrow('update ConfigMap db');
    parts.api.intercept = () => undefined;
    await run([apply('2')]);
    expect(parts.api.get('ConfigMap', 'db')).toMatchObject({ data: { value: '2' } });
  });
});

describe('a patch', () => {
  const label = (uid: string): Step => ({
    type: 'patch',
    ref: { resource: podResource, namespace: 'apps', name: 'db-0', uid },
    patch: { metadata: { labels: { role: 'primary' } } },
    changes: [],
  });

  it('G1: names the UID', async () => {
    const { metadata } = parts.api.put(pod('db-0'));
    await turn();
    parts.api.lag();
    await run([label(metadata.uid ?? '')]);
    expect(parts.api.get('Pod', 'db-0')?.metadata.labels).toMatchObject({
      role: 'primary',
      [managedByLabel]: managedBy,
    });
    expect(cached('Pod', 'db-0')?.metadata.labels).toMatchObject({ role: 'primary' });
  });

  it('G1: of an object whose name has a new holder fails', async () => {
    parts.api.put(pod('db-0'));
    await expect(run([label('uid-of-another-life')])).rejects.toThrow(StepFailed);
    expect(parts.api.get('Pod', 'db-0')?.metadata.labels).not.toHaveProperty('role');
  });
});

describe('a delete', () => {
  const remove = (uid: string): Step => ({
    type: 'delete',
    ref: { resource: podResource, namespace: 'apps', name: 'db-0', uid },
    reason: 'it runs an older template',
  });

  it('shows in the cache at once: the pod is terminating', async () => {
    const { metadata } = parts.api.put(pod('db-0'));
    await turn();
    parts.api.lag();
    await run([remove(metadata.uid ?? '')]);
    expect(cached('Pod', 'db-0')?.metadata.deletionTimestamp).toBeDefined();
  });

  it('G1: never reaches a younger object of the name, and counts as done', async () => {
    parts.api.put(pod('db-0'));
    const { failures } = await run([remove('uid-of-another-life'), act('next')]);
    expect(failures).toEqual([]);
    expect(parts.api.get('Pod', 'db-0')?.metadata.deletionTimestamp).toBeUndefined();
  });

  it('of what is gone already is done', async () => {
    expect((await run([remove('uid-1')])).failures).toEqual([]);
  });
});

describe('a plan', () => {
  const failing = (): Promise<void> => Promise.reject(new Error('NOGOODSLAVE'));

  it('is run in order and stops at the first step that fails', async () => {
    const done: string[] = [];
    const running = run([act('a'), act('b'), create(configMap('1'))], {}, async ({ type }) => {
      done.push(type);
      if (type === 'b') throw new Error('NOGOODSLAVE');
    });
    await expect(running).rejects.toMatchObject({
      code: 'StepFailed',
      message: 'do b: NOGOODSLAVE',
      step: { type: 'act' },
      cause: { message: 'NOGOODSLAVE' },
    });
    expect([done, parts.api.writes]).toEqual([['a', 'b'], []]);
  });

  it('goes on where others need not wait for a step', async () => {
    const grow: Step = {
      type: 'patch',
      optional: true,
      ref: { resource: persistentVolumeClaims, namespace: 'apps', name: 'data-db-0', uid: 'uid' },
      patch: { spec: {} },
      changes: [],
    };
    const { done, failures } = await run([grow, create(configMap('1'))]);
    expect(done).toEqual(['create ConfigMap db']);
    expect(failures.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^patch PersistentVolumeClaim data-db-0: /),
    ]);
  });

  it('ends between two steps when the process has to', async () => {
    const stopping = new AbortController();
    const running = run(
      [act('a'), create(configMap('1'))],
      {},
      async () => stopping.abort(new Error('stopping')),
      stopping.signal,
    );
    await expect(running).rejects.toThrow('stopping');
    expect(parts.api.writes).toEqual([]);
  });

  it('tells why it ended, not what that broke', async () => {
    const stopping = new AbortController();
    const breaking = async (): Promise<void> => {
      stopping.abort(new Error('the lease was lost'));
      throw new Error('socket closed');
    };
    await expect(run([act('a')], {}, breaking, stopping.signal)).rejects.toThrow('the lease was lost');
  });

  it('tells a database nothing without the lease', async () => {
    const asked: string[] = [];
    const running = run([act('a')], { mayWrite: () => false }, async ({ type }) => void asked.push(type));
    await expect(running).rejects.toThrow('do a: not done, because this process does not hold the lease');
    expect(asked).toEqual([]);
  });

  it('of nothing does nothing', async () => {
    expect(await run([], {}, failing)).toEqual({ done: [], failures: [] });
  });
});

function owner(): NonNullable<ObjectMeta['ownerReferences']>[number] {
  return { apiVersion: 'clusterwright.dev/v1alpha1', kind: 'RedisCluster', name: 'db', uid: 'uid-db' };
}

describe('a StatefulSet whose pods would take a claim that is there', () => {
  const claim = (instance: string): KubeObject => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: 'data-db-0',
      namespace: 'apps',
      labels: { [nameLabel]: 'redis', [instanceLabel]: instance, [managedByLabel]: managedBy },
    },
  });
  const set: KubeObject = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: owned('uid-db'),
    spec: { replicas: 1, volumeClaimTemplates: [{ metadata: { name: 'data' } }] },
  };
  const knowing = (live: KubeObject | undefined): Partial<ExecutorOptions> => ({
    cache: {
      ...parts.cache,
      entry: (object) =>
        object.kind !== 'PersistentVolumeClaim'
          ? parts.cache.entry(object)
          : live && { object: live, postOwned: false },
    },
  });

  it('is refused before it is made, where the claim is of another cluster', async () => {
    await expect(run([create(set)], knowing(claim('other')))).rejects.toThrow(NameConflict);
    expect(parts.api.writes).toEqual([]);
  });

  it.each([
    ['of the same cluster', 'db'],
    ['of nobody', undefined],
  ])('is made where it is %s', async (_, instance) => {
    await run([create(set)], knowing(instance === undefined ? undefined : claim(instance)));
    expect(parts.api.writes).toEqual(['POST apps/statefulsets']);
  });
});

describe('what a step tells, and whom', () => {
  it('an action of a database is counted as sent before it is done', async () => {
    const told: string[] = [];
    const writes: ExecutorOptions['writes'] = {
      track: (write) => write(() => told.push('sent')),
    };
    await run([act('once')], { writes }, async ({ type }) => void told.push(type));
    expect(told).toEqual(['sent', 'once']);
  });

  it('no object but a generated Secret is taken for one', async () => {
    const seen: string[] = [];
    const onSecret = (object: KubeObject): void => void seen.push(object.metadata.name);
    const generated: Step = { type: 'create', object: secret, generate: [{ key: 'password', length: 8 }] };
    await run([create(configMap('1')), generated], { onSecret });
    expect(seen).toEqual(['db-auth']);
  });

  it('an apply takes fields back that somebody else has taken', async () => {
    const asked: unknown[] = [];
    const client: ExecutorOptions['client'] = {
      ...parts.client,
      apply: (object, options) => {
        asked.push(options?.force);
        return parts.client.apply(object, options);
      },
    };
    await run([{ type: 'apply', object: configMap('1'), changes: [] }], { client });
    expect(asked).toEqual([true]);
  });

  it('an object that cannot be made for another reason is not looked for', async () => {
    const refusal = new Error('quota exceeded');
    const asked: string[] = [];
    const client: ExecutorOptions['client'] = {
      ...parts.client,
      create: () => Promise.reject(refusal),
      get: (ref) => {
        asked.push(ref.name);
        return Promise.reject(new Error('looked'));
      },
    };
    await expect(run([create(configMap('1'))], { client })).rejects.toMatchObject({ cause: refusal });
    expect(asked).toEqual([]);
  });
});
