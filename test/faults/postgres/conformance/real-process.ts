/**
 * A member as in its pod: the product's command, scripts and configuration, at the same paths, in the root directory of the image. It has
 * processes and mounts of its own. What differs: it listens on an address of the loopback, without TLS, and writes nothing through to the disk.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { defaultUid } from '../../../../src/api/pods.ts';
import { paths, patroniPort, roles, sqlPort } from '../../../../src/engines/postgres/names.ts';
import type { PostgresProgram } from '../../../support/postgres-program.ts';
import type { End } from './stage.ts';

type Json = Readonly<Record<string, unknown>>;

/** Where the root directory has directories of the member, by their place. */
const own = {
  [paths.volume]: 'volume',
  [paths.socket]: 'socket',
  [paths.patroni]: 'patroni',
  [paths.account]: 'account',
  '/tmp': 'tmp',
} as const;

export interface RealMember {
  readonly ended: Promise<End>;
  readonly isOver: boolean;
  signal(name: NodeJS.Signals): void;
}

/** Directories of one member, which outlive its process. */
export interface Home {
  start(options: Starting): RealMember;
  wipe(): void;
  remove(): void;
}

export interface Starting {
  readonly ip: string;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly files: ReadonlyMap<string, string>;
  readonly api: { readonly address: string; readonly port: number; readonly ca: string; readonly namespace: string };
}

export function openMember({ root }: PostgresProgram): Home {
  const directory = mkdtempSync(join(tmpdir(), 'patroni-'));
  const give = (...args: readonly string[]): void =>
    void execFileSync('chown', ['-R', `${defaultUid}:${defaultUid}`, ...args]);
  const make = (): void => {
    for (const [path, name] of Object.entries(own)) {
      mkdirSync(join(root, path), { recursive: true });
      mkdirSync(join(directory, name), { recursive: true });
    }
    give(directory);
  };
  make();
  return {
    start({ ip, command, environment, files, api }) {
      for (const name of ['socket', 'tmp', 'patroni']) rmSync(join(directory, name), { recursive: true, force: true });
      make();
      const write = (path: string, text: string): void => {
        const [, name = ''] = Object.entries(own).find(([place]) => place === dirname(path)) ?? [];
        writeFileSync(join(directory, name, path.slice(dirname(path).length + 1)), text, { mode: 0o755 });
      };
      for (const [path, text] of files) write(path, path.endsWith('/patroni.yml') ? onLoopback(text, ip) : text);
      for (const [name, text] of Object.entries({ token: 'token', 'ca.crt': api.ca, namespace: api.namespace }))
        write(`${paths.account}/${name}`, text);
      const mounts = Object.entries(own).map(([path, name]) => `mount --bind ${directory}/${name} ${root}${path}`);
      const script = [
        `mount --bind /dev ${root}/dev`,
        `mount -t tmpfs -o mode=1777 tmpfs ${root}/dev/shm`,
        `mount -t proc proc ${root}/proc`,
        ...mounts,
        `mount --bind ${directory}/passwd ${root}/etc/passwd`,
        `exec chroot --userspec=${defaultUid}:${defaultUid} ${root} "$@"`,
      ].join(' && ');
      const args = ['--mount', '--pid', '--fork', 'sh', '-c', script, 'sh', ...command];
      const child = spawn('unshare', args, {
        env: {
          ...environment,
          KUBERNETES_SERVICE_HOST: api.address,
          KUBERNETES_SERVICE_PORT: String(api.port),
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      return running(child);
    },
    wipe() {
      rmSync(join(directory, 'volume'), { recursive: true, force: true });
    },
    remove: () => rmSync(directory, { recursive: true, force: true, maxRetries: 10 }),
  };
}

function running(child: ChildProcess): RealMember {
  let words = '';
  const log = (chunk: Buffer): void => {
    words = (words + chunk.toString()).slice(-100_000);
  };
  child.stdout?.on('data', log);
  child.stderr?.on('data', log);
  const ended = new Promise<End>((resolve) => child.once('close', (code) => resolve({ code, words })));
  return {
    ended,
    get isOver() {
      return child.exitCode !== null || child.signalCode !== null;
    },
    signal(name) {
      // The one process below is the first in its namespace, as in a container: with it all others end.
      if (child.exitCode !== null || child.signalCode !== null) return;
      const [inside] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').split(' ');
      if (inside !== undefined && inside !== '') process.kill(Number(inside), name);
    },
  };
}

/** Patroni's configuration without certificates, for addresses that several members share a machine by. */
function onLoopback(text: string, ip: string): string {
  const { ctl: _, restapi: __, ...config } = JSON.parse(text) as Json & { readonly postgresql: Json };
  const { parameters, ...postgresql } = config.postgresql as Json & { readonly parameters: Json };
  const plain = Object.fromEntries(Object.entries(parameters).filter(([name]) => !name.startsWith('ssl')));
  return JSON.stringify({
    ...config,
    restapi: { listen: `${ip}:${patroniPort}` },
    postgresql: {
      ...postgresql,
      listen: `${ip}:${sqlPort}`,
      parameters: { ...plain, fsync: 'off' },
      authentication: {
        superuser: { username: roles.superuser },
        replication: { username: roles.replication },
        rewind: { username: roles.rewind },
      },
      pg_hba: [
        `local all ${roles.superuser} peer map=container`,
        `local replication ${roles.replication} peer map=container`,
        ...[`replication ${roles.replication}`, `all ${roles.superuser},${roles.rewind},${roles.operator}`].map(
          (who) => `host ${who} 127.0.0.0/8 trust`,
        ),
        'host all all 127.0.0.0/8 scram-sha-256',
      ],
    },
  });
}
