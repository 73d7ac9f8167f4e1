/**
 * The sandbox as commands and tests use it: a real Kubernetes on this machine, brought up, looked at and taken down.
 *
 * Every function takes the layout of the environment unless it is given another.
 */
import { delimiter } from 'node:path';
import type { ImageRecipe } from '../engine/image-recipe.ts';
import { apiClient } from './apiserver.ts';
import { kubectlDirectory, missingPrograms, neededPrograms } from './binaries.ts';
import { compileMissing } from './compile.ts';
import { removeAll } from './down.ts';
import { SandboxError } from './error.ts';
import { isThere } from './file.ts';
import {
  buildBaseArchive,
  buildRecipe,
  type ImageListing,
  listImages as listCached,
  recipeOf,
} from './images/build.ts';
import { type LoadOutcome, loadArchive } from './images/load.ts';
import { type Layout, layoutOf, maxNodes, nodeLayouts, paths, versions } from './layout.ts';
import { exclusively } from './lock.ts';
import { checkMachine } from './machine.ts';
import { checkAddresses } from './network.ts';
import { installMissing, packages } from './packages.ts';
import { checkPorts, neededPorts } from './ports.ts';
import { isAlive, processRecords } from './process.ts';
import type { Progress } from './progress.ts';
import { readState, requireRunning, type State } from './state.ts';
import { nodeReady, startAll } from './up.ts';
import { waitFor } from './wait.ts';

/** Milliseconds: longer than a kubelet lets pass between two reports of its node. */
const patience = 20_000;

export interface UpOptions {
  /** 0 (API server, etcd and controllers only) to 9; default 3. */
  readonly nodes?: number;
  /** Write an audit log of every request; default false. */
  readonly audit?: boolean;
  /**
   * Default true. Without it nothing follows from an object that is created: no pods, no endpoints, no collection. Only
   * for a control plane without nodes on which requests are measured.
   */
  readonly controllerManager?: boolean;
}

/**
 * Starts a sandbox, or keeps the one that runs and is well.
 *
 * @returns `kept` when there was nothing to do
 * @throws SandboxError when a sandbox of another shape runs, or the machine will not do
 */
export async function up(
  options: UpOptions,
  progress: Progress,
  layout: Layout = layoutOf(process.env),
): Promise<'kept' | 'started'> {
  const { nodes = 3, audit = false, controllerManager = true } = options;
  if (!Number.isInteger(nodes) || nodes < 0 || nodes > maxNodes) {
    throw new SandboxError(`a sandbox has 0 to ${maxNodes} nodes, not ${nodes}`);
  }
  if (nodes > 0 && !controllerManager) throw new SandboxError('nodes need the controller manager');
  await checkMachine();
  return await exclusively(layout, progress, async () => {
    const state = await readState(layout);
    if (state !== undefined) {
      const trouble = await troubleOf(layout, state);
      if (trouble === undefined && state !== 'unreadable') {
        keepable(state, nodes, audit);
        progress.note(`The sandbox is up already, with ${describeNodes(nodes)}`);
        for (const name of state.stopped)
          progress.note(`${name} is stopped by a fault; sandbox fault start-node ${name}`);
        return 'kept';
      }
      await progress.step(`Cleaning up a sandbox that is not whole: ${trouble}`, () => removeAll(layout));
    } else if (await isThere(layout.run)) {
      await progress.step('Cleaning up what is left of a sandbox', () => removeAll(layout));
    }
    checkAddresses();
    await checkPorts(neededPorts(layout, nodes));
    await installMissing([...packages.keys, ...(nodes === 0 ? [] : packages.nodes)], progress);
    await compileMissing(layout, await missingPrograms(layout, neededPrograms(nodes)), progress);
    const base = nodes === 0 ? '' : await buildBaseArchive(layout);
    await progress.step(`Starting Kubernetes ${versions.kubernetes} with ${describeNodes(nodes)}`, (step) =>
      startAll(
        layout,
        { nodes, audit, controllerManager, prepareNode: async (node) => void (await loadArchive(node, base)) },
        step,
      ),
    );
    return 'started';
  });
}

function keepable(state: State, nodes: number, audit: boolean): void {
  if (state.nodes !== nodes) {
    throw new SandboxError(
      `a sandbox with ${describeNodes(state.nodes)} is up, not with ${describeNodes(nodes)}; take it down first: clusterwright sandbox down`,
    );
  }
  if (audit && !state.audit) {
    throw new SandboxError(
      'the sandbox that is up writes no audit log; take it down first: clusterwright sandbox down',
    );
  }
}

function describeNodes(count: number): string {
  if (count === 0) return 'a control plane only';
  return count === 1 ? '1 node' : `${count} nodes`;
}

