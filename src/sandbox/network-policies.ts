/**
 * NetworkPolicies, enforced by kube-network-policies of the network group of Kubernetes: netfilter passes it the first packet of each
 * connection between pods, and it decides. A connection that is open stays open whatever policies say later.
 *
 * As released it runs on each node, and makes the rules that pass it packets. Here the nodes share one network, and one process serves all
 * pods: it takes itself for a node without pods, so it makes no rules, and these are the sandbox's.
 */

import { binaryPath } from './binaries.ts';
import { attempt } from './command.ts';
import { bridgeName, kubeconfigPath, type Layout } from './layout.ts';
import { addition, type Rule, ruleTags, tagPrefix } from './netfilter.ts';
import { type Daemon, isAlive, type ProcessRecord } from './process.ts';
import { signal } from './signal.ts';
import { waitFor } from './wait.ts';

const queue = 100;
const tag = `${tagPrefix}network-policies`;
const daemonName = 'kube-network-policies';

/**
 * For packets between pods. Those of the machine itself are not forwarded: kubelets reach every pod. While no process serves the queue,
 * packets pass. Last, since what the process accepts meets no further rule: cuts between pods come before.
 */
const queueRule: Rule = {
  chain: 'FORWARD',
  match: `-i ${bridgeName} -o ${bridgeName} -m conntrack --ctstate NEW -j NFQUEUE --queue-num ${queue} --queue-bypass`,
  tag,
  place: 'last',
};

/** Call before the rules that accept packets between pods are added. Without effect where the kernel has no such queues. */
export async function queuePackets(): Promise<void> {
  await attempt('iptables-restore', ['--wait', '--noflush'], { input: addition([queueRule]) });
}

export async function areEnforced(): Promise<boolean> {
  return (await ruleTags()).includes(tag);
}

export function networkPolicies(layout: Layout): Daemon {
  return {
    name: daemonName,
    command: binaryPath(layout, 'kube-network-policies'),
    args: [`--kubeconfig=${kubeconfigPath(layout, 'network-policies')}`, `--queue=${queue}`],
  };
}

/** On its way out it removes the table that it makes in netfilter. */
export async function endNetworkPolicies(records: readonly ProcessRecord[]): Promise<void> {
  const record = records.find(({ name }) => name === daemonName);
  if (record === undefined || !(await isAlive(record))) return;
  signal(record.pid, 'SIGTERM');
  const isGone = async (): Promise<true | undefined> => ((await isAlive(record)) ? undefined : true);
  // One that does not end in time is killed with the others.
  await waitFor(`${daemonName} to end`, isGone, { timeout: 2000, interval: 20 }).catch(() => undefined);
}
