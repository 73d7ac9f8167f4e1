/** The scripts of an import as processes: they find a volume, a source and certificates as in a pod, and nobody who comes after them. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import type { PostgresSpecInput } from '../../src/engines/postgres/kind/schema.ts';
import { type ImportSeen, importSeen } from '../../src/engines/postgres/observe/import-seen.ts';
import { importScripts, importSource } from '../../src/engines/postgres/resources/import-source.ts';
import { texts } from '../../src/engines/postgres/resources/shell/texts.ts';
import { freePort } from './free-port.ts';
import type { PostgresHome, PostgresProcess } from './postgres-process.ts';
import { postgresCluster } from './postgres-situation.ts';
import { postgresSecrets } from './scripted-patroni.ts';

const python = '../../../../bin/env';
const secrets = postgresSecrets(postgresCluster(), Date.now());
const shown = secrets['db-patroni-tls'] ?? {};
const client = secrets['db-patroni-operator-tls'] ?? {};

export interface Import {
  /** What it says of itself; undefined where it does not answer. */
  seen(): Promise<ImportSeen | undefined>;
  tell(path: string, body: object, asOperator?: boolean, headers?: Readonly<Record<string, string>>): Promise<number>;
  /** Waits until it says so. @throws with what it says instead */
  until(isSo: (seen: ImportSeen) => boolean, ms?: number): Promise<ImportSeen>;
  /** Sends the password of the source. */
  open(password?: string, ca?: string): Promise<void>;
  cutOver(value: string | null): Promise<void>;
  /** Resolves with its exit code. */
  readonly ended: Promise<number | null>;
  kill(signal: 'SIGKILL' | 'SIGTERM'): void;
  log(): string;
  readonly pid: number;
  readonly port: number;
}

export interface ImportOptions {
  readonly version: string;
  readonly spec?: Partial<PostgresSpecInput>;
  readonly uid?: string;
  readonly quietSeconds?: number;
  /** Before something that failed is tried again. */
  readonly againSeconds?: number;
  /** As long as one call at its port may take. */
  readonly callSeconds?: number;
  /** The certificate of the source is checked. */
  readonly secured?: true;
}

/** Everything of the pod: `volume` below the home is its volume. */
export async function startImport(
  home: PostgresHome,
  source: Pick<PostgresProcess, 'port'>,
  options: ImportOptions,
): Promise<Import> {
  const { version, spec = {}, uid = 'uid-1', quietSeconds = 1, againSeconds = 10, callSeconds = 10, secured } = options;
  for (const name of ['volume', 'config', 'tls', 'import']) mkdirSync(join(home.directory, name), { recursive: true });
  const put = (name: string, text: string): void => writeFileSync(join(home.directory, name), text);
  const cluster = postgresCluster(
    {
      version: version as '17',
      bootstrap: {
        importFrom: {
          host: '127.0.0.1',
          port: source.port,
          user: 'importer',
          password: { name: 'source' },
          tls: secured === true ? { ca: { name: 'source' } } : { mode: 'disable' },
        },
      },
      ...spec,
    },
    { uid },
  );
  for (const [name, text] of Object.entries(importScripts(cluster.spec))) put(`config/${name}`, text);
  put('config/post-init.sh', texts['post-init.sh']);
  put('config/start.sh', 'exit 0');
  put('config/bootstrap.yml', JSON.stringify({ bootstrap: { import: importSource(cluster) } }));
  put('tls/patroni.crt', shown['tls.crt'] ?? '');
  put('tls/patroni.key', shown['tls.key'] ?? '');
  put('tls/patroni-ca.crt', shown['ca.crt'] ?? '');
  for (const name of ['volume', 'config', 'tls', 'import']) home.give(join(home.directory, name));
  const port = await freePort();
  const env = {
    CONFIG_DIRECTORY: '/data/config',
    DATA_DIRECTORY: '/data/volume/data',
    TLS_DIRECTORY: '/data/tls',
    IMPORT_DIRECTORY: '/data/import',
    PGBIN: `/usr/lib/postgresql/${home.major}/bin`,
    OPERATOR_ROLE: 'clusterwright',
    REST_PORT: String(port),
    IMPORT_QUIET_SECONDS: String(quietSeconds),
    IMPORT_AGAIN_SECONDS: String(againSeconds),
    IMPORT_CALL_SECONDS: String(callSeconds),
  };
  const words = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const child = home.spawn(python, ...words, 'python3', '-IS', '/data/config/import.py');
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (piece: Buffer) => (output += String(piece)));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const call = (
    method: string,
    path: string,
    body?: object,
    asOperator = true,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<[number, string]> =>
    new Promise((resolve, reject) => {
      const own = asOperator ? { cert: client['tls.crt'], key: client['tls.key'] } : {};
      const asked = request(
        {
          host: '127.0.0.1',
          port,
          path,
          method,
          ca: client['ca.crt'],
          servername: 'patroni.db.apps.svc',
          agent: false,
          headers,
          ...own,
        },
        (answer) => {
          let text = '';
          answer.on('data', (piece: Buffer) => (text += String(piece)));
          answer.on('end', () => resolve([answer.statusCode ?? 0, text]));
        },
      );
      asked.on('error', reject);
      asked.end(body === undefined ? undefined : JSON.stringify(body));
    });
  const tell: Import['tell'] = async (path, body, asOperator = true, headers = {}) =>
    (await call('POST', path, body, asOperator, headers))[0];
  const seen = async (): Promise<ImportSeen | undefined> => {
    const answer = await call('GET', '/patroni').catch(() => undefined);
    return answer === undefined ? undefined : importSeen((JSON.parse(answer[1]) as { import?: unknown }).import);
  };
  return {
    seen,
    tell,
    async until(isSo, ms = 100_000) {
      const end = Date.now() + ms;
      for (;;) {
        const now = await seen();
        if (now !== undefined && isSo(now)) return now;
        if (Date.now() > end || child.exitCode !== null)
          throw new Error(
            `the import says ${JSON.stringify(now)}, exit code ${child.exitCode}:\n${output.slice(-4000)}`,
          );
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    async open(password = 'import-me', ca) {
      for (;;) {
        if ((await seen()) !== undefined) break;
        if (child.exitCode !== null) throw new Error(`the import has ended:\n${output}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      await tell('/import', { password, digest: 'd', ...(ca === undefined ? {} : { ca }) });
    },
    async cutOver(value) {
      await tell('/cut-over', { value });
    },
    ended,
    kill(signal) {
      child.kill(signal);
      if (signal === 'SIGTERM') return;
      // With the first process of a container, all others end.
      const path = join(home.directory, 'volume/imported/postmaster.pid');
      if (existsSync(path)) process.kill(Number(readFileSync(path, 'utf8').split('\n')[0]), 'SIGKILL');
    },
    log: () => output,
    pid: child.pid ?? 0,
    port,
  };
}

/** What the volume holds of the import. */
export function importRecord(home: PostgresHome): Readonly<Record<string, unknown>> {
  const path = join(home.directory, 'volume/imported.json');
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>) : {};
}

/** Lines of `pg_hba.conf` that let the importer in by password. */
export const importerHba = ['host replication importer all scram-sha-256', 'host all importer all reject'];
