/**
 * The agent as a process of this machine: what a Job does in a cluster, without one. Credentials and keys reach it as a
 * Job's do, as files; they are in a directory of its own, for this user alone, and go with it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { AgentResult } from '../../backup/agent-result.ts';
import { parseAgentResult } from '../../backup/heard-result.ts';
import { packageRoot } from '../deploy/manifests.ts';
import { CommandError } from '../fault.ts';

export interface AgentRun {
  readonly result: AgentResult;
  /** Its log, an object a line. */
  readonly log: readonly Readonly<Record<string, unknown>>[];
}

/** `taskFor` gets the path of each of `files`, which are given by name with their content. */
export type RunAgent = (
  taskFor: (pathOf: (name: string) => string) => object,
  files: Readonly<Record<string, string>>,
) => Promise<AgentRun>;

/** What a platform tells a process of its identity. Of the environment, nothing else is the agent's business. */
const identityVariables = [
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_ROLE_ARN',
  'AWS_ROLE_SESSION_NAME',
  'AWS_ENDPOINT_URL_STS',
  'AWS_REGION',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
  'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE',
] as const;

function identityIn(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(identityVariables.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}

export function hasIdentity(env: NodeJS.ProcessEnv): boolean {
  return [env.AWS_WEB_IDENTITY_TOKEN_FILE, env.AWS_CONTAINER_CREDENTIALS_FULL_URI].some(
    (value) => value !== undefined && value !== '',
  );
}

/** SIGHUP: the terminal was closed, or the connection to this machine has ended. */
const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** @throws CommandError where there is no agent, or it ended without a word */
export async function runAgent(
  taskFor: Parameters<RunAgent>[0],
  files: Parameters<RunAgent>[1],
  bundle: string = join(packageRoot(), 'build/agent.mjs'),
): Promise<AgentRun> {
  const home = await mkdtemp(join(tmpdir(), 'clusterwright-'));
  const pathOf = (name: string): string => join(home, name);
  try {
    for (const [name, content] of Object.entries(files)) await writeFile(pathOf(name), content, { mode: 0o600 });
    await writeFile(pathOf('task.json'), JSON.stringify(taskFor(pathOf)));
    const env = {
      ...identityIn(process.env),
      PATH: process.env.PATH,
      // What it says is shown where it ends without a result: its own words, and none of Node.
      NODE_NO_WARNINGS: '1',
      CLUSTERWRIGHT_LOG_LEVEL: 'info',
      CLUSTERWRIGHT_TERMINATION_MESSAGE_PATH: pathOf('nobody-looks-here'),
    };
    const child = spawn(process.execPath, [bundle, pathOf('task.json')], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    // Whoever interrupts us ends the agent, and then what was written for it goes.
    const stop = (): void => void child.kill('SIGTERM');
    for (const signal of stopSignals) process.on(signal, stop);
    child.once('close', () => {
      for (const signal of stopSignals) process.off(signal, stop);
    });
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    const result = parseAgentResult(stdout);
    if (result === undefined) {
      const end = child.signalCode === null ? `exit code ${child.exitCode}` : `ended by ${child.signalCode}`;
      const said = [stdout, stderr].map((words) => words.trim()).filter((words) => words !== '');
      throw new CommandError([`the agent, ${bundle}, has ended without a result: ${end}`, ...said].join('\n'));
    }
    return { result, log: stdout.split('\n').slice(0, -2).map(logged) };
  } finally {
    await rm(home, { recursive: true });
  }
}

function logged(line: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(line) as Readonly<Record<string, unknown>>;
  } catch {
    return { message: line };
  }
}
