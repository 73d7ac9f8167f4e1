/**
 * Loses a node as a machine is lost that loses its power, and brings it back as after a reboot.
 *
 * A dead machine is silent: packets from and to its pods are dropped before anything is killed, so that no peer ever
 * sees a connection closed. What a reboot clears is cleared before the node is heard again.
 */
import { rm } from 'node:fs/promises';
import { type ApiClient, apiClient } from '../apiserver.ts';
import { killCgroup, removeCgroup } from '../cgroup.ts';
import { SandboxError } from '../error.ts';
import { type Layout, layoutOf, type NodeLayout, nodeLayouts } from '../layout.ts';
import { exclusively } from '../lock.ts';
import { unmountUnder } from '../mount.ts';
import { addRules, type Chain, type Rule, removeRules, tagPrefix } from '../netfilter.ts';
import { containerdName, kubeletName, startContainerd, startKubelet } from '../node.ts';
import { kill, processRecords } from '../process.ts';
import { silent } from '../progress.ts';
import { removeShimSockets } from '../shim.ts';
import { requireRunning, type State, writeState } from '../state.ts';
import { nodeReady } from '../up.ts';
import { waitFor } from '../wait.ts';

export function nodeTag(node: NodeLayout): string {
  return `${tagPrefix}node:${node.name}`;
}

/** Nothing comes from the node's pods or its kubelet, and nothing reaches them. */
export function silenceRules(node: NodeLayout): readonly Rule[] {
  const rule = (chain: Chain, direction: '-s' | '-d', range: string): Rule => ({
    chain,
    match: `${direction} ${range} -j DROP`,
    tag: nodeTag(node),
    place: 'first',
  });
  return [
    rule('FORWARD', '-s', node.podRange),
    rule('FORWARD', '-d', node.podRange),
    rule('INPUT', '-s', node.podRange),
    rule('OUTPUT', '-d', node.podRange),
    rule('OUTPUT', '-d', node.address),
  ];
}

/** Stops a node at once: its kubelet, containerd and every process of its pods. Its disk stays. */
export async function stopNode(name: string, layout: Layout = layoutOf(process.env)): Promise<void> {
  await exclusively(layout, silent, async () => {
    const { state, node } = await nodeOf(layout, name);
    if (state.stopped.includes(name)) throw new SandboxError(`${name} is stopped already`);
    await addRules(silenceRules(node));
    await killCgroup(node.cgroup);
    const own = [containerdName(node), kubeletName(node)];
    await kill(
      layout,
      (await processRecords(layout)).filter((record) => own.includes(record.name)),
    );
    await writeState(layout, { ...state, stopped: [...state.stopped, name] });
  });
}

/** Starts a stopped node; resolves when it is Ready again. Its pods' containers start anew, as after a reboot. */
export async function startNode(name: string, layout: Layout = layoutOf(process.env)): Promise<void> {
  await exclusively(layout, silent, async () => {
    const { state, node } = await nodeOf(layout, name);
    if (!state.stopped.includes(name)) throw new SandboxError(`${name} is not stopped`);
    const api = await apiClient(layout, state.nodes);
    try {
      const before = await leaseTime(api, node);
      await removeShimSockets([node]);
      await unmountUnder([node.run, node.data]);
      await Promise.all([rm(node.state, { recursive: true, force: true }), removeCgroup(node.cgroup)]);
      await startContainerd(layout, node);
      await removeRules((tag) => tag === nodeTag(node));
      await startKubelet(layout, node);
      const back = async (): Promise<true | undefined> => {
        const renewed = (await leaseTime(api, node)) !== before;
        return renewed && (await nodeReady(api, name)) ? true : undefined;
      };
      await waitFor(`${name} to be Ready again`, back);
    } finally {
      api.close();
    }
    await writeState(layout, { ...state, stopped: state.stopped.filter((each) => each !== name) });
  });
}

async function nodeOf(layout: Layout, name: string): Promise<{ readonly state: State; readonly node: NodeLayout }> {
  const state = await requireRunning(layout);
  const nodes = nodeLayouts(layout, state.nodes);
  const node = nodes.find((each) => each.name === name);
  if (node !== undefined) return { state, node };
  const names = nodes.map((each) => each.name).join(', ');
  throw new SandboxError(`the sandbox has no node ${name}; it has: ${names || 'none at all'}`);
}

/** When the node's kubelet last renewed its lease: until the new one does, Ready may be what the old one said. */
async function leaseTime(api: ApiClient, node: NodeLayout): Promise<string | undefined> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${node.name}`;
  const lease = await api.get<{ readonly spec: { readonly renewTime?: string } }>(path);
  return lease?.spec.renewTime;
}
