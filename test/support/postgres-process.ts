/**
 * PostgreSQL servers on ports of the loopback. They run in the root directory of their packages, as a user that is not
 * root, with the test's directory at `/data`: mounted where only this process sees it.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Value } from '../../src/engines/postgres/client/rows.ts';
import { withSession } from '../../src/engines/postgres/client/session.ts';
import { sleep, systemClock } from '../../src/system/clock.ts';
import { dialTcp } from '../../src/system/dial.ts';
import type { Certificates } from './etcd-certificates.ts';
import { freePort } from './free-port.ts';
import type { PostgresProgram } from './postgres-program.ts';

/** Of the users that a root directory knows. */
export const postgresUser = 999;

/** A directory that the servers of one test share, and that they find at `/data`. */
export interface PostgresHome {
  readonly directory: string;
  readonly major: number;
  /** What a program writes to its output. Throws with its errors. */
  run(name: string, ...args: readonly string[]): string;
  spawn(name: string, ...args: readonly string[]): ChildProcess;
  /** Runs a script of a shell, with `/tmp` in this directory. Throws with what it printed. */
  shell(script: string): string;
  /** The same directory, with the programs of another version. */
  version(major: number): PostgresHome;
  /** Gives everything below a path to the servers' user. */
  give(path: string): void;
  remove(): void;
}

export function openHome({ root, major }: PostgresProgram): PostgresHome {
  const directory = mkdtempSync(join(tmpdir(), 'postgres-'));
  chownSync(directory, postgresUser, postgresUser);
  mkdirSync(join(root, 'data'), { recursive: true });
  return homeAt(root, directory, major);
}

function homeAt(root: string, directory: string, major: number): PostgresHome {
  const inside = (mounts: string, words: readonly string[]): string[] => [
    '--mount',
    'sh',
    '-c',
    `mount --bind /dev "$1/dev" && ${mounts} && shift 2 && exec chroot --userspec="$@"`,
    'sh',
    root,
    directory,
    `${postgresUser}:${postgresUser}`,
    root,
    ...words,
  ];
  const data = 'mount --bind "$2" "$1/data"';
  const command = (name: string, args: readonly string[]): string[] =>
    inside(data, [`/usr/lib/postgresql/${major}/bin/${name}`, ...args]);
  const env = {
    PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
    LC_ALL: 'C.UTF-8',
    HOME: '/data',
    PGHOST: '127.0.0.1',
    PGUSER: 'postgres',
  };
  return {
    directory,
    major,
    run: (name, ...args) =>
      execFileSync('unshare', command(name, args), { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }),
    spawn: (name, ...args) => spawn('unshare', command(name, args), { env, stdio: ['ignore', 'pipe', 'pipe'] }),
    shell(script) {
      // As in a pod: the user of the servers has the name of the superuser.
      writeFileSync(join(directory, 'passwd'), `postgres:x:${postgresUser}:${postgresUser}::/data:/bin/sh\n`);
      const more = 'mount --bind "$2" "$1/tmp" && mount --bind "$2/passwd" "$1/etc/passwd"';
      const words = inside(`${data} && ${more}`, ['/bin/sh', '-c', script]);
      const { status, stdout, stderr } = spawnSync('unshare', words, { env, encoding: 'utf8' });
      if (status !== 0) throw new Error(`the script ended with code ${status}: ${stdout}${stderr}`);
      return stdout;
    },
    version: (other) => homeAt(root, directory, other),
    give: (path) => void execFileSync('chown', ['-R', `${postgresUser}:${postgresUser}`, path]),
    remove: () => rmSync(directory, { recursive: true, force: true, maxRetries: 10 }),
  };
}

export interface PostgresProcess {
  readonly port: number;
  /** On this machine. */
  readonly directory: string;
  /** The rows of the last statement, as the superuser, whom nobody asks for a password here. */
  sql(text: string, database?: string): Promise<readonly (readonly Value[])[]>;
  log(): string;
  kill(): void;
  /** Ends it in order: everything is on the disk. */
  shutDown(): Promise<void>;
  /** Ends it at once. */
  stop(): Promise<void>;
}

