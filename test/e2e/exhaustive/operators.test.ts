/**
 * Two operators for one namespace on a real Kubernetes, each with the permissions of its own release of the chart: a database is handed from
 * one to the other, and then gets its images from another registry.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { apiVersionOf } from '../../../src/api/object.ts';
import { layoutOf, type NodeLayout, nodeLayouts } from '../../../src/sandbox/layout.ts';
import { hasHelm } from '../../support/helm.ts';
import { type HelmRelease, helmRelease } from '../../support/helm-release.ts';
import { connectKubernetes } from '../../support/kubernetes.ts';
import { removeNamespace, restricted } from '../../support/namespace.ts';
import { type TestCluster, testCluster } from '../../support/redis-cluster.ts';
import { redisClusters } from '../../support/resources.ts';
import { underWriters } from '../../support/scenario.ts';
import { until } from '../../support/until.ts';

const run = promisify(execFile);
const databases = 'e2e-operators';
const blue = 'e2e-operators-blue';
const green = 'e2e-operators-green';
const size = { data: 3, sentinels: 3 };
const registry = 'registry.test/mirror';
const nodes = nodeLayouts(layoutOf(process.env), 3);

const images = (node: NodeLayout, ...args: readonly string[]): Promise<unknown> =>
  run('ctr', ['-a', node.socket, '-n', 'k8s.io', 'images', ...args]);

describe.skipIf(!hasHelm)('two operators', () => {
  const releases = new Map<string, HelmRelease>();
  let kubernetes: Awaited<ReturnType<typeof connectKubernetes>>;
  let cluster: TestCluster;

  beforeAll(async () => {
    kubernetes = await connectKubernetes(inject('kubeconfig'));
    const { client } = kubernetes;
    for (const name of [databases, blue, green]) {
      await removeNamespace(client, name);
      await until(`the namespace ${name} made`, () => client.create(restricted(name)));
    }
    for (const home of [blue, green]) {
      const release = helmRelease('operator', home, inject('kubeconfig'));
      releases.set(home, release);
      await release.apply('install', values(home));
    }
    cluster = testCluster(client, databases, 'cache');
  });
  afterAll(async () => {
    for (const node of nodes) await images(node, 'rm', `${registry}/library/redis:8.0`);
    for (const release of releases.values()) await release.close();
    for (const name of [databases, blue, green]) await removeNamespace(kubernetes.client, name);
    await kubernetes.close();
  });

  const values = (home: string, more: object = {}): object => ({
    watch: { namespaces: [databases] },
    resourceSelector: `tier=${home}`,
    ...more,
  });

  async function merge(patch: object): Promise<void> {
    await kubernetes.client.mergePatch({ resource: redisClusters, namespace: databases, name: 'cache' }, patch);
  }

  /** The pods with the restarts of their containers. */
  async function lives(): Promise<unknown> {
    const { data, sentinels } = await cluster.pods();
    return [...data, ...sentinels].map(({ metadata, status }) => [
      metadata.uid,
      status?.containerStatuses?.map(({ restartCount }) => restartCount),
    ]);
  }

  /** A change that an operator makes on the running servers. */
  async function served(entries: string): Promise<void> {
    await cluster.change({ config: { 'slowlog-max-len': Number(entries) } });
    await until('the change on every node', async () => {
      for (const pod of (await cluster.pods()).data) {
        expect(await cluster.ask(pod, 'CONFIG', 'GET', 'slowlog-max-len')).toEqual(['slowlog-max-len', entries]);
      }
    });
  }

  /** What each pod of the database runs, and whether it is ready. */
  async function running(): Promise<readonly string[]> {
    const { data, sentinels } = await cluster.pods();
    return [...data, ...sentinels].map(({ spec, status }) => {
      const isReady = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True');
      return `${spec?.containers?.[0]?.image} ${isReady === true ? 'ready' : 'not ready'}`;
    });
  }

  test('one of them serves a database with its label', async () => {
    await kubernetes.client.create({
      apiVersion: apiVersionOf(redisClusters),
      kind: redisClusters.kind,
      metadata: { name: 'cache', namespace: databases, labels: { tier: blue } },
      spec: {},
    });
    await cluster.whole(size, { withinMs: 180_000 });
  });

  test('it is handed over as the guide says: nothing restarts, nothing is lost', async () => {
    const before = await lives();
    await underWriters('handed to another operator', kubernetes.client, cluster, async () => {
      await merge({ spec: { paused: true } });
      await until('paused', async () => expect((await cluster.object()).status).toMatchObject({ phase: 'Paused' }));
      await merge({ metadata: { labels: { tier: green } } });
      await merge({ spec: { paused: false } });
      await served('7');
    });
    await cluster.whole(size);
    expect(await lives()).toEqual(before);
  });

  test('the one that has it no longer may go', async () => {
    await releases.get(blue)?.close();
    releases.delete(blue);
    await served('8');
  });

  test('another registry rolls its images out one pod at a time, and stops at the first that has no image', async () => {
    const image = 'docker.io/library/redis:8.0';
    const mirrored = `${registry}/library/redis:8.0`;
    expect(await running()).toEqual(Array(6).fill(`${image} ready`));
    await underWriters('images of another registry', kubernetes.client, cluster, async () => {
      await releases.get(green)?.apply('upgrade', values(green, { imageRegistry: registry }));
      await until('one pod without its image', async () =>
        expect((await running()).filter((pod) => pod === `${mirrored} not ready`)).toHaveLength(1),
      );
      // Long enough for the operator to look again, and to restart another pod if it would.
      await until('the status that says so', async () =>
        expect(JSON.stringify((await cluster.object()).status)).toContain(`has no image: ${mirrored}`),
      );
      expect((await running()).filter((pod) => pod === `${image} ready`)).toHaveLength(5);
      for (const node of nodes) await images(node, 'tag', image, mirrored);
      await until(
        'all pods with the image',
        async () => expect(await running()).toEqual(Array(6).fill(`${mirrored} ready`)),
        {
          withinMs: 300_000,
        },
      );
      await cluster.whole(size);
    });
  });
});
