/**
 * A pod of a data node or a sentinel, as a directory of this machine: its scripts beside real servers. What it runs has a network and a tree
 * of processes of its own, so servers may have any address and none outlives the story. Needs a kernel that gives this user such namespaces.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { releases } from '../../src/engines/redis/kind/server.ts';
import { scripts } from '../../src/engines/redis/resources/scripts.ts';
import { programFolder, type ServerProgram } from './redis-program.ts';

const isolated = ['-rnpf', '--kill-child', '/bin/sh', '-c'] as const;

export const isIsolationPossible = spawnSync('unshare', [...isolated, 'ip link set lo up']).status === 0;

export interface IsolatedPod {
  readonly directory: string;
  put(path: string, text: string, mode?: number): void;
  /**
   * Runs a story in `directory`. Returns the lines that it has printed, without blank ones. Throws what it has written to stderr, and if it
   * takes over 200 s.
   */
  play(story: string, env?: Readonly<Record<string, string>>): string[];
  remove(): void;
}

/** `config` holds the scripts, which find `run` and `data` in this directory. `bin` comes first in the PATH. */
export function isolatedPod(servers: ServerProgram): IsolatedPod {
  const directory = mkdtempSync(join(tmpdir(), 'isolated-pod-'));
  const at = (path: string): string => join(directory, path);
  for (const name of ['bin', 'config', 'data', 'run']) mkdirSync(at(name));
  const put: IsolatedPod['put'] = (path, text, mode = 0o644) => writeFileSync(at(path), text, { mode });
  for (const [name, text] of Object.entries(scripts)) {
    put(`config/${name}`, text.replaceAll('/run/redis', at('run')).replaceAll('/data', at('data')));
  }
  put('secret', 'pw\n');
  return {
    directory,
    put,
    play(story, env) {
      const { stdout, stderr, error } = spawnSync('unshare', [...isolated, `set -u\nip link set lo up\n${story}`], {
        cwd: directory,
        encoding: 'utf8',
        // The shell waits for servers: one that does not start would hold it for good.
        timeout: 200_000,
        killSignal: 'SIGKILL',
        env: {
          PATH: [at('bin'), programFolder(servers), process.env.PATH].join(':'),
          SERVER: releases[servers.engine].program,
          CONFIG_DIR: at('config'),
          AUTH_FILE: at('secret'),
          CLUSTER_NAME: 'db',
          POD_NAMESPACE: 'apps',
          POD_NAME: 'db-0',
          POD_IP: '127.0.0.1',
          ...env,
        },
      });
      if (error !== undefined) throw error;
      if (stderr !== '') throw new Error(stderr);
      return stdout
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== '');
    },
    remove: () => rmSync(directory, { recursive: true }),
  };
}