const settings = [
  "listen_addresses = '127.0.0.1'",
  "unix_socket_directories = '/data'",
  'fsync = off',
  'shared_buffers = 16MB',
  'max_wal_senders = 8',
  'max_replication_slots = 8',
  'jit = off',
  'dynamic_shared_memory_type = mmap',
];

/** A new database cluster, which does not run. @returns its directory on this machine */
export function initialise(home: PostgresHome, name: string, ...args: readonly string[]): string {
  home.run(
    'initdb',
    '-D',
    `/data/${name}`,
    '-U',
    'postgres',
    '-A',
    'trust',
    '-k',
    '--no-sync',
    '-E',
    'UTF8',
    '--no-locale',
    ...args,
  );
  return join(home.directory, name);
}

export interface PostgresOptions {
  /** Lines of the configuration. */
  readonly config?: readonly string[];
  /** Lines that stand before those that let everybody in from here. */
  readonly hba?: readonly string[];
  /** Who may be whom, by which certificate. */
  readonly identities?: readonly string[];
  readonly certificates?: Certificates;
}

/** Starts a server on a directory below the home's. */
export async function startPostgres(
  home: PostgresHome,
  name: string,
  options: PostgresOptions = {},
): Promise<PostgresProcess> {
  const { config = [], hba = [], identities = [], certificates } = options;
  const directory = join(home.directory, name);
  const port = await freePort();
  const secured: string[] = [];
  if (certificates !== undefined) {
    for (const [file, content] of Object.entries(certificates)) writeFileSync(join(home.directory, file), content);
    chmodSync(join(home.directory, 'tls.key'), 0o600);
    for (const file of Object.keys(certificates)) chownSync(join(home.directory, file), postgresUser, postgresUser);
    secured.push(
      'ssl = on',
      "ssl_ca_file = '/data/ca.crt'",
      "ssl_cert_file = '/data/tls.crt'",
      "ssl_key_file = '/data/tls.key'",
    );
  }
  const lines = [...settings, `port = ${port}`, ...secured, ...config];
  appendFileSync(join(directory, 'postgresql.conf'), `${lines.join('\n')}\n`);
  const open = ['local all all trust', 'host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'];
  writeFileSync(join(directory, 'pg_hba.conf'), `${[...hba, ...open].join('\n')}\n`);
  writeFileSync(join(directory, 'pg_ident.conf'), `${identities.join('\n')}\n`);
  const child = home.spawn('postgres', '-D', `/data/${name}`);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const io = { dial: dialTcp, sleep: (ms: number, signal?: AbortSignal) => sleep(systemClock, ms, signal) };
  const sql = (text: string, database = 'postgres'): Promise<readonly (readonly Value[])[]> => {
    const login = { user: 'postgres', database, settings: { search_path: 'public' } };
    const target = { address: '127.0.0.1', port, login, timeoutMs: 60_000 };
    return withSession(io, target, async (connection) => (await connection.query(text)).at(-1)?.rows ?? []);
  };
  for (;;) {
    try {
      await sql('SELECT 1');
      break;
    } catch (cause) {
      if (isOver()) throw new Error(`postgres did not start:\n${output}`, { cause });
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
  return {
    port,
    directory,
    sql,
    log: () => output,
    kill: () => void child.kill('SIGKILL'),
    async shutDown() {
      if (!isOver()) child.kill('SIGINT');
      await ended;
    },
    async stop() {
      // Immediately, as where the power goes: nothing of a test is read again, or it is recovered.
      if (!isOver()) child.kill('SIGQUIT');
      await ended;
    },
  };
}

/** A copy of a running server, which follows it. */
export async function startStandby(
  home: PostgresHome,
  primary: PostgresProcess,
  name: string,
  options: PostgresOptions = {},
) {
  home.run(
    'pg_basebackup',
    '-p',
    String(primary.port),
    '-D',
    `/data/${name}`,
    '-c',
    'fast',
    '--no-sync',
    '-X',
    'stream',
  );
  writeFileSync(join(home.directory, name, 'standby.signal'), '');
  const followed = `primary_conninfo = 'host=127.0.0.1 port=${primary.port} user=postgres application_name=${name}'`;
  return await startPostgres(home, name, { ...options, config: [followed, ...(options.config ?? [])] });
}

/** Names in a directory, also where there is none. */
export const namesIn = (path: string): readonly string[] => (existsSync(path) ? readdirSync(path).sort() : []);
