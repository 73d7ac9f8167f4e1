/** An operator with a label selector touches nothing of what it does not select, whatever else is in its namespaces. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { labelSelector } from '../../src/api/label-selector.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { deletionFinalizer } from '../../src/plan/deletion.ts';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { createOperator } from '../../src/runtime/operator.ts';
import { createLog } from '../../src/system/log.ts';
import { runningChildren } from '../../src/testing/running-children.ts';
import { engineOf, resourceOf } from '../support/backup-story.ts';
import { FakeApi } from '../support/fake-api.ts';
import { handlers as engines } from '../support/handlers.ts';
import { turn, VirtualClock } from '../support/virtual-clock.ts';

const target = { claim: { name: 'backups' } };
const about = (kind: string) => ({ cluster: { kind, name: 'db' } });

/** Every kind, with a resource of which there are many children. */
const specs: Readonly<Record<string, object>> = {
  RedisCluster: { deletionPolicy: 'Delete' },
  EtcdCluster: { deletionPolicy: 'Delete', tls: { client: { selfManaged: {} }, peer: { selfManaged: {} } } },
  PostgresCluster: { deletionPolicy: 'Delete', pooler: {}, monitoring: {} },
  Backup: { ...about('RedisCluster'), target },
  BackupSchedule: { ...about('RedisCluster'), target, schedule: '0 3 * * *' },
  PostgresDatabase: { ...about('PostgresCluster'), name: 'shop', owner: 'shop', deletionPolicy: 'Delete' },
  PostgresUser: { ...about('PostgresCluster'), name: 'shop', deletionPolicy: 'Delete' },
};
const kinds = Object.keys(specs);

const labelled = (object: KubeObject, tier: string, more: object = {}): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, labels: { ...object.metadata.labels, tier }, ...more },
});

/** With all that it is made of, as it runs, and the Secrets. */
function familyOf(kind: string, name = 'db'): { readonly resource: KubeObject; readonly children: KubeObject[] } {
  const resource = resourceOf(kind, name, specs[kind] ?? {});
  const engine = engineOf(kind);
  const reference = engine.targetRef?.(resource);
  const referred = reference === undefined ? undefined : resourceOf(reference.kind, reference.name, {});
  const desired = engine.resources(resource, referred);
  const secrets = desired.flatMap(({ object }) => (object.kind === 'Secret' ? [object] : []));
  return { resource, children: [...runningChildren(desired).objects, ...secrets] };
}

interface Running {
  /** `METHOD path` of what it has written, apart from its lease and from events. */
  readonly writes: string[];
  readonly log: string[];
}

class World {
  readonly api = new FakeApi();
  readonly clock = new VirtualClock();

  constructor(...objects: readonly KubeObject[]) {
    this.api.readsStatuses = false;
    for (const object of objects) this.api.put(object);
  }

  start(selector: string, namespace = selector.replace(/\W/g, '-')): Running {
    const { api, clock } = this;
    const running: Running = { writes: [], log: [] };
    const transport: typeof api.transport = {
      ...api.transport,
      request: (request) => {
        const isOwn = /\/(leases|events)(\/|$)/.test(request.path);
        const { metadata } = JSON.parse(request.body ?? '{}') as { metadata?: { name?: string } };
        const name = request.method === 'POST' ? `/${metadata?.name}` : '';
        if (request.method !== 'GET' && !isOwn) running.writes.push(`${request.method} ${request.path}${name}`);
        return api.transport.request(request);
      },
    };
    const stopping = new AbortController();
    const end = createOperator({
      engines,
      transport,
      dial: () => Promise.reject(new Error('nobody is there')),
      namespaces: [],
      selector: labelSelector(selector),
      dryRuns: false,
      election: { namespace, identity: namespace, transport },
      instance: namespace,
      clock,
      random: () => 0.5,
      log: createLog({ level: 'debug', destination: { write: (line: string) => void running.log.push(line) } }),
      metrics: createMetrics(),
    }).run(stopping.signal);
    onTestFinished(async () => {
      stopping.abort(new Error('the test is over'));
      await clock.advance(60_000);
      await end;
    });
    return running;
  }

  async pass(ms: number, step = 100): Promise<void> {
    for (let waited = 0; waited < ms; waited += step) {
      await this.clock.advance(step);
      await turn();
    }
  }

  /** All that there is, with its version: Secrets and claims as well. */
  get whole(): string[] {
    const all = ['Secret', 'PersistentVolumeClaim', 'StatefulSet', 'Pod', 'ConfigMap', 'Service', 'Job', 'CronJob'];
    return [...all, 'PodDisruptionBudget', ...kinds].flatMap((kind) =>
      this.api.list(kind).map(({ metadata }) => `${kind} ${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`),
    );
  }
}

const resyncMs = 12 * 60_000;
const going = { finalizers: [deletionFinalizer], deletionTimestamp: '2030-01-01T00:00:00Z' };

