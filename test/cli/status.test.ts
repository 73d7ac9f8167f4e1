import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import type { ClusterStatus } from '../../src/api/status.ts';
import { status } from '../../src/cli/status.ts';
import { apiServer } from './api-server.ts';
import { type World, world } from './world.ts';

const since = '2029-12-31T23:50:00Z';

function cluster(name: string, said: ClusterStatus | undefined, namespace = 'team'): KubeObject {
  return {
    apiVersion: 'clusterwright.dev/v1alpha1',
    kind: 'RedisCluster',
    metadata: { name, namespace, generation: 2, creationTimestamp: '2029-12-31T21:00:00Z' },
    spec: {},
    ...(said === undefined ? {} : { status: said }),
  };
}

const healthy: ClusterStatus = {
  observedGeneration: 2,
  phase: 'Ready',
  conditions: [
    {
      type: 'Degraded',
      status: 'False',
      reason: 'AllMembersReady',
      message: 'fine',
      observedGeneration: 2,
      lastTransitionTime: since,
    },
    {
      type: 'Ready',
      status: 'True',
      reason: 'AllMembersReady',
      message: 'fine',
      observedGeneration: 2,
      lastTransitionTime: since,
    },
  ],
  replicas: 3,
  readyReplicas: 3,
  primary: 'cache-1',
  version: '8.0.2',
  members: [
    { name: 'cache-0', role: 'replica', ready: true, version: '8.0.2', node: 'node1', address: '10.244.1.2' },
    { name: 'cache-sentinel-0', role: 'sentinel', ready: false },
  ],
  connection: { services: [{ role: 'primary', host: 'cache-primary', port: 6379 }], secretName: 'cache-auth' },
};

const waiting: ClusterStatus = {
  observedGeneration: 1,
  phase: 'Updating',
  conditions: [
    {
      type: 'Ready',
      status: 'False',
      reason: 'MembersNotReady',
      message: 'no',
      observedGeneration: 1,
      lastTransitionTime: since,
    },
  ],
  replicas: 3,
  readyReplicas: 2,
  plan: { next: 'update StatefulSet queue', waitingFor: 'queue-2 is catching up' },
};

async function run(args: object, objects: readonly KubeObject[]): Promise<World> {
  const cli = world({ api: apiServer({ objects }) });
  expect(await status(args, cli)).toBe(0);
  return cli;
}

describe('status', () => {
  it('has a line for each cluster, with what the unready ones wait for', async () => {
    const { printed } = await run({}, [
      cluster('cache', healthy),
      cluster('queue', waiting),
      cluster('new', undefined),
    ]);
    expect(printed.out).toBe(
      [
        'NAME                 PHASE      READY     MEMBERS   PRIMARY   VERSION   AGE   NOTE',
        'rediscluster/cache   Ready      True      3/3       cache-1   8.0.2     3h',
        'rediscluster/queue   Updating   False     2/3                           3h    queue-2 is catching up',
        'rediscluster/new     Unseen     Unknown                                 3h',
        '',
      ].join('\n'),
    );
  });

  it('keeps to the namespace, unless all are asked for', async () => {
    const objects = [cluster('cache', healthy), cluster('other', healthy, 'others')];
    expect((await run({}, objects)).printed.out).not.toContain('other');
    expect((await run({ namespace: 'others' }, objects)).printed.out).not.toContain('cache ');
    const all = (await run({ allNamespaces: true }, objects)).printed.out;
    expect(all).toMatch(/^NAMESPACE {3}NAME/);
    expect(all).toContain('others      rediscluster/other');
  });

  it('lists all of them, however many pages they are', async () => {
    const many = Array.from({ length: 1001 }, (_, i) => cluster(`c${i}`, healthy));
    expect((await run({}, many)).printed.out.split('\n')).toHaveLength(1001 + 2);
  });

  it('tells all about one', async () => {
    const { printed } = await run({ cluster: 'rdc/cache' }, [cluster('cache', healthy)]);
    expect(printed.out).toBe(`RedisCluster team/cache
  phase       Ready
  primary     cache-1
  version     8.0.2
  members     3/3
  age         3h

conditions
  TYPE       STATUS   SINCE   REASON            MESSAGE
  Degraded   False    10m     AllMembersReady   fine
  Ready      True     10m     AllMembersReady   fine

members
  NAME               ROLE       READY   VERSION   NODE    ADDRESS
  cache-0            replica    yes     8.0.2     node1   10.244.1.2
  cache-sentinel-0   sentinel   no

connection
  ROLE       ADDRESS
  primary    cache-primary.team.svc:6379
  password   in Secret cache-auth
`);
  });

  it('tells of a spec that no controller has seen yet, and of the next step', async () => {
    const { printed } = await run({ cluster: 'RedisCluster/queue' }, [cluster('queue', waiting)]);
    expect(printed.out).toContain('  spec        changed since the controller last looked\n');
    expect(printed.out).toContain('  next        update StatefulSet queue\n  waits for   queue-2 is catching up\n');
  });

  it('says of a cluster that nobody has looked at only that', async () => {
    const { printed } = await run({ cluster: 'RedisCluster/queue' }, [cluster('queue', { observedGeneration: -1 })]);
    expect(printed.out).toContain('  phase       no controller has looked at it yet\n');
    expect(printed.out).not.toContain('changed since');
  });

  it('gives data to machines', async () => {
    const { printed } = await run({ output: 'json' }, [cluster('cache', healthy)]);
    expect(JSON.parse(printed.out)).toEqual({
      clusters: [{ kind: 'RedisCluster', namespace: 'team', name: 'cache', generation: 2, status: healthy }],
    });
    const one = await run({ output: 'yaml', cluster: 'rdc/cache' }, [cluster('cache', healthy)]);
    expect(one.printed.out).toMatch(/^kind: RedisCluster\nnamespace: team\nname: cache\n/);
  });

  it('says so where there is none', async () => {
    const { printed } = await run({}, []);
    expect(printed).toEqual({ out: '', err: 'no cluster in namespace team\n' });
    await expect(run({ cluster: 'rdc/cache' }, [])).rejects.toThrow('there is no RedisCluster cache in namespace team');
    await expect(run({ cluster: 'pod/cache' }, [])).rejects.toThrow(
      'pod/cache is not KIND/NAME; KIND is one of rediscluster, redisclusters, rdc',
    );
  });
});
