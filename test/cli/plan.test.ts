/** Plans from the command line: offline against nothing, and against a cluster that is read and never written. */
import { Duplex } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { plan } from '../../src/cli/plan.ts';
import type { PodDialer } from '../../src/cli/port-forward.ts';
import { atSize } from '../../src/plan/objects.ts';
import { ApiError } from '../../src/runtime/api-error.ts';
import type { Dial } from '../../src/system/dial.ts';
import { apiServer } from './api-server.ts';
import { childrenOf, manifest, password, stored } from './stored-cluster.ts';
import { refusing, unreachable, type World, world } from './world.ts';

const files = (...objects: readonly KubeObject[]) => ({ f: objects.map((o) => JSON.stringify(o)).join('\n---\n') });

interface Run {
  readonly code: number;
  readonly around: World;
  readonly writes: number;
  readonly secretsRead: number;
}

async function run(
  options: {
    readonly file?: KubeObject;
    readonly cluster: readonly KubeObject[];
    readonly dial?: Dial;
    readonly forward?: PodDialer;
    readonly forbidden?: RegExp;
    readonly refuses?: (object: KubeObject) => string | undefined;
  },
  args: object = {},
): Promise<Run> {
  const api = apiServer({ objects: options.cluster, forbidden: options.forbidden, refuses: options.refuses });
  const cli = world({
    files: options.file === undefined ? {} : files(options.file),
    api,
    ...(options.dial === undefined ? {} : { dial: options.dial }),
    ...(options.forward === undefined ? {} : { forward: options.forward }),
  });
  const subject = options.file === undefined ? 'rediscluster/cache' : 'f';
  const code = await plan({ subject, ...args }, cli);
  const secretsRead = api.requests.filter(({ path }) => path.includes('/secrets')).length;
  return { code, around: cli, writes: api.writes.length, secretsRead };
}

describe('plan --offline', () => {
  it('prints what a first pass creates, and exits with 2', async () => {
    const cli = world({ files: files(manifest({ mode: 'Standalone', replicas: 1 })) });
    expect(await plan({ subject: 'f', offline: true }, cli)).toBe(2);
    expect(cli.printed.out).toBe(`RedisCluster team/cache: 7 to create
  create
    Secret/cache-auth: password (32 random characters); an existing Secret is kept
    Secret/cache-internal: password (32 random characters); an existing Secret of the operator is kept
    ConfigMap/cache-config
    Service/cache
    Service/cache-primary
    PodDisruptionBudget/cache
    StatefulSet/cache
  waits for: the node does not answer yet (MembersStarting)
`);
  });

  it('prints one plan for each cluster of the file', async () => {
    const other = { ...manifest(), metadata: { name: 'queue', namespace: 'team' } };
    const cli = world({ files: files(manifest(), other) });
    expect(await plan({ subject: 'f', offline: true, output: 'json' }, cli)).toBe(2);
    const { clusters } = JSON.parse(cli.printed.out) as { clusters: { name: string; basis: string }[] };
    expect(clusters.map(({ name, basis }) => [name, basis])).toEqual([
      ['cache', 'nothing'],
      ['queue', 'nothing'],
    ]);
  });

  const about = { cluster: { kind: 'RedisCluster', name: 'cache' }, target: { claim: { name: 'archive' } } };
  const s3 = { endpoint: 'https://s3.example.com', bucket: 'backups', credentials: 's3' };

  it.each<[string, object, string]>([
    [
      'Backup',
      about,
      'Job/backup-nightly takes a backup of RedisCluster/cache to PersistentVolumeClaim/archive, once, and reads it back',
    ],
    [
      'BackupSchedule',
      { ...about, target: { s3 }, schedule: '0 3 * * *' },
      'CronJob/schedule-nightly takes a backup of RedisCluster/cache to the bucket backups of https://s3.example.com, at 0 3 * * * (Etc/UTC)',
    ],
    [
      'BackupSchedule',
      { ...about, schedule: '0 3 * * *', suspend: true },
      'CronJob/schedule-nightly takes a backup of RedisCluster/cache to PersistentVolumeClaim/archive, once spec.suspend is false, at 0 3 * * * (Etc/UTC)',
    ],
  ])('says what a %s does, and shows its objects where its cluster is in the file', async (kind, spec, does) => {
    const object = { ...manifest(spec), kind, metadata: { name: 'nightly', namespace: 'team' } };
    const alone = world({ files: files(object) });
    expect(await plan({ subject: 'f', offline: true }, alone)).toBe(2);
    expect(alone.printed.out).toBe(`${kind} team/nightly: nothing yet
  afterwards
    ${does}
  waits for: RedisCluster team/cache is not in f, which has no RedisCluster: check spec.cluster.name, add the cluster, or plan without --offline (NotObserved)
`);
    const together = world({ files: files(object, manifest()) });
    expect(await plan({ subject: 'f', offline: true }, together)).toBe(2);
    expect(together.printed.out).toContain(`${kind} team/nightly: 2 to create\n`);
    expect(together.printed.out).toContain(`  afterwards\n    ${does}\n`);
  });

  it('lists the CA and the certificates that a first pass issues', async () => {
    const spec = { replicas: 1, tls: { peer: { selfManaged: {} } } };
    const cli = world({ files: files({ ...manifest(spec), kind: 'EtcdCluster' }) });
    expect(await plan({ subject: 'f', offline: true }, cli)).toBe(2);
    expect(cli.printed.out).toContain(`
  certificates to issue
    Secret/cache-peer-ca: no CA exists yet
    Secret/cache-peer-tls: no certificate exists yet
`);
  });

  it('has nothing to do yet for a paused cluster', async () => {
    const cli = world({ files: files(manifest({ paused: true })) });
    expect(await plan({ subject: 'f', offline: true }, cli)).toBe(0);
    expect(cli.printed.out).toContain('nothing yet\n  waits for: spec.paused is true');
  });

  it('needs a file', async () => {
    await expect(plan({ subject: 'rdc/cache', offline: true }, world())).rejects.toThrow('--offline plans from a file');
  });
});

