/**
 * Removes the sandbox and everything it left on the machine: processes, mounts, network namespaces, cables, bridge,
 * iptables rules and chains, cgroups, kernel settings, files. It works as well on a sandbox that is half there.
 */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { killCgroup, removeCgroup } from './cgroup.ts';
import { attempt } from './command.ts';
import { linkTarget, listIfThere, readIfThere } from './file.ts';
import { cgroupName, type Layout, maxNodes, type NodeLayout, nodeLayouts } from './layout.ts';
import { removeAllRules } from './netfilter.ts';
import { bridgeExists, removeBridge } from './network.ts';
import { kill, processRecords } from './process.ts';
import { readState } from './state.ts';
import { restoreSysctls } from './sysctl.ts';

/** Removes all of it; the order is that of dependence. Nothing to remove is no error. */
export async function removeAll(layout: Layout): Promise<void> {
  const state = await readState(layout);
  const bridged = await bridgeExists();
  await kill(layout, await processRecords(layout));
  await killCgroup(cgroupName);
  await removeShimSockets(nodeLayouts(layout, maxNodes));
  await unmountUnder([layout.run, layout.data]);
  await Promise.all([
    removeBridge(),
    bridged ? removeAllRules() : undefined,
    removeCgroup(cgroupName),
    removeLogLinks(layout),
    rm(layout.data, { recursive: true, force: true }),
  ]);
  if (state !== undefined && state !== 'unreadable') await restoreSysctls(state.sysctls);
  await rm(layout.run, { recursive: true, force: true });
}

/** Unmounts everything below the directories, the innermost first. */
export async function unmountUnder(directories: readonly string[]): Promise<void> {
  const mounts = mountsUnder(await readFile('/proc/self/mountinfo', 'utf8'), directories);
  // Mounts may go by themselves meanwhile; what counts is what is left.
  if (mounts.length > 0) await attempt('umount', ['--lazy', ...mounts]);
  const left = mountsUnder(await readFile('/proc/self/mountinfo', 'utf8'), directories);
  if (left.length > 0) await attempt('umount', ['--lazy', ...left]);
}

/** The mount points below the directories in the text of `mountinfo`, the last mounted first. */
export function mountsUnder(mountinfo: string, directories: readonly string[]): readonly string[] {
  const points = mountinfo.split('\n').flatMap((line) => line.split(' ')[4] ?? []);
  const unescaped = points.map((point) =>
    point.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8))),
  );
  return unescaped.filter((point) => directories.some((directory) => point.startsWith(`${directory}/`))).toReversed();
}

/** containerd's shims listen in a directory of the machine's, whatever its configuration says. */
export async function removeShimSockets(nodes: readonly NodeLayout[]): Promise<void> {
  for (const node of nodes) {
    const bundles = join(node.state, 'io.containerd.runtime.v2.task', 'k8s.io');
    for (const id of await listIfThere(bundles)) {
      const address = await readIfThere(join(bundles, id, 'address'));
      if (address?.startsWith('unix://')) await rm(address.slice('unix://'.length), { force: true });
    }
  }
}

/** The kubelet links every log into a directory of the machine's. */
async function removeLogLinks(layout: Layout): Promise<void> {
  const directory = '/var/log/containers';
  for (const name of await listIfThere(directory)) {
    const link = join(directory, name);
    const target = await linkTarget(link);
    if (target?.startsWith(`${layout.data}/`)) await rm(link, { force: true });
  }
}
