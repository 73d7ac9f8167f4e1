/**
 * Starts the sandbox.
 *
 * The control plane and the nodes' containerds start side by side; the kubelets follow as soon as the API server
 * answers. A start that fails leaves its logs where they are; the next one cleans up first.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { type ApiClient, apiAddress, apiClient } from './apiserver.ts';
import { apiserver, auditPolicy, auditPolicyPath, controllerManager, etcd, scheduler } from './controlplane.ts';
import { createDnsObjects, dns } from './dns.ts';
import { foreignDirectories } from './down.ts';
import { isThere } from './file.ts';
import { type Layout, type NodeLayout, nodeLayouts, ports } from './layout.ts';
import { createBridge, proxy } from './network.ts';
import { areEnforced, networkPolicies } from './network-policies.ts';
import { startContainerd, startKubelet } from './node.ts';
import { createPki } from './pki.ts';
import { isAlive, type ProcessRecord, processRecords, start, waitUntilReady } from './process.ts';
import type { Step } from './progress.ts';
import { writeState } from './state.ts';
import { createStorageObjects, provisioner } from './storage.ts';
import { loadBridgeFilter, readSysctls, setNeededSysctls } from './sysctl.ts';
import { waitFor } from './wait.ts';

export interface StartOptions {
  readonly nodes: number;
  readonly audit: boolean;
  readonly controllerManager: boolean;
  /** Puts the images that every node needs into a containerd that has just started. */
  readonly prepareNode: (node: NodeLayout) => Promise<void>;
}

/** Starts everything on a machine on which nothing of it runs. */
export async function startAll(layout: Layout, options: StartOptions, step: Step): Promise<void> {
  const nodes = nodeLayouts(layout, options.nodes);
  await mkdir(layout.run, { recursive: true, mode: 0o700 });
  await mkdir(layout.data, { recursive: true, mode: 0o711 });
  if (nodes.length > 0) await loadBridgeFilter();
  const state = {
    nodes: options.nodes,
    audit: options.audit,
    sysctls: await readSysctls(),
    foreign: await missingOf(foreignDirectories),
    stopped: [],
  };
  await writeState(layout, { ...state, phase: 'starting' });
  if (nodes.length > 0) {
    await setNeededSysctls();
    await createBridge(nodes);
  }
  step.report('etcd and containerd');
  const [api] = await Promise.all([startControlPlane(layout, options, step), prepareNodes(layout, nodes, options)]);
  try {
    await Promise.all([
      ...(options.controllerManager ? [serviceAccountsWork(api)] : []),
      joinNodes(layout, nodes, api),
      ...(nodes.length > 0 ? [startServices(layout, api)] : []),
    ]);
  } finally {
    api.close();
  }
  await requireAlive(layout);
  await writeState(layout, { ...state, phase: 'running' });
}

async function missingOf(directories: readonly string[]): Promise<readonly string[]> {
  const checked = directories.map(async (directory) => ((await isThere(directory)) ? [] : [directory]));
  return (await Promise.all(checked)).flat();
}

/** Not all processes were waited for one by one: none may have ended meanwhile. */
async function requireAlive(layout: Layout): Promise<void> {
  for (const record of await processRecords(layout)) await waitUntilReady(layout, record, () => isAlive(record));
}

async function prepareNodes(layout: Layout, nodes: readonly NodeLayout[], options: StartOptions): Promise<void> {
  await Promise.all(
    nodes.map(async (node) => {
      await startContainerd(layout, node);
      await options.prepareNode(node);
    }),
  );
}

async function startControlPlane(layout: Layout, options: StartOptions, step: Step): Promise<ApiClient> {
  const store = await start(layout, etcd(layout));
  await createPki(layout, apiAddress(options.nodes));
  if (options.audit) await writeFile(auditPolicyPath(layout), JSON.stringify(auditPolicy));
  const healthy = async (): Promise<boolean> =>
    (await httpStatus(`http://127.0.0.1:${ports.etcdClient}/health`)) === 200;
  await waitUntilReady(layout, store, healthy);
  step.report('API server');
  const server = await start(layout, apiserver(layout, options));
  const api = await apiClient(layout, options.nodes);
  await waitUntilReady(layout, server, () => api.answers('/readyz'));
  step.report(options.nodes === 0 ? 'controllers' : 'nodes');
  if (options.controllerManager) await start(layout, controllerManager(layout));
  if (options.nodes > 0) await start(layout, scheduler(layout));
  return api;
}

/** Starts the nodes' kubelets one after the other, and waits until all nodes are Ready. */
async function joinNodes(layout: Layout, nodes: readonly NodeLayout[], api: ApiClient): Promise<void> {
  const kubelets: { readonly node: NodeLayout; readonly record: ProcessRecord }[] = [];
  for (const node of nodes) kubelets.push({ node, record: await startKubelet(layout, node) });
  await Promise.all(
    kubelets.map(({ node, record }) => waitUntilReady(layout, record, () => nodeReady(api, node.name))),
  );
}

interface NodeObject {
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

export async function nodeReady(api: ApiClient, name: string): Promise<boolean> {
  const node = await api.get<NodeObject>(`/api/v1/nodes/${name}`);
  return node?.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
}

async function startServices(layout: Layout, api: ApiClient): Promise<void> {
  await Promise.all([createDnsObjects(api), createStorageObjects(api)]);
  await start(layout, await dns(layout));
  await start(layout, await provisioner(layout));
  if (await areEnforced()) await start(layout, networkPolicies(layout));
  // kube-proxy looks for its node once a second and no sooner: it is there when it looks first.
  await waitFor('node1 to register', async () => api.get('/api/v1/nodes/node1'));
  const record = await start(layout, await proxy(layout));
  const healthy = async (): Promise<boolean> =>
    (await httpStatus(`http://127.0.0.1:${ports.proxyHealth}/healthz`)) === 200;
  await waitUntilReady(layout, record, healthy);
}

/** A pod cannot be created in a namespace before its default service account is. */
async function serviceAccountsWork(api: ApiClient): Promise<void> {
  const path = '/api/v1/namespaces/default/serviceaccounts/default';
  await waitFor('the default service account', async () => api.get(path));
}

async function httpStatus(url: string): Promise<number> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(5000) });
    await answer.body?.cancel();
    return answer.status;
  } catch {
    // Not listening yet; the caller asks again and sees to it that the process is alive.
    return 0;
  }
}
