/**
 * The sandbox's cgroups, in version 1 (one hierarchy a controller) and version 2.
 *
 * Whatever runs is in one: the control plane in `control`, of each node the kubelet, containerd and its shims in
 * `system` and the pods in `kubepods`. So a node, or all of it, can be killed whole, and nothing else is ever touched.
 * Each kubelet has its own root, or it would clean up its neighbours' pods.
 */
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf } from './error.ts';
import { isThere, readIfThere } from './file.ts';
import { signal } from './signal.ts';
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
    if (await isThere(join(mount, name, 'tasks'))) controllers.push(name);
  }
  return { version: 1, controllers };
}

/**
 * Creates a cgroup that may hold processes, in every hierarchy.
 *
 * @param path relative to the root of the hierarchies, without leading slash
 * @returns the files through which a process enters it
 */
export async function createCgroup(path: string): Promise<readonly string[]> {
  const found = await hierarchies();
  if (found.version === 2) {
    const enable = found.controllers.map((name) => `+${name}`).join(' ');
    for (const parent of ['', ...ancestors(path)]) {
      await mkdir(join(mount, parent), { recursive: true });
      await writeFile(join(mount, parent, 'cgroup.subtree_control'), enable);
    }
    await mkdir(join(mount, path), { recursive: true });
    return [join(mount, path, 'cgroup.procs')];
  }
  for (const controller of found.controllers) {
    const root = join(mount, controller);
    await mkdir(join(root, path), { recursive: true });
    if (await isThere(join(root, 'cpuset.cpus'))) {
      for (const part of [...ancestors(path), path]) await inheritCpus(join(root, part));
    }
  }
  return found.controllers.map((controller) => join(mount, controller, path, 'cgroup.procs'));
}

/** `a/b` of `a/b/c`, `a` before it. */
function ancestors(path: string): readonly string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
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
  // Beside version 1 there may be an empty version 2 hierarchy, in which the runtime makes directories all the same.
  const roots = found.version === 2 ? [mount] : (await readdir(mount)).map((name) => join(mount, name));
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
    if (code === 'ENOENT' || code === 'ENOTDIR') return true;
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
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return [];
    throw error;
  }
}
