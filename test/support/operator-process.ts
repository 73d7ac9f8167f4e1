/** The operator as one bundle in one process, watching one namespace with a lease of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { imageReference } from '../../src/sandbox/images/recipe.ts';
import { operatorImage } from '../../src/sandbox/images/recipes.ts';
import { type ForesightPlace, foresightEnvironment } from './foreseen-operator.ts';
import { within } from './redis-client.ts';

/** As in the Dockerfile. */
export const nodeFlags = ['--max-semi-space-size=2'] as const;

export interface OperatorOptions {
  readonly bundle: string;
  /** Its context's namespace holds the lease. */
  readonly kubeconfig: string;
  readonly namespace: string;
  /** Its log is appended here. */
  readonly logFile: string;
  /** Where O13 tells of it; a bundle that has it not tells nothing. */
  readonly foresight: ForesightPlace;
}

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

export interface OperatorProcess {
  readonly pid: number;
  /** From the start of the process to the line that says so. */
  readonly startedAfterMs: number;
  readonly log: readonly LogLine[];
  /** Resolves with the exit code; null when a signal ended it. */
  readonly ended: Promise<number | null>;
  /** What /metrics answers. */
  metrics(): Promise<string>;
  /** SIGTERM, as a Deployment does it; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL. */
  kill(): Promise<void>;
}

export async function startOperator(options: OperatorOptions): Promise<OperatorProcess> {
  const { bundle, kubeconfig, namespace, logFile } = options;
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...nodeFlags, bundle], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      KUBECONFIG: kubeconfig,
      CLUSTERWRIGHT_NAMESPACES: namespace,
      CLUSTERWRIGHT_PORT: '0',
      CLUSTERWRIGHT_AGENT_IMAGE: imageReference(operatorImage),
      ...foresightEnvironment(options.foresight),
    },
  });
  const { pid, stdout, stderr } = child;
  if (pid === undefined) throw new Error(`${bundle} cannot be started`);
  const file = createWriteStream(logFile, { flags: 'a' });
  stderr.pipe(file, { end: false });
  const ended = exitOf(child);
  const log: LogLine[] = [];
  const started = new Promise<LogLine>((resolve, reject) => {
    createInterface(stdout).on('line', (text) => {
      file.write(`${text}\n`);
      const line = parsed(text);
      log.push(line);
      if (line.message === 'started') resolve(line);
    });
    ended.then((code) => reject(new Error(`the operator ended with code ${code}; see ${logFile}`)));
  });
  const { port } = await within(60_000, started);
  const startedAfterMs = performance.now() - startedAt;
  return {
    pid,
    startedAfterMs,
    log,
    ended,
    metrics: async () => (await fetch(`http://127.0.0.1:${String(port)}/metrics`)).text(),
    async stop() {
      child.kill('SIGTERM');
      // The grace period of its pod.
      return within(30_000, ended);
    },
    async kill() {
      child.kill('SIGKILL');
      await within(30_000, ended);
    },
  };
}

function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once('exit', (code) => resolve(code)));
}

function parsed(text: string): LogLine {
  try {
    return JSON.parse(text) as LogLine;
  } catch {
    return { level: 'none', message: text };
  }
}