describe('plan against a cluster', () => {
  it('changes nothing where all objects are as they should be, and says what it waits for', async () => {
    const cluster = stored();
    const { code, around: cli } = await run({ cluster: [cluster, ...(await childrenOf(cluster))] });
    expect(cli.printed.out).toMatch(/^RedisCluster team\/cache: nothing yet\n {2}waits for: no Redis node answers/);
    expect(code).toBe(0);
  });

  it('shows a change of the file field by field, in the spec and in what follows from it', async () => {
    const cluster = stored();
    const file = manifest({ replicas: 5, config: { maxclients: 500 } });
    const { code, around: cli } = await run({ file, cluster: [cluster, ...(await childrenOf(cluster))] });
    expect(code).toBe(2);
    expect(cli.printed.out.split('\n').filter((line) => !line.includes('waits for'))).toEqual([
      'RedisCluster team/cache: 2 to update',
      '  spec',
      '    replicas: 3 -> 5',
      '    config.maxclients: (none) -> 500',
      '  update',
      '    ConfigMap/cache-config',
      '      data[redis.conf]:',
      '        - maxclients 10000',
      '        + maxclients 500',
      '      data[sentinel.conf]:',
      '        - sentinel parallel-syncs cache 2',
      '        + sentinel parallel-syncs cache 4',
      '    StatefulSet/cache',
      '      spec.replicas: 3 -> 5',
      '',
    ]);
  });

  it('says which pods a new template restarts', async () => {
    const cluster = stored();
    const file = manifest({ image: 'registry.example/redis:8.0.9' });
    const { around: cli } = await run({ file, cluster: [cluster, ...(await childrenOf(cluster))] });
    expect(cli.printed.out).toContain('].image: docker.io/library/redis:8.0 -> registry.example/redis:8.0.9\n');
    expect(cli.printed.out).toContain('the 1 pod(s) of StatefulSet cache restart, one at a time');
  });

  it.each<[story: string, ask: 'forward' | 'never', where: string]>([
    ['where the processes are asked', 'forward', '  afterwards\n    '],
    ['where they are not', 'never', '  blocked by: '],
  ])('says that a new template is refused, and restarts nobody: %s', async (_, ask, where) => {
    const cluster = stored();
    const words = 'pods "cache-0" is forbidden: no PriorityClass with name nobody was found';
    const { around: cli, writes } = await run(
      {
        file: manifest({ scheduling: { priorityClassName: 'nobody' } }),
        cluster: [cluster, ...(await childrenOf(cluster))],
        refuses: ({ spec }) =>
          (spec as { priorityClassName?: string }).priorityClassName === 'nobody' ? words : undefined,
      },
      { ask },
    );
    expect(cli.printed.out).toContain(
      `${where}the API server refuses pods of the new template, so nobody restarts: ${words}`,
    );
    expect(cli.printed.out).not.toContain('StatefulSet/cache');
    expect(writes).toBe(0);
  });

  it('sees what somebody else has changed by hand', async () => {
    const cluster = stored();
    const children = await childrenOf(cluster);
    const drifted = children.map((child) => (child.kind === 'StatefulSet' ? atSize(child, 1) : child));
    const { code, around: cli } = await run({ cluster: [cluster, ...drifted] });
    expect(code).toBe(2);
    expect(cli.printed.out).toContain('    StatefulSet/cache\n      spec.replicas: 1 -> 3\n');
  });

  it('counts a change of the custom resource itself, even where no child changes', async () => {
    const cluster = stored();
    const file = manifest({ paused: true });
    const { code, around: cli } = await run({ file, cluster: [cluster, ...(await childrenOf(cluster))] });
    expect(code).toBe(2);
    expect(cli.printed.out).toContain('only its own spec changes\n  spec\n    paused: false -> true\n');
  });

  it('plans the creation of a cluster that is not there', async () => {
    const { code, around: cli } = await run({ file: manifest(), cluster: [] });
    expect(code).toBe(2);
    expect(cli.printed.out).toMatch(/^RedisCluster team\/cache: \d+ to create\n {2}create\n/);
  });

  it('says what the spec risks', async () => {
    const risky = manifest({ sentinel: { fence: { mode: 'Off' } }, replicas: 2 });
    const { around } = await run({ file: risky, cluster: [] });
    expect(around.printed.out).toMatch(/\n {2}warnings\n {4}.+ \([A-Z]\w+\)\n/);
    expect((await run({ file: manifest(), cluster: [] })).around.printed.out).not.toContain('warnings');
  });

  it('holds a file to the rules on what may change', async () => {
    const cluster = stored({ version: '8.0' });
    await expect(run({ file: manifest({ version: '7.0' }), cluster: [cluster] })).rejects.toThrow(
      'spec.version: version can only rise',
    );
  });

  it('plans a deletion with the exact objects that go', async () => {
    const cluster = stored({ deletionPolicy: 'Delete' });
    const leaving = {
      ...cluster,
      metadata: {
        ...cluster.metadata,
        deletionTimestamp: '2030-01-01T00:00:00Z',
        finalizers: ['clusterwright.dev/delete-data'],
      },
    };
    const { code, around: cli } = await run({ cluster: [leaving, ...(await childrenOf(cluster))] });
    expect(code).toBe(2);
    expect(cli.printed.out).toContain('  delete\n    StatefulSet/cache: the cluster is deleted\n');
  });

  const madeFor = (cluster: string): Record<string, string> => ({
    'app.kubernetes.io/managed-by': 'clusterwright',
    'app.kubernetes.io/name': 'redis',
    'app.kubernetes.io/instance': cluster,
  });
  it.each<[string, Record<string, string>, boolean]>([
    ['that we have made', madeFor('cache'), true],
    ['that we have made for another cluster', madeFor('other'), false],
    ['that somebody has made before us', {}, false],
  ])('plans the deletion of a Secret of the name as the controller does: one %s', async (_, labels, isDeleted) => {
    const cluster = stored({ deletionPolicy: 'Delete' });
    const deleted = { deletionTimestamp: '2030-01-01T00:00:00Z', finalizers: ['clusterwright.dev/delete-data'] };
    const leaving = { ...cluster, metadata: { ...cluster.metadata, ...deleted } };
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'cache-auth', namespace: 'team', uid: 's', labels },
    };
    const { around: cli } = await run({ cluster: [leaving, secret] });
    expect(cli.printed.out.includes('Secret/cache-auth')).toBe(isDeleted);
  });

  it('writes nothing, whatever it finds', async () => {
    const cluster = stored({ deletionPolicy: 'Delete' });
    const { writes, code } = await run({ file: manifest({ replicas: 5 }), cluster: [cluster] });
    expect(code).toBe(2);
    expect(writes).toBe(0);
  });

  it('prints no password, in no format', async () => {
    const cluster = stored();
    const everything = [cluster, ...(await childrenOf(cluster))];
    const file = manifest({ replicas: 5 });
    for (const output of [undefined, 'json', 'yaml'] as const) {
      const { around: cli } = await run({ file, cluster: everything }, { output });
      expect(cli.printed.out + cli.printed.err).not.toContain(password);
      expect(cli.printed.out).not.toContain(Buffer.from(password).toString('base64'));
    }
  });

  it('is an error without a cluster, and no silent offline plan', async () => {
    const cli = (): World => world({ files: files(manifest()) });
    await expect(plan({ subject: 'f' }, cli())).rejects.toThrow(/cannot be read[\s\S]*--offline plans a file/);
    await expect(plan({ subject: 'rdc/cache' }, cli())).rejects.toThrow(/cannot be read(?![\s\S]*--offline)/);
  });

  it('says which cluster is missing, and which kind', async () => {
    await expect(run({ cluster: [] })).rejects.toThrow(
      'there is no RedisCluster cache in namespace team (context test)',
    );
    const cli = world({ api: apiServer({ crds: false }) });
    await expect(plan({ subject: 'rdc/cache' }, cli)).rejects.toThrow('does not know the kind RedisCluster');
  });
});

