/** containerd's shims: the parents of every container. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { listIfThere, readIfThere } from './file.ts';
import type { NodeLayout } from './layout.ts';

/** Where containerd keeps a container's bundle: its address file, its pid. */
export function bundleDirectory(node: NodeLayout, container = ''): string {
  return join(node.state, 'io.containerd.runtime.v2.task', 'k8s.io', container);
}

/** Shims listen in a directory of the machine's, whatever containerd's configuration says. */
export async function removeShimSockets(nodes: readonly NodeLayout[]): Promise<void> {
  for (const node of nodes) {
    for (const id of await listIfThere(bundleDirectory(node))) {
      const address = await readIfThere(join(bundleDirectory(node, id), 'address'));
      if (address?.startsWith('unix://')) await rm(address.slice('unix://'.length), { force: true });
    }
  }
}
