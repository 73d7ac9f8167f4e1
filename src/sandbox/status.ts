/** What runs, in words for people. */
import { apiClient } from './apiserver.ts';
import { listCuts } from './faults/cut.ts';
import { type Layout, layoutOf, nodeLayouts, paths, versions } from './layout.ts';
import { areEnforced } from './network-policies.ts';
import { isAlive, processRecords } from './process.ts';
import { readState } from './state.ts';
import { nodeReady } from './up.ts';

/** One line a thing; ends with a newline. */
export async function sandboxStatus(layout: Layout = layoutOf(process.env)): Promise<string> {
  const state = await readState(layout);
  if (state === undefined) return 'no sandbox is up\n';
  if (state === 'unreadable' || state.phase === 'starting') return 'the sandbox is half-started\n';
  const lines = [`Kubernetes ${versions.kubernetes}, kubeconfig ${paths(layout).kubeconfig}`];
  const api = await apiClient(layout, state.nodes);
  try {
    const answers = await api.answers('/readyz');
    lines.push(`API server ${answers ? 'ready' : 'does not answer'}`);
    for (const { name, address } of answers ? nodeLayouts(layout, state.nodes) : []) {
      const stopped = state.stopped.includes(name);
      lines.push(
        `${name} ${address} ${stopped ? 'stopped by a fault' : (await nodeReady(api, name)) ? 'Ready' : 'not Ready'}`,
      );
    }
  } finally {
    api.close();
  }
  for (const record of await processRecords(layout)) {
    if (!(await isAlive(record))) lines.push(`${record.name} is not running`);
  }
  if (state.nodes > 0 && !(await areEnforced()))
    lines.push('NetworkPolicies have no effect: the kernel has no NFQUEUE');
  for (const [one, other] of state.nodes === 0 ? [] : await listCuts()) lines.push(`${one} is cut off from ${other}`);
  return `${lines.join('\n')}\n`;
}