const cluster = stored();
const children = await childrenOf(cluster);

describe('the database processes', () => {
  const basisOf = ({ around: cli }: Run): unknown =>
    (JSON.parse(cli.printed.out) as { clusters: { basis: string }[] }).clusters[0]?.basis;

  const isReady = { type: 'Ready', status: 'True' };
  const saysNothing = (): Duplex =>
    new Duplex({
      read() {
        this.push(null);
      },
      write: (_chunk, _encoding, done) => done(),
    });

  interface Calls {
    readonly calls: string[];
    readonly dial: Dial;
    readonly forward: PodDialer;
  }
  function roads(forwarded: Error = new Error('the node is down')): Calls {
    const calls: string[] = [];
    const dial: Dial = (host, port, signal) => {
      calls.push(`${host}:${port}`);
      return refusing(host, port, signal);
    };
    const forward: PodDialer = (namespace, pod, port) => {
      calls.push(`${namespace}/${pod}:${port}`);
      return Promise.reject(forwarded);
    };
    return { calls, dial, forward };
  }

  it('are asked through the API server; one that does not answer is down', async () => {
    const { calls, ...ways } = roads();
    const done = await run({ cluster: [cluster, ...children], ...ways }, { output: 'json' });
    expect(calls).toEqual(['team/cache-0:6379']);
    expect(basisOf(done)).toBe('processes');
  });

  it.each([
    ['whose road breaks', () => Promise.reject(new Error('the forwarding was refused'))],
    ['of which nothing comes', async () => saysNothing()],
  ] as const)('that are ready, and %s, are not taken for down', async (_, forward) => {
    const ready = children.map((child) =>
      child.kind === 'Pod' ? { ...child, status: { ...(child.status as object), conditions: [isReady] } } : child,
    );
    const done = await run({ cluster: [cluster, ...ready], forward }, { output: 'json' });
    expect(basisOf(done)).toBe('objects');
    expect(done.around.printed.out).toContain('nothing came through the API server from cache-0');
  });

  it('are asked at their addresses with --ask direct; one that refuses is down, not out of reach', async () => {
    const { calls, ...ways } = roads();
    const done = await run({ cluster: [cluster, ...children], ...ways }, { output: 'json', ask: 'direct' });
    expect(calls).toEqual(['10.9.9.9:6379']);
    expect(basisOf(done)).toBe('processes');
  });

  it('are left alone with --ask never: no connection, and no Secret read', async () => {
    const { calls, ...ways } = roads();
    const done = await run({ cluster: [cluster, ...children], ...ways }, { output: 'json', ask: 'never' });
    expect(calls).toEqual([]);
    expect(done.secretsRead).toBe(0);
    expect(basisOf(done)).toBe('objects');
  });

  it('are asked, too, where nobody may read the certificates of cert-manager', async () => {
    const done = await run(
      { cluster: [cluster, ...children], ...roads(), forbidden: /cert-manager/ },
      { output: 'json' },
    );
    expect(basisOf(done)).toBe('processes');
  });

  it('are left alone where the Secret may not be read', async () => {
    const { calls, ...ways } = roads();
    const done = await run({ cluster: [cluster, ...children], ...ways, forbidden: /\/secrets\// });
    expect(calls).toEqual([]);
    expect(done.code).toBe(0);
    expect(done.around.printed.out).toContain('you may not read the Secret with the password');
  });

  const path = '/api/v1/namespaces/team/pods/cache-0/portforward';
  const denied = new ApiError({ status: 403, reason: 'Forbidden', message: 'you may not', method: 'GET', path });

  it.each([
    ['whose pods are not open to this user', 'forward', roads(denied), 'you may not forward ports to the pods'],
    [
      'out of reach',
      'direct',
      { dial: unreachable, forward: roads().forward },
      'the pod network cannot be reached from this machine',
    ],
  ])('%s make a plan of objects alone, which says so', async (_title, ask, { dial, forward }, why) => {
    const drifted = children.map((child) => (child.kind === 'StatefulSet' ? atSize(child, 1) : child));
    const { around: cli, code } = await run({ cluster: [cluster, ...drifted], dial, forward }, { ask });
    expect(code).toBe(2);
    expect(cli.printed.out).toContain('spec.replicas: 1 -> 3');
    expect(cli.printed.out).toContain(`waits for: ${why}: only what the API server tells was compared`);
  });
});
