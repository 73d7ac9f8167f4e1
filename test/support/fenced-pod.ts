/** The fence of a pod beside a real server: the real loop, in a directory that stands in for the pod's file system. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { releases } from '../../src/engines/redis/kind/server.ts';
import { scripts } from '../../src/engines/redis/resources/scripts.ts';
import { programFolder, type ServerProgram } from './redis-program.ts';

export interface FencedPod {
  /** Starts the loop, as `start-data.sh` does. */
  start(): void;
  /** With SIGKILL. */
  kill(): void;
  /** As the readiness probe does where the loop has not looked for long. */
  probe(): void;
  close(): void;
  /** With `run` and `config`. */
  readonly directory: string;
}

export interface FencedPodOptions {
  readonly program: ServerProgram;
  /** Of the server. */
  readonly address: string;
  readonly pid: number;
  readonly password: string;
  readonly sentinels: readonly string[];
  /** `MODE MILLISECONDS` */
  readonly fence: string;
}

export function fencedPod({ program, address, pid, password, sentinels, fence }: FencedPodOptions): FencedPod {
  const directory = mkdtempSync(join(tmpdir(), 'fence-'));
  const at = (...path: readonly string[]): string => join(directory, ...path);
  for (const name of ['run', 'config']) mkdirSync(at(name));
  for (const [name, text] of Object.entries(scripts)) {
    // Servers of one machine cannot share the address that a pod has to itself.
    const inPlace = text.replaceAll('/run/redis', at('run')).replaceAll(' -p 6379', ` -h ${address} -p 6379`);
    writeFileSync(at('config', name), inPlace);
  }
  const files = { sentinels: `${sentinels.join('\n')}\n`, fence: `${fence}\n` };
  for (const [name, text] of Object.entries(files)) writeFileSync(at('config', name), text);
  writeFileSync(at('password'), `${password}\n`);
  writeFileSync(at('run', 'server'), `${pid}\n`);
  const env = {
    PATH: `${programFolder(program)}:${process.env.PATH}`,
    SERVER: releases[program.engine].program,
    CONFIG_DIR: at('config'),
    AUTH_FILE: at('password'),
    ...{ CLUSTER_NAME: 'db', POD_IP: address, POD_NAME: 'db-0', POD_NAMESPACE: 'apps' },
  };
  let loop: ChildProcess | undefined;
  const kill = (): void => {
    loop?.kill('SIGKILL');
    loop = undefined;
  };
  return {
    directory,
    start: () => {
      loop = spawn('/bin/sh', [at('config', 'fence-loop.sh'), String(pid)], { env, stdio: 'ignore' });
    },
    kill,
    probe: () => {
      const script = '. "$CONFIG_DIR/library.sh"; keep_fence';
      spawnSync('/bin/sh', ['-c', script], { env, stdio: 'ignore' });
    },
    close: () => {
      kill();
      // Another loop ends where this file is gone.
      rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}
