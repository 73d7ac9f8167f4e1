/** `up` and `down` on a cluster that the user has: what is applied, what is waited for, and what is never deleted. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { type Deployed, deploy } from '../../src/cli/deploy/deploy.ts';
import { createDiscovery, type Discovery } from '../../src/cli/deploy/discovery.ts';
import { imagesOf, recipeName } from '../../src/cli/deploy/images.ts';
import { type Manifests, packageRoot, readManifests, withImage } from '../../src/cli/deploy/manifests.ts';
import { remove } from '../../src/cli/deploy/removal.ts';
import { summaryText } from '../../src/cli/deploy/summary.ts';
import { etcdVersions } from '../../src/engines/etcd/images.ts';
import { images } from '../../src/engines/images.ts';
import { createClient, type KubeClient } from '../../src/runtime/client.ts';
import { silent } from '../../src/sandbox/progress.ts';
import { systemClock } from '../../src/system/clock.ts';
import { handlers } from '../support/handlers.ts';
import { type ApiServer, type ApiServerOptions, apiServer } from './api-server.ts';

const manifests = await readManifests(packageRoot());

/** Plays the controllers of Kubernetes, and ours. */
function working(object: KubeObject): KubeObject {
  switch (object.kind) {
    case 'CustomResourceDefinition':
      return { ...object, status: { conditions: [{ type: 'Established', status: 'True' }] } };
    case 'Deployment':
      return {
        ...object,
        status: { observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas: 2 },
      };
    case 'RedisCluster':
      return {
        ...object,
        status: {
          phase: 'Ready',
          primary: 'sample-0',
          version: '8.0.2',
          conditions: [{ type: 'Ready', status: 'True', observedGeneration: 1 }],
          connection: {
            services: [{ role: 'primary', host: 'sample-primary', port: 6379 }],
            secretName: 'sample-auth',
          },
        },
      };
    case 'EtcdCluster':
      return {
        ...object,
        status: {
          phase: 'Ready',
          primary: 'sample-etcd-0-0',
          version: '3.6.1',
          conditions: [{ type: 'Ready', status: 'True', observedGeneration: 1 }],
          connection: { services: [{ role: 'client', host: 'sample-etcd-client', port: 2379 }] },
        },
      };
    case 'PostgresCluster':
      return {
        ...object,
        status: {
          phase: 'Ready',
          primary: 'sample-postgres-0-0',
          version: '17.12',
          conditions: [{ type: 'Ready', status: 'True', observedGeneration: 1 }],
          connection: {
            services: [{ role: 'primary', host: 'sample-postgres-primary', port: 5432 }],
            secretName: 'sample-postgres-app',
          },
        },
      };
    default:
      return object;
  }
}

interface Site {
  readonly api: ApiServer;
  readonly client: KubeClient;
  readonly discovery: Discovery;
}

function site(options: ApiServerOptions = {}): Site {
  const api = apiServer({ settle: working, ...options });
  const discovery = createDiscovery();
  const client = createClient({
    transport: api,
    clock: systemClock,
    random: () => 0.5,
    resourceOf: discovery.resourceOf,
  });
  return { api, client, discovery };
}

const up = (on: Site, what: Manifests = manifests): Promise<Deployed> =>
  deploy(what, { ...on, clock: systemClock, progress: silent });
const down = (on: Site, crds = false): Promise<string[]> =>
  remove(manifests, { ...on, engines: handlers, clock: systemClock, progress: silent, crds });

const claim: KubeObject = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data-sample-0', namespace: 'clusterwright-samples' },
};

