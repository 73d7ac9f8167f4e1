/**
 * Removes the sandbox and everything it left on the machine: processes, mounts, network namespaces, cables, bridge,
 * iptables rules and chains, cgroups, kernel settings, files. It works as well on a sandbox that is half there.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { killCgroup, removeCgroup } from './cgroup.ts';
import { linkTarget, listIfThere } from './file.ts';
import { cgroupName, type Layout, maxNodes, nodeLayouts } from './layout.ts';
import { unmountUnder } from './mount.ts';
import { removeAllRules } from './netfilter.ts';
import { bridgeExists, removeBridge } from './network.ts';
import { endNetworkPolicies } from './network-policies.ts';
import { kill, processRecords } from './process.ts';
import { removeShimSockets } from './shim.ts';
import { readState, type State } from './state.ts';
import { restoreSysctls } from './sysctl.ts';

/** Removes all of it; the order is that of dependence. Nothing to remove is no error. */
export async function removeAll(layout: Layout): Promise<void> {
  const state = await readState(layout);
  const bridged = await bridgeExists();
  const records = await processRecords(layout);
  await endNetworkPolicies(records);
  await kill(layout, records);
  await killCgroup(cgroupName);
  await removeShimSockets(nodeLayouts(layout, maxNodes));
  await unmountUnder([layout.run, layout.data]);
  await Promise.all([
    removeBridge(),
    bridged ? removeAllRules() : undefined,
    removeCgroup(cgroupName),
    rm(layout.data, { recursive: true, force: true }),
  ]);
  await removeForeign(layout, state);
  if (state !== undefined && state !== 'unreadable') await restoreSysctls(state.sysctls);
  await rm(layout.run, { recursive: true, force: true });
}

/**
 * Directories of the machine's in which containerd and kubelets write whatever their configuration says. The state tells
 * which of them were there before.
 */
export const foreignDirectories = [
  '/var/lib/kubelet',
  '/var/lib/cni',
  '/var/log/containers',
  '/run/containerd',
] as const;

async function removeForeign(layout: Layout, state: State | 'unreadable' | undefined): Promise<void> {
  const log = '/var/log/containers';
  for (const name of await listIfThere(log)) {
    // Kubelets link every log into one directory.
    const link = join(log, name);
    if ((await linkTarget(link))?.startsWith(`${layout.data}/`)) await rm(link, { force: true });
  }
  if (state === undefined || state === 'unreadable') return;
  for (const directory of state.foreign) await rm(directory, { recursive: true, force: true });
}
