/** Kills, or stops, the main process of a container: what runs in the pod is gone, the pod stays. */
import { constants } from 'node:os';
import { join } from 'node:path';
import { apiClient } from '../apiserver.ts';
import { SandboxError } from '../error.ts';
import { readIfThere } from '../file.ts';
import { type Layout, layoutOf, nodeLayouts } from '../layout.ts';
import { bundleDirectory } from '../shim.ts';
import { signal } from '../signal.ts';
import { requireRunning } from '../state.ts';
import { type FoundContainer, type FoundPod, findPod, type PodRef, podName } from './pod.ts';

export interface KillOptions {
  /** Needed where the pod has several. */
  readonly container?: string;
  /** Default `SIGKILL`. `SIGSTOP` makes a process that hangs, `SIGCONT` wakes it. */
  readonly signal?: NodeJS.Signals;
}

/**
 * Sends a signal to the main process of a pod's container, from outside the pod.
 *
 * @returns the pid, as this machine counts
 */
export async function killProcess(
  pod: PodRef,
  options: KillOptions = {},
  layout: Layout = layoutOf(process.env),
): Promise<{ readonly pid: number }> {
  const state = await requireRunning(layout);
  const api = await apiClient(layout, state.nodes);
  try {
    const found = await findPod(api, pod);
    const { id, name } = chooseContainer(found, options.container);
    const node = nodeLayouts(layout, state.nodes).find((each) => each.name === found.node);
    const file = node === undefined || id === '' ? undefined : join(bundleDirectory(node, id), 'init.pid');
    const pid = Number.parseInt((file && (await readIfThere(file))) ?? '', 10);
    if (Number.isNaN(pid) || !signal(pid, options.signal ?? 'SIGKILL')) {
      throw new SandboxError(`the container ${name} of ${podName(pod)} is not running`);
    }
    return { pid };
  } finally {
    api.close();
  }
}

/** A signal by its name, with or without `SIG`. */
export function signalOf(name: string): NodeJS.Signals {
  const full = name.startsWith('SIG') ? name : `SIG${name}`;
  const known = (Object.keys(constants.signals) as NodeJS.Signals[]).find((each) => each === full);
  if (known === undefined) throw new SandboxError(`there is no signal ${name}`);
  return known;
}

export function chooseContainer(pod: FoundPod, name: string | undefined): FoundContainer {
  const names = pod.containers.map((container) => container.name).join(', ');
  const [first, second] = name === undefined ? pod.containers : pod.containers.filter((each) => each.name === name);
  if (first === undefined) throw new SandboxError(`${podName(pod.ref)} has no container ${name}; it has: ${names}`);
  if (second !== undefined) throw new SandboxError(`${podName(pod.ref)} has several containers, name one: ${names}`);
  return first;
}
