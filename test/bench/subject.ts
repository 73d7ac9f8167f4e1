/**
 * The controller under measurement: our own bundle as it ships, in a process of its own, or one that runs already, of
 * which only what the kernel and the API server tell is known.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { type Sample, samplesOf } from '../support/metrics-text.ts';
import { nodeFlags } from '../support/operator-process.ts';
import { within } from '../support/redis-client.ts';
import { type Usage, usageOf } from './process-usage.ts';

export interface Subject {
  readonly userAgent: string;
  /** Undefined where its process is not known. */
  usage(): Promise<Usage | undefined>;
  /** What its /metrics says; nothing where it is not ours. */
  samples(): Promise<readonly Sample[]>;
  /** Ends the process and resolves when it is gone; nothing happens to one that is not ours. */
  stop(): Promise<void>;
}

/** All of ours begin their User-Agent so; the bench's own does not. */
const ownUserAgent = 'clusterwright/';

export function runningSubject(options: { readonly userAgent: string; readonly pid?: number }): Subject {
  const { userAgent, pid } = options;
  return {
    userAgent,
    usage: async () => (pid === undefined ? undefined : usageOf(pid)),
    samples: async () => [],
    stop: async () => undefined,
  };
}

/** A copy: a build that somebody starts meanwhile must not change the subject in the middle of a run. */
const bundle = 'build/bench-controller.mjs';

/** Before the first start. @throws Error when the controller was not bundled */
export async function takeBundle(): Promise<void> {
  await copyFile('build/controller.mjs', bundle);
}

/** Resolves when it says that it has started. Its output goes to `build/bench-controller.log`. */
export async function startSubject(kubeconfig: string, flags: readonly string[]): Promise<Subject> {
  const file = createWriteStream('build/bench-controller.log', { flags: 'a' });
  const child = spawn(process.execPath, [...nodeFlags, ...flags, bundle], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      KUBECONFIG: kubeconfig,
      CLUSTERWRIGHT_PORT: '0',
    },
  });
  const { pid, stdout, stderr } = child;
  if (pid === undefined) throw new Error(`${bundle} cannot be started`);
  stderr.pipe(file, { end: false });
  const ended = exitOf(child);
  const started = new Promise<number>((resolve, reject) => {
    createInterface(stdout).on('line', (text) => {
      file.write(`${text}\n`);
      const port = /"port":(\d+),.*"message":"started"/.exec(text)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
    ended.then((code) => reject(new Error(`the controller ended with ${code}; see build/bench-controller.log`)));
  });
  const port = await within(20_000, started);
  return {
    userAgent: ownUserAgent,
    usage: () => usageOf(pid),
    samples: async () => samplesOf(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()),
    async stop() {
      child.kill('SIGTERM');
      await within(30_000, ended);
      file.end();
    },
  };
}

function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once('exit', (code) => resolve(code)));
}

/** Sum over all series of a metric. */
export function total(samples: readonly Sample[], name: string): number {
  return samples.filter((sample) => sample.name === name).reduce((sum, { value }) => sum + value, 0);
}

/** Objects that it holds of a resource. */
export function held(samples: readonly Sample[], resource: string): number {
  const gauge = 'clusterwright_store_objects';
  return samples.find(({ name, labels }) => name === gauge && labels.resource === resource)?.value ?? 0;
}
