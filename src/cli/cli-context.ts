/**
 * What a command sees of the world: its two outputs, its input, the environment, and a way to a cluster. Handlers get it
 * as an argument and answer with an exit code, so that a test can call them without a process.
 */
import type { KindHandler } from '../engine/engine.ts';
import type { ImageRecipe } from '../engine/image-recipe.ts';
import type { Installation } from '../jobs/installation.ts';
import type { Dial } from '../system/dial.ts';
import type { RunAgent } from './backup/agent-process.ts';
import type { Connect } from './connection.ts';

/** What `-` stands for where a file is expected; also what it is called in messages. */
export const standardInput = 'standard input';

/** 0: done, or nothing to do. 1: it went wrong, and stderr says why. 2: `plan` found something to change. */
export type ExitCode = 0 | 1 | 2;

export interface Output {
  /** Results, and nothing else. */
  stdout(text: string): void;
  /** What is said beside the result. */
  stderr(text: string): void;
}

export interface CliContext extends Output {
  readonly env: NodeJS.ProcessEnv;
  /** As people call this program: `clusterwright`, or `kubectl clusterwright`. */
  readonly program: string;
  /** What to type to run it again: `npx clusterwright` in a checkout. */
  readonly command: string;
  /** The kinds that this program knows. `agentImage` and `installation`: what the operator would have been told; see `handlersOf`. */
  handlers(agentImage?: string, installation?: Installation): Promise<readonly KindHandler[]>;
  /** What the sandbox makes images of these kinds' databases from. */
  images(): Promise<readonly ImageRecipe[]>;
  /** Fails with the code EISDIR for a folder. */
  readText(path: string): Promise<string>;
  /** The names in a folder. */
  readFolder(path: string): Promise<readonly string[]>;
  /** All of standard input. */
  readStdin(): Promise<string>;
  readonly connect: Connect;
  /** To a database process. */
  readonly dial: Dial;
  /** The backup agent, on this machine. */
  readonly agent: RunAgent;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** A command as `src/cli.ts` calls it. */
export type Command<Arguments> = (args: Arguments, cli: CliContext) => Promise<ExitCode>;