describe.each(kinds)('a %s of another operator, and what belongs to it', (kind) => {
  it.each<readonly [story: string, (family: ReturnType<typeof familyOf>) => KubeObject[]]>([
    ['as it runs', ({ resource, children }) => [labelled(resource, 'green'), ...children]],
    ['without a label', ({ resource, children }) => [resource, ...children]],
    ['while it is deleted with its data', (all) => [labelled(all.resource, 'green', going), ...all.children]],
    ['whose children are left alone', ({ children }) => children],
    ['whose children are not there yet', ({ resource }) => [labelled(resource, 'green')]],
  ])('stays untouched: %s', async (_, objects) => {
    const world = new World(...objects(familyOf(kind)));
    const before = world.whole;
    const { writes } = world.start('tier=blue');
    await world.pass(resyncMs, 5000);
    expect(writes).toEqual([]);
    expect(world.whole).toEqual(before);
  });

  it('is let go when its label changes, and nothing is deleted; it is taken up where it comes back', async () => {
    const { resource, children } = familyOf(kind);
    const ours = labelled(resource, 'blue', { finalizers: [deletionFinalizer] });
    const world = new World(ours, ...children);
    const { writes } = world.start('tier=blue');
    await world.pass(3000);
    // All that belongs to it was looked at.
    expect(writes.some((write) => write.includes(`/${ours.metadata.name}`))).toBe(true);
    expect(writes.filter((write) => write.startsWith('DELETE'))).toEqual([]);
    world.api.put(labelled(resource, 'green'));
    await world.pass(100);
    const before = world.whole;
    const written = writes.length;
    await world.pass(resyncMs, 5000);
    expect(writes.slice(written)).toEqual([]);
    expect(world.whole).toEqual(before);
    world.api.put(labelled(resource, 'blue', { annotations: { 'clusterwright.dev/note': 'back' }, generation: 2 }));
    world.api.put({ ...labelled(resource, 'blue'), status: { phase: 'Unknown' } } as KubeObject);
    await world.pass(20_000);
    expect(writes.slice(written).some((write) => write.endsWith(`/${ours.metadata.name}/status`))).toBe(true);
  });
});

describe('two operators in one namespace', () => {
  const namesIn = (writes: readonly string[]): string[] => [
    ...new Set(writes.map((write) => /(blue|green)-db/.exec(write)?.[1] ?? write)),
  ];
  const createdIn = (world: World): string[] =>
    world.api.list('StatefulSet').map(({ metadata }) => `${metadata.name} ${metadata.uid}`);

  it('each serve what they select, with a lease each, and a cluster that moves keeps all that it is made of', async () => {
    const [first, second] = ['blue', 'green'].map((tier) =>
      labelled(resourceOf('RedisCluster', `${tier}-db`, { deletionPolicy: 'Delete' }), tier),
    ) as [KubeObject, KubeObject];
    const world = new World(first, second);
    const [blue, green] = [world.start('tier=blue'), world.start('tier=green')];
    await world.pass(3000);
    expect([namesIn(blue.writes), namesIn(green.writes)]).toEqual([['blue'], ['green']]);
    expect(world.api.list('Lease').map(({ metadata }) => metadata.namespace)).toEqual(['tier-blue', 'tier-green']);
    const made = createdIn(world);
    expect(made).toHaveLength(4);
    const [before, after] = [blue.writes.length, green.writes.length];
    world.api.put(labelled(first, 'green'));
    await world.pass(60_000, 1000);
    expect(blue.writes.slice(before)).toEqual([]);
    expect(green.writes.slice(after).filter((write) => write.startsWith('DELETE'))).toEqual([]);
    expect(createdIn(world)).toEqual(made);
    // The one that has it now looks after it.
    world.api.vanish('ConfigMap', 'blue-db');
    await world.pass(3000);
    expect(namesIn(green.writes.slice(after))).toContain('blue');
    expect(blue.writes.slice(before)).toEqual([]);
  });
});

describe('a resource of ours about a cluster that is not', () => {
  const conditionOf = (world: World, kind: string): string => {
    const { status } = world.api.list(kind)[0] as { status?: { conditions?: { type: string; message: string }[] } };
    return status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '';
  };

  it.each(['Backup', 'BackupSchedule', 'PostgresDatabase', 'PostgresUser'])('%s says so, and waits', async (kind) => {
    const resource = resourceOf(kind, 'own', specs[kind] ?? {});
    const cluster = resourceOf('RedisCluster', 'db', {});
    const world = new World(labelled(resource, 'blue'), labelled(cluster, 'green'));
    world.start('tier=blue');
    await world.pass(3000);
    expect(conditionOf(world, kind)).toMatch(
      /^there is no (valid )?\w+ db in this namespace with labels that match tier=blue, the label selector of this operator$/,
    );
    expect(['Job', 'CronJob', 'Secret'].flatMap((each) => world.api.list(each))).toEqual([]);
  });

  it.each(['PostgresDatabase', 'PostgresUser'])('%s is not deleted while that cluster is there', async (kind) => {
    const resource = resourceOf(kind, 'own', specs[kind] ?? {});
    const cluster = resourceOf('PostgresCluster', 'db', {});
    const world = new World(labelled(resource, 'blue', going), labelled(cluster, 'green'));
    world.start('tier=blue');
    await world.pass(3000);
    expect(world.api.list(kind)).toHaveLength(1);
    expect(conditionOf(world, kind)).toBe(
      'PostgresCluster db has no labels that match tier=blue, the label selector of this operator: nothing in it is deleted',
    );
    world.api.vanish('PostgresCluster', 'db');
    await world.pass(20_000, 1000);
    expect(world.api.list(kind)).toEqual([]);
  });
});
