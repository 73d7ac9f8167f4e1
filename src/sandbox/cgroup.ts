/**
 * The cgroups of the nodes, in version 1 (one hierarchy a controller) and version 2.
 *
 * Whatever runs on a node is in its cgroup: the kubelet, containerd and its shims in `system`, pods in `kubepods`.
 * So a node can be killed whole, and nothing outside it is ever touched. Each kubelet has its own root, or it
 * would clean up its neighbours' pods.
 */
import { mkdir, readdir, readFile, rmdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf } from './error.ts';
import { cgroupName, type NodeLayout } from './layout.ts';
import { signal } from './process.ts';
import { waitFor } from './wait.ts';

const mount = '/sys/fs/cgroup';

type Hierarchies =
  | { readonly version: 1; readonly controllers: readonly string[] }
  | { readonly version: 2; readonly controllers: readonly string[] };

async function hierarchies(): Promise<Hierarchies> {
  const unified = await readIfThere(join(mount, 'cgroup.controllers'));
  if (unified !== undefined) return { version: 2, controllers: unified.trim().split(' ') };
  const controllers: string[] = [];
  for (const name of await readdir(mount)) {
    // `tasks` is a file of version 1 only: a version 2 hierarchy mounted beside has none.
    if (await exists(join(mount, name, 'tasks'))) controllers.push(name);
  }
  return { version: 1, controllers };
}

/** Creates a node's cgroups; returns the files by which a process enters the node's `system` cgroup. */
export async function createNodeCgroup(node: NodeLayout): Promise<readonly string[]> {
  const found = await hierarchies();
  const system = join(node.cgroup, 'system');
  if (found.version === 2) {
    for (const parent of ['', cgroupName, node.cgroup]) {
      await mkdir(join(mount, parent), { recursive: true });
      const enable = found.controllers.map((name) => `+${name}`).join(' ');
      await writeFile(join(mount, parent, 'cgroup.subtree_control'), enable);
    }
    await mkdir(join(mount, system), { recursive: true });
    return [join(mount, system, 'cgroup.procs')];
  }
  for (const controller of found.controllers) {
    const root = join(mount, controller);
    await mkdir(join(root, system), { recursive: true });
    if (await exists(join(root, 'cpuset.cpus'))) {
      for (const path of [cgroupName, node.cgroup, system]) await inheritCpus(join(root, path));
    }
  }
  return [join(mount, 'pids', system, 'cgroup.procs')];
}

/** A cpuset of version 1 starts empty, and an empty one takes no process. */
async function inheritCpus(path: string): Promise<void> {
  for (const file of ['cpuset.cpus', 'cpuset.mems']) {
    await writeFile(join(path, file), await readFile(join(dirname(path), file), 'utf8'));
  }
}

/** Kills every process in a cgroup and below it; resolves when none is left. */
export async function killCgroup(cgroup: string): Promise<void> {
  const found = await hierarchies();
  const root = join(mount, found.version === 1 ? 'pids' : '', cgroup);
  const dead = async (): Promise<true | undefined> => {
    const pids = await pidsUnder(root);
    for (const pid of pids) signal(pid, 'SIGKILL');
    return pids.length === 0 ? true : undefined;
  };
  await waitFor(`the processes of ${cgroup} to end`, dead, { timeout: 20_000, interval: 20 });
}

async function pidsUnder(path: string): Promise<readonly number[]> {
  const directories = await descendants(path);
  const files = await Promise.all(directories.map((directory) => readIfThere(join(directory, 'cgroup.procs'))));
  return files.flatMap((file) => (file ?? '').split('\n').filter(Boolean).map(Number));
}

/** Removes a cgroup and all below it from every hierarchy. It must hold no process. */
export async function removeCgroup(cgroup: string): Promise<void> {
  const found = await hierarchies();
  const roots = found.version === 2 ? [mount] : found.controllers.map((controller) => join(mount, controller));
  const removed = async (): Promise<true | undefined> => {
    let whole = true;
    for (const root of roots) {
      for (const directory of (await descendants(join(root, cgroup))).toReversed()) {
        whole = (await removeDirectory(directory)) && whole;
      }
    }
    return whole ? true : undefined;
  };
  await waitFor(`the cgroup ${cgroup} to be empty`, removed, { timeout: 10_000, interval: 20 });
}

/** False while the kernel still counts a process in it that has just ended. */
async function removeDirectory(path: string): Promise<boolean> {
  try {
    await rmdir(path);
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return true;
    if (code === 'EBUSY') return false;
    throw error;
  }
}

/** The directory itself and all below it, parents before children; empty when it is not there. */
async function descendants(path: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    const children = entries.filter((entry) => entry.isDirectory()).map((entry) => descendants(join(path, entry.name)));
    return [path, ...(await Promise.all(children)).flat()];
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return false;
    throw error;
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    // ENODEV: the cgroup went away between the listing and the reading.
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENODEV') return undefined;
    throw error;
  }
}
