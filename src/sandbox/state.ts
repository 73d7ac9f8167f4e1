/**
 * What a running sandbox remembers about itself, in one file of the run directory.
 *
 * The file appears with the first thing that is started and goes with the last that is removed; `starting` that nobody
 * is working on means that a start was cut.
 */
import { rename, writeFile } from 'node:fs/promises';
import { SandboxError } from './error.ts';
import { readIfThere } from './file.ts';
import { type Layout, paths } from './layout.ts';
import type { Sysctls } from './sysctl.ts';

export interface State {
  readonly phase: 'starting' | 'running';
  readonly nodes: number;
  readonly audit: boolean;
  /** Kernel settings as they were before. */
  readonly sysctls: Sysctls;
  /** Directories outside its own that were not there before and go with it. */
  readonly foreign: readonly string[];
  /** Names of the nodes that a fault has stopped. */
  readonly stopped: readonly string[];
}

/** Undefined when there is no sandbox; `unreadable` when the file is there and says nothing. */
export async function readState(layout: Layout): Promise<State | 'unreadable' | undefined> {
  const text = await readIfThere(paths(layout).state);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as State;
  } catch (error) {
    if (error instanceof SyntaxError) return 'unreadable';
    throw error;
  }
}

/** @throws SandboxError unless a sandbox is up. */
export async function requireRunning(layout: Layout): Promise<State> {
  const state = await readState(layout);
  if (state === undefined) throw new SandboxError('no sandbox is running; start one with: clusterwright sandbox up');
  if (state === 'unreadable' || state.phase === 'starting') {
    throw new SandboxError('the sandbox is half-started; `clusterwright sandbox up` cleans it and starts it again');
  }
  return state;
}

export async function writeState(layout: Layout, state: State): Promise<void> {
  const { state: file } = paths(layout);
  await writeFile(`${file}.new`, JSON.stringify(state, null, 2));
  await rename(`${file}.new`, file);
}
