/** O13 inside of an operator: it is silent about what the plan shows, and speaks about everything else. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Cluster } from '../../../src/api/cluster.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import { configMaps } from '../../../src/api/resource.ts';
import type { Assessment } from '../../../src/engine/engine.ts';
import { blocked, type ObjectStep, type Step, settled } from '../../../src/plan/plan.ts';
import { noChildren } from '../../../src/resources/children.ts';
import { instanceLabel, managedBy, managedByLabel, nameLabel } from '../../../src/resources/metadata.ts';
import { createClient } from '../../../src/runtime/client.ts';
import { createSecretReader, engineIO } from '../../../src/runtime/engine-context.ts';
import { testEngine } from '../../support/test-engine.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { frozenClient } from './frozen-client.ts';
import { type ForesightLine, liveForesight } from './live.ts';
import type { Edges } from './recorder.ts';

const cluster = {
  apiVersion: 'clusterwright.dev/v1alpha1',
  kind: 'RedisCluster',
  metadata: { name: 'db', namespace: 'team', uid: 'u', resourceVersion: '1', generation: 3 },
  spec: {},
} as Cluster;

const configMap = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'team' },
});
const create = (name: string): ObjectStep => ({ type: 'create', object: configMap(name) });
const act = (type: string): Step => ({ type: 'act', action: { type }, summary: `do ${type}` });

let there: readonly KubeObject[];
let lines: ForesightLine[];
let edges: Edges;
let status: number;
const clock = new VirtualClock();
const engine = testEngine();

beforeEach(() => {
  there = [cluster];
  lines = [];
  status = 201;
  engine.find = () => ({ plan: { steps: [create('db-a'), act('test.turn')], outcome: settled } });
  edges = liveForesight({
    edges: {
      engines: [engine],
      dial: () => Promise.reject(new Error('nobody listens')),
      transport: {
        request: async ({ body = '{}' }) => ({ status, headers: {}, body }),
        stream: () => Promise.reject(new Error('nothing is watched')),
        close: async () => undefined,
      },
    },
    clock,
    objects: async () => there,
    note: (line) => lines.push(line),
  });
});

async function survey(seen = cluster): Promise<Assessment> {
  const client = frozenClient([]);
  const io = engineIO({
    namespace: 'team',
    secrets: createSecretReader({ client, clock, onValue: () => undefined }),
    claims: async () => undefined,
    accounts: async () => undefined,
    dial: edges.dial,
    clock,
    signal: new AbortController().signal,
  });
  const [own] = edges.engines;
  if (own === undefined) throw new Error('there is no engine');
  return own.assess(seen, noChildren, io);
}

const client = () => createClient({ transport: edges.transport, clock, random: () => 0.5 });
const found = (): readonly string[] => lines.map(({ plannedFrom, words }) => `${plannedFrom}: ${words}`);

describe('the look before a write', () => {
  it('finds what the plan of the moment shows, and says for which generation', async () => {
    const { act: turn } = await survey();
    await client().create(configMap('db-a'));
    await turn({ type: 'test.turn' });
    await survey();
    expect(found()).toEqual(['there: create ConfigMap db-a', 'there: do test.turn']);
    expect(lines[0]).toMatchObject({ cluster: 'RedisCluster/db', generation: 3, pass: 1 });
  });

  it.each([
    ['another object', () => client().create(configMap('db-b'))],
    ['another content', () => client().create({ ...configMap('db-a'), data: { more: 'x' } })],
    ['another verb', () => client().remove({ resource: configMaps, namespace: 'team', name: 'db-a', uid: 'a' })],
  ])('speaks about %s', async (_, write) => {
    await survey();
    await write().catch(() => undefined);
    expect(found()).toEqual(['none: from what is there, the plan was: create ConfigMap db-a; do test.turn; settled']);
  });

  it('speaks about an action that is in no plan', async () => {
    const { act: turn } = await survey();
    await turn({ type: 'test.other' });
    expect(found()).toEqual([expect.stringContaining('none: from what is there')]);
  });

  it.each([
    ['the object that belongs to somebody else', 'db-a', 'there: the plan was: NameConflict'],
    ['another', 'db-b', 'none: from what is there, the plan was: NameConflict'],
  ])('where the plan tells of a conflict, the attempt to make %s', async (_, name, words) => {
    const outcome = blocked('NameConflict', 'ConfigMap db-a exists and belongs to somebody else');
    engine.find = () => ({ plan: { steps: [], outcome } });
    await survey();
    await client()
      .create(configMap(name))
      .catch(() => undefined);
    expect(found()).toEqual([expect.stringContaining(words)]);
  });

  it('speaks about a write without a pass', async () => {
    await client().create(configMap('db-a'));
    expect(found()).toEqual(['none: there was no pass']);
  });

  it('speaks about a write where no plan can be made', async () => {
    there = [];
    await survey({ ...cluster, metadata: { ...cluster.metadata, name: 'other' } });
    there = [{ ...cluster, metadata: { ...cluster.metadata, name: 'other' }, spec: { replicas: 'many' } }];
    await client().create(configMap('other-a'));
    expect(found()).toEqual([expect.stringContaining('none: no plan can be made')]);
  });

  it('counts the plan from the view that the operator had, where it was behind', async () => {
    const paused = { ...cluster, spec: { paused: true }, metadata: { ...cluster.metadata, resourceVersion: '2' } };
    await survey();
    there = [paused];
    await client().create(configMap('db-a'));
    expect(found()).toEqual(['seen: create ConfigMap db-a']);
  });

  it('leaves status, lease and events alone', async () => {
    await survey();
    for (const path of [
      '/apis/clusterwright.dev/v1alpha1/namespaces/team/redisclusters/db/status',
      '/apis/coordination.k8s.io/v1/namespaces/team/leases/clusterwright',
      '/apis/events.k8s.io/v1/namespaces/team/events',
    ]) {
      await edges.transport.request({ method: 'PATCH', path, body: '{}' });
    }
    expect(lines).toEqual([]);
  });
});

describe('the next pass', () => {
  it('speaks about steps that were left out', async () => {
    await survey();
    await client().create(configMap('db-a'));
    await survey();
    await Promise.resolve();
    expect(found()).toContain('none: planned, and not done: do test.turn');
  });

  it('expects no rest where something was refused', async () => {
    await survey();
    status = 403;
    await client()
      .create(configMap('db-a'))
      .catch(() => undefined);
    await survey();
    await Promise.resolve();
    expect(found()).toEqual(['there: create ConfigMap db-a']);
  });

  it('lets a change wait that was made a moment ago, and what comes after it, and nothing else', async () => {
    const first: Step = { type: 'create', object: configMap('db-first') };
    const again: Step = { type: 'create', object: configMap('db-a') };
    engine.find = () => ({ plan: { steps: [first, again, act('test.turn')], outcome: settled } });
    const pass = async (...names: readonly string[]): Promise<void> => {
      await survey();
      for (const name of names) await client().create(configMap(name));
    };
    await pass('db-a');
    await pass('db-first');
    await survey();
    await Promise.resolve();
    expect(found().filter((line) => line.startsWith('none'))).toEqual([
      'none: planned, and not done: create ConfigMap db-first; do test.turn',
    ]);
  });

  it('expects no rollout of one that may wait for its turn', async () => {
    const labels = { [managedByLabel]: managedBy, [nameLabel]: engine.name, [instanceLabel]: 'db' };
    const metadata = { namespace: 'team', uid: 'v', resourceVersion: '1', labels };
    const ready = { conditions: [{ type: 'Ready', status: 'True' }] };
    const set = {
      ...{ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { ...metadata, name: 'db', generation: 1 } },
      ...{
        spec: { replicas: 1, template: { spec: { containers: [] } } },
        status: { observedGeneration: 1, updateRevision: 'r' },
      },
    };
    const pod = {
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name: 'db-0' }, status: ready },
    };
    const changes = [{ path: 'spec.template.spec', to: 'x' }];
    const rollout: Step = { type: 'apply', object: set, changes };
    there = [
      { ...cluster, status: { initialized: true } },
      set,
      { ...pod, metadata: { ...pod.metadata, labels: { ...labels, 'controller-revision-hash': 'r' } } },
    ];
    engine.find = () => ({ plan: { steps: [create('db-a'), rollout], outcome: settled } });
    await survey();
    await client().create(configMap('db-a'));
    await survey();
    await Promise.resolve();
    expect(found()).toEqual([expect.stringContaining('create ConfigMap db-a')]);
  });

  it('expects nothing of a pass that did nothing', async () => {
    await survey();
    await survey();
    await Promise.resolve();
    expect(lines).toEqual([]);
  });
});
