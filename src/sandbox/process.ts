/**
 * The sandbox's long-running processes.
 *
 * Each outlives the command that starts it and is written down as pid and start time: a pid that the system has given
 * to another process since is never taken for ours, and never killed.
 */
import { spawn } from 'node:child_process';
import { mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createCgroup } from './cgroup.ts';
import { lastLines } from './command.ts';
import { codeOf, SandboxError } from './error.ts';
import { listIfThere, readIfThere } from './file.ts';
import { controlCgroup, type Layout, paths } from './layout.ts';
import { signal } from './signal.ts';
import { waitFor } from './wait.ts';

export interface Daemon {
  /** Also the name of its log file. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The cgroup in which it runs; default {@link controlCgroup}. */
  readonly cgroup?: string;
}

export interface ProcessRecord {
  readonly name: string;
  readonly pid: number;
  /** Clock ticks from boot to the start of the process, as the kernel counts them. */
  readonly startTime: string;
}

/** Starts a process of its own session, output to its log, and writes it down. */
export async function start(layout: Layout, daemon: Daemon): Promise<ProcessRecord> {
  const { log, processes } = paths(layout);
  await Promise.all([mkdir(log, { recursive: true }), mkdir(processes, { recursive: true })]);
  const output = await open(logPath(layout, daemon.name), 'w');
  try {
    // The shell enters the cgroup and then becomes the program: no child of it is ever outside.
    const files = await (daemon.cgroup === undefined ? controlFiles() : createCgroup(daemon.cgroup));
    const enter = files.map((file) => `echo $$ > '${file}' && `).join('');
    const args = ['-c', `${enter}exec "$@"`, 'sh', daemon.command, ...daemon.args];
    const child = spawn('/bin/sh', args, { detached: true, stdio: ['ignore', output.fd, output.fd], cwd: '/' });
    const pid = await new Promise<number>((resolve, reject) => {
      child.on('spawn', () => resolve(child.pid ?? 0));
      child.on('error', (cause) =>
        reject(new SandboxError(`cannot start ${daemon.name}: ${cause.message}`, { cause })),
      );
    });
    child.unref();
    const record = { name: daemon.name, pid, startTime: (await processStat(pid))?.startTime ?? '' };
    await writeFile(join(processes, `${daemon.name}.json`), JSON.stringify(record));
    return record;
  } finally {
    await output.close();
  }
}

/** Without nodes, a container with read-only cgroups will do: the control plane runs where it is started. */
async function controlFiles(): Promise<readonly string[]> {
  return await createCgroup(controlCgroup).catch((error: unknown) => {
    if (['EROFS', 'EACCES', 'EPERM', 'EBUSY', 'ENOTSUP'].includes(codeOf(error) ?? '')) return [];
    throw error;
  });
}

export function logPath(layout: Layout, name: string): string {
  return join(paths(layout).log, `${name}.log`);
}

/** Every process that was started and not forgotten, alive or not. */
export async function processRecords(layout: Layout): Promise<readonly ProcessRecord[]> {
  const directory = paths(layout).processes;
  const records = await Promise.all((await listIfThere(directory)).map((name) => readRecord(join(directory, name))));
  return records.filter((record) => record !== undefined);
}

async function readRecord(file: string): Promise<ProcessRecord | undefined> {
  try {
    return JSON.parse((await readIfThere(file)) ?? '') as ProcessRecord;
  } catch (error) {
    // Cut while it was written: the process is found by its cgroup.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export async function isAlive(record: ProcessRecord): Promise<boolean> {
  const stat = await processStat(record.pid);
  return stat !== undefined && stat.startTime === record.startTime && stat.state !== 'Z';
}

/** Ends processes without asking and forgets them; resolves when they are gone. */
export async function kill(layout: Layout, records: readonly ProcessRecord[]): Promise<void> {
  for (const record of records) if (await isAlive(record)) signal(record.pid, 'SIGKILL');
  for (const record of records) {
    await waitFor(
      `${record.name} (pid ${record.pid}) to end`,
      async () => ((await isAlive(record)) ? undefined : true),
      {
        timeout: 10_000,
        interval: 10,
      },
    );
    await rm(join(paths(layout).processes, `${record.name}.json`), { force: true });
  }
}

/**
 * Waits until a started process answers `ready`.
 *
 * @throws SandboxError with the last lines of its log when it ends instead, or when the time is up.
 */
export async function waitUntilReady(
  layout: Layout,
  record: ProcessRecord,
  ready: () => Promise<boolean>,
  options: { readonly timeout?: number; readonly interval?: number } = {},
): Promise<void> {
  const look = async (): Promise<true | undefined> => {
    if (await ready()) return true;
    if (await isAlive(record)) return undefined;
    throw new SandboxError(`${record.name} ended while it was starting`);
  };
  try {
    await waitFor(`${record.name} to be ready`, look, options);
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    const file = logPath(layout, record.name);
    const tail = lastLines(await readFile(file, 'utf8'), 6);
    throw new SandboxError(`${error.message}; the end of ${file}:\n${tail}`, { cause: error });
  }
}

interface ProcessStat {
  readonly state: string;
  readonly startTime: string;
}

/** State letter and start time of a process, or undefined when there is none of this pid. */
export async function processStat(pid: number): Promise<ProcessStat | undefined> {
  const text = await readIfThere(`/proc/${pid}/stat`);
  return text === undefined ? undefined : parseStat(text);
}

/** The name of the program comes second, in parentheses, and may itself hold spaces and parentheses. */
export function parseStat(text: string): ProcessStat {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', startTime: fields[19] ?? '' };
}