/** What keeps a sandbox from being whole, in words; undefined when all of it works. Stopped nodes are no trouble. */
async function troubleOf(layout: Layout, state: State | 'unreadable'): Promise<string | undefined> {
  if (state === 'unreadable') return 'its state cannot be read';
  if (state.phase === 'starting') return 'its start was cut';
  for (const record of await processRecords(layout)) {
    if (!(await isAlive(record))) return `${record.name} is not running`;
  }
  const api = await apiClient(layout, state.nodes);
  try {
    if (!(await soon(() => api.answers('/readyz')))) return 'its API server does not answer';
    for (const { name } of nodeLayouts(layout, state.nodes)) {
      if (!state.stopped.includes(name) && !(await soon(() => nodeReady(api, name)))) return `${name} is not Ready`;
    }
    return undefined;
  } finally {
    api.close();
  }
}

/** True as soon as `look` is, within what a busy machine takes to get over it: a sandbox is not given up lightly. */
async function soon(look: () => Promise<boolean>): Promise<boolean> {
  const options = { timeout: patience, interval: 250 };
  try {
    return await waitFor('an answer', async () => ((await look()) ? true : undefined), options);
  } catch (error) {
    if (error instanceof SandboxError) return false;
    throw error;
  }
}

/** Removes the sandbox and everything it left, half-started or whole. */
export async function down(progress: Progress, layout: Layout = layoutOf(process.env)): Promise<void> {
  await checkMachine();
  await exclusively(layout, progress, async () => {
    if (!(await isThere(layout.run))) return progress.note('No sandbox is up');
    await progress.step('Taking the sandbox down', () => removeAll(layout));
  });
}

/** What a shell or a child process needs to use the sandbox: `KUBECONFIG`, and a `PATH` with its `kubectl`. */
export function sandboxEnv(
  layout: Layout = layoutOf(process.env),
  path: string = process.env.PATH ?? '',
): { readonly KUBECONFIG: string; readonly PATH: string } {
  const directory = kubectlDirectory(layout);
  const rest = path.split(delimiter).filter((each) => each !== directory && each !== '');
  return { KUBECONFIG: paths(layout).kubeconfig, PATH: [directory, ...rest].join(delimiter) };
}

export interface LoadOptions {
  /** Only this node; default all. */
  readonly node?: string;
  /** The operator's bundle, for `clusterwright:dev`; default `build/controller.mjs`. */
  readonly bundle?: string;
  /** Recipes of engines, which are known by their names, too. */
  readonly recipes?: readonly ImageRecipe[];
}

/** Where `npm run build` puts the controller, from the root of the repository. */
export const defaultBundle = 'build/controller.mjs';

/**
 * Loads images into the nodes: archives by path, others by the name of their recipe, which are built if need be.
 *
 * @returns for every image, the nodes that did not have it
 */
export async function loadImages(
  images: readonly string[],
  options: LoadOptions,
  progress: Progress,
  layout: Layout = layoutOf(process.env),
): Promise<ReadonlyMap<string, readonly string[]>> {
  const state = await requireRunning(layout);
  const all = nodeLayouts(layout, state.nodes);
  const nodes = options.node === undefined ? all : all.filter(({ name }) => name === options.node);
  if (nodes.length === 0) throw new SandboxError(`the sandbox has no node ${options.node ?? 'at all'}`);
  const running = nodes.filter(({ name }) => !state.stopped.includes(name));
  const result = new Map<string, readonly string[]>();
  for (const image of images) {
    const archive = image.endsWith('.tar') ? image : await buildImage(image, options, progress, layout);
    const outcomes = await progress.step(`Loading ${image}`, () =>
      Promise.all(
        running.map(async (node): Promise<[string, LoadOutcome]> => [node.name, await loadArchive(node, archive)]),
      ),
    );
    result.set(
      image,
      outcomes.flatMap(([name, outcome]) => (outcome === 'loaded' ? [name] : [])),
    );
  }
  return result;
}

/** Builds an image unless the cache has it; returns the path of its archive. Needs no running sandbox. */
export async function buildImage(
  name: string,
  options: Pick<LoadOptions, 'bundle' | 'recipes'>,
  progress: Progress,
  layout: Layout = layoutOf(process.env),
): Promise<string> {
  await checkMachine();
  const recipe = await recipeOf(name, options.bundle ?? defaultBundle, options.recipes);
  return await buildRecipe(layout, recipe, progress);
}

/** The images that can be built by name, and which of them are. The operator's is not among them. */
export async function listImages(
  recipes: readonly ImageRecipe[],
  layout: Layout = layoutOf(process.env),
): Promise<readonly ImageListing[]> {
  return await listCached(layout, recipes);
}