describe('up on a named cluster', () => {
  it('applies every manifest, in the order of the files', async () => {
    const on = site();
    await up(on);
    const { crds, operator, samples } = manifests;
    const expected = [...crds, ...operator, ...samples].map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    const applied = on.api.writes.map(({ body }) => JSON.parse(body ?? '') as KubeObject);
    expect(applied.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual(expected);
    expect(on.api.writes.every(({ query }) => query?.fieldValidation === 'Strict')).toBe(true);
  });

  it('runs the image that was given, in every container', async () => {
    const operator = withImage(manifests.operator, 'registry.example/clusterwright:9', 'abc');
    const text = JSON.stringify(operator);
    expect(text.match(/"image":"[^"]*"/g)).toEqual(['"image":"registry.example/clusterwright:9"']);
    expect(text).toContain('"clusterwright.dev/bundle":"abc"');
    expect(withImage(manifests.operator, 'clusterwright:0.1.0')).toEqual(manifests.operator);
  });

  it('is at its end only when the controller has seen this very spec', async () => {
    let looks = 0;
    const on = site();
    const client: KubeClient = {
      ...on.client,
      async get(ref, options) {
        const object = await on.client.get(ref, options);
        if (object.kind !== 'RedisCluster' || ++looks > 2) return object;
        return { ...object, metadata: { ...object.metadata, generation: 2 } };
      },
    };
    await up({ ...on, client });
    expect(looks).toBe(3);
  });

  it('tells how to connect', async () => {
    const text = summaryText(await up(site()), { engines: handlers, command: 'npx clusterwright', context: 'dev' });
    expect(text).toBe(`Running:
  operator   clusterwright-system/clusterwright
  sample     RedisCluster clusterwright-samples/sample: Ready, primary sample-0, version 8.0.2
  sample     EtcdCluster clusterwright-samples/sample-etcd: Ready, primary sample-etcd-0-0, version 3.6.1
  sample     PostgresCluster clusterwright-samples/sample-postgres: Ready, primary sample-postgres-0-0, version 17.12

To look at it:
  npx clusterwright status --context dev --all-namespaces
  kubectl --context dev get clusterwright --all-namespaces

To connect to RedisCluster sample:
  primary    sample-primary.clusterwright-samples.svc:6379
  password   kubectl --context dev -n clusterwright-samples get secret sample-auth -o jsonpath='{.data.password}' | base64 -d
  try it     kubectl --context dev -n clusterwright-samples exec -it sample-0 -- sh -c 'REDISCLI_AUTH="$(cat /etc/clusterwright/auth/password)" exec redis-cli -h sample-primary'

To connect to EtcdCluster sample-etcd:
  client     sample-etcd-client.clusterwright-samples.svc:2379
  try it     kubectl --context dev -n clusterwright-samples exec -it sample-etcd-0-0 -- etcdctl --endpoints=sample-etcd-client:2379 endpoint status --cluster -w table

To connect to PostgresCluster sample-postgres:
  primary    sample-postgres-primary.clusterwright-samples.svc:5432
  password   kubectl --context dev -n clusterwright-samples get secret sample-postgres-app -o jsonpath='{.data.password}' | base64 -d
  try it     kubectl --context dev -n clusterwright-samples exec -it sample-postgres-0-0 -- psql -U postgres -d app
`);
  });

  it('says which kind the cluster lacks', async () => {
    const strange = { apiVersion: 'example.dev/v1', kind: 'Thing', metadata: { name: 'a' } };
    const what = { ...manifests, operator: [strange] };
    await expect(up(site(), what)).rejects.toThrow('the cluster does not know the kind Thing of example.dev/v1');
  });
});

describe('images of the sandbox', () => {
  it('are those that the pods of the samples name', () => {
    expect(imagesOf(handlers, manifests.samples)).toEqual([
      'docker.io/library/redis:8.0',
      `gcr.io/etcd-development/etcd:${etcdVersions.current}`,
      'clusterwright-postgres:17',
    ]);
    expect(recipeName('docker.io/library/redis:8.0', images)).toBe('redis:8.0');
    expect(recipeName('redis:8.0', images)).toBe('redis:8.0');
    expect(recipeName('clusterwright-postgres:17', images)).toBe('postgres:17');
    expect(recipeName(`gcr.io/etcd-development/etcd:${etcdVersions.current}`, images)).toBe('etcd:3.6');
  });
});

describe('down on a named cluster', () => {
  it('deletes what up applied and keeps the CRDs', async () => {
    const on = site();
    await up(on);
    const kept = await down(on);
    expect(on.api.names).toEqual([
      'CustomResourceDefinition /backups.clusterwright.dev',
      'CustomResourceDefinition /backupschedules.clusterwright.dev',
      'CustomResourceDefinition /etcdclusters.clusterwright.dev',
      'CustomResourceDefinition /postgresclusters.clusterwright.dev',
      'CustomResourceDefinition /postgresdatabases.clusterwright.dev',
      'CustomResourceDefinition /postgresusers.clusterwright.dev',
      'CustomResourceDefinition /redisclusters.clusterwright.dev',
    ]);
    expect(kept).toEqual(['the CRDs (--crds deletes them, once no cluster is left)']);
  });

  it('deletes the samples while the operator is still there to finish them', async () => {
    const on = site();
    await up(on);
    await down(on);
    const deleted = on.api.writes.filter(({ method }) => method === 'DELETE').map(({ path }) => path);
    const samples = ['/redisclusters/sample', '/etcdclusters/sample-etcd', '/postgresclusters/sample-postgres'];
    const sample = Math.max(...samples.map((end) => deleted.findIndex((path) => path.endsWith(end))));
    expect(sample).toBe(2);
    const deployment = deleted.findIndex((path) => path.endsWith('/deployments/clusterwright'));
    const rights = deleted.findIndex((path) => path.endsWith('/clusterrolebindings/clusterwright'));
    expect(deployment).toBeGreaterThan(sample);
    expect(rights).toBeGreaterThan(deployment);
  });

  it('stops at a sample whose deletion a webhook denies with 404: the operator and the CRDs stay', async () => {
    const on = site();
    await up(on);
    const message = 'admission webhook "guard.example" denied the request: no such approval';
    const request: ApiServer['request'] = async (call) =>
      call.method === 'DELETE' && call.path.includes('/redisclusters/')
        ? { status: 404, headers: {}, body: JSON.stringify({ kind: 'Status', code: 404, reason: 'NotFound', message }) }
        : on.api.request(call);
    const client = createClient({
      transport: { ...on.api, request },
      clock: systemClock,
      random: () => 0.5,
      resourceOf: on.discovery.resourceOf,
    });
    const before = on.api.names.filter((name) => !name.startsWith('EtcdCluster '));
    await expect(down({ ...on, client }, true)).rejects.toThrow('no such approval');
    expect(on.api.names).toEqual(expect.arrayContaining(before));
  });

  it('waits for the pods of the operator, or its namespace would not be empty', async () => {
    const on = site();
    await up(on);
    await down(on);
    const deletion = on.api.writes.find(({ method, path }) => method === 'DELETE' && path.includes('/deployments/'));
    expect(deletion?.body).toContain('"propagationPolicy":"Foreground"');
  });

  it('deletes no data: volumes, Secrets and their namespace stay', async () => {
    const on = site({ objects: [claim] });
    await up(on);
    const kept = await down(on, true);
    expect(on.api.names).toEqual([
      'Namespace /clusterwright-samples',
      'PersistentVolumeClaim clusterwright-samples/data-sample-0',
    ]);
    expect(kept).toEqual(['namespace clusterwright-samples, as it holds volumes']);
  });

  it('keeps the CRDs, and everything else, while there are clusters that it did not make', async () => {
    const on = site();
    await up(on);
    const sample = manifests.samples.find(({ kind }) => kind === 'RedisCluster');
    if (sample === undefined) throw new Error('there is a sample');
    await on.client.apply({ ...sample, metadata: { name: 'orders', namespace: 'shop' } });
    const before = on.api.names;
    await expect(down(on, true)).rejects.toThrow(
      '--crds would delete clusters that are not ours: RedisCluster shop/orders; nothing was deleted',
    );
    expect(on.api.names).toEqual(before);
  });

  it('has nothing to do where nothing is', async () => {
    const on = site({ crds: false });
    await down(on);
    expect(on.api.writes).toEqual([]);
  });
});
