/** The API server as the bench uses it: the controller's own client, with more connections and a name of its own. */
import type { KubeObject, Resource } from '../../src/api/object.ts';
import { resourceOf } from '../../src/api/resource.ts';
import { createClient, type KubeClient } from '../../src/runtime/client.ts';
import { loadKubeconfig } from '../../src/runtime/kubeconfig.ts';
import { createTransport } from '../../src/runtime/undici-transport.ts';
import { systemClock } from '../../src/system/clock.ts';
import { customResourceDefinitions, namespaces } from '../support/resources.ts';

export interface Connection {
  readonly client: KubeClient;
  close(): Promise<void>;
}

const serviceAccounts: Resource = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  namespaced: true,
};

export async function connect(kubeconfig: string, ...custom: readonly Resource[]): Promise<Connection> {
  const clock = systemClock;
  const { credentials } = await loadKubeconfig({ env: process.env, clock, path: kubeconfig });
  const transport = createTransport({ credentials, userAgent: 'clusterwright-bench', clock, connections: 32 });
  const others = [...custom, namespaces, customResourceDefinitions, serviceAccounts];
  const client = createClient({
    transport,
    clock,
    random: Math.random,
    resourceOf: (object: KubeObject) => others.find(({ kind }) => kind === object.kind) ?? resourceOf(object),
  });
  return { client, close: () => transport.close() };
}

/** A namespace in which pods may be made without a controller manager. */
export async function createNamespace(client: KubeClient, name: string): Promise<void> {
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } } as KubeObject);
  await client.apply(
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: name } },
    {
      force: true,
    },
  );
}

/** The resource of a custom kind, as the server's discovery names it. */
export async function discover(client: KubeClient, apiVersion: string, kind: string): Promise<Resource> {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  const list = JSON.parse(await client.getText(group === '' ? `/api/${version}` : `/apis/${apiVersion}`)) as {
    readonly resources: readonly { readonly name: string; readonly kind: string; readonly namespaced: boolean }[];
  };
  const found = list.resources.find((resource) => resource.kind === kind && !resource.name.includes('/'));
  if (found === undefined) throw new Error(`the API server knows no ${kind} in ${apiVersion}`);
  return { group, version, kind, plural: found.name, namespaced: found.namespaced };
}
