/** Real servers that show the certificate of a user, with the configuration that members get: who is let in by certificate, and who is not. */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeLeaf } from '../../../src/certificates/certificate.ts';
import type { Values } from '../../../src/certificates/facts.ts';
import type { EngineContext } from '../../../src/engine/engine-context.ts';
import { withSession } from '../../../src/engines/postgres/client/session.ts';
import { paths, roles } from '../../../src/engines/postgres/names.ts';
import { observeShown } from '../../../src/engines/postgres/observe/shown-certificate.ts';
import { memberConfig } from '../../../src/engines/postgres/resources/patroni-config.ts';
import { sleep, systemClock } from '../../../src/system/clock.ts';
import { dialTcp } from '../../../src/system/dial.ts';
import {
  initialise,
  openHome,
  type PostgresHome,
  type PostgresProcess,
  postgresUser,
  startPostgres,
} from '../../support/postgres-process.ts';
import { postgresPrograms } from '../../support/postgres-program.ts';
import { postgresCluster } from '../../support/postgres-situation.ts';
import { postgresSecrets } from '../../support/scripted-patroni.ts';
import { brought, company, fingerprintOf, fromSecret, source } from '../../support/shown-certificates.ts';

const io: Pick<EngineContext, 'dial' | 'sleep'> = {
  dial: dialTcp,
  sleep: (ms, signal) => sleep(systemClock, ms, signal),
};
const cluster = postgresCluster(fromSecret);
const secrets = postgresSecrets(cluster, Date.now());
const ca = company();
const operators = [roles.operator, roles.replication, roles.rewind];
const dayMs = 86_400_000;
const life = { from: Date.now() - dayMs, to: Date.now() + dayMs };

interface Configured {
  readonly postgresql: { readonly parameters: Readonly<Record<string, string>>; readonly pg_hba: readonly string[] };
}
const { postgresql } = JSON.parse(memberConfig(cluster)) as Configured;

/** As by openssl: our own CAs have ECDSA keys, and identifiers of them. */
function signedBy(key: string, ...more: readonly string[]): Values {
  const directory = mkdtempSync(join(tmpdir(), 'openssl-'));
  const openssl = (words: string): void =>
    void execFileSync('openssl', words.split(' '), { cwd: directory, stdio: 'pipe' });
  try {
    openssl(['req -x509 -nodes -keyout ca.key -out ca.crt -subj /CN=shop -days 2 -newkey', key, ...more].join(' '));
    openssl('req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout tls.key -out tls.csr -subj /O=shop');
    writeFileSync(
      join(directory, 'extensions'),
      'subjectAltName=DNS:db-primary.apps.svc\nextendedKeyUsage=serverAuth\nauthorityKeyIdentifier=none\n',
    );
    openssl('x509 -req -in tls.csr -CA ca.crt -CAkey ca.key -CAcreateserial -out tls.crt -days 2 -extfile extensions');
    return Object.fromEntries(
      ['ca.crt', 'tls.crt', 'tls.key'].map((name) => [name, readFileSync(join(directory, name), 'utf8')]),
    );
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const faultOf = async (values: Values, copy?: Values): Promise<string | undefined> => {
  const secret = (name: string) =>
    Promise.resolve(name === source ? values : name === 'db-shown-tls' ? copy : undefined);
  return (await observeShown(cluster, { secret, now: Date.now } as unknown as EngineContext))?.source.source.fault;
};

it('two CAs of one name are followed one by the other where each has an identifier of its key, and refused where not', async () => {
  const curve = 'ec -pkeyopt ec_paramgen_curve:prime256v1';
  const plain = '-addext subjectKeyIdentifier=none -addext authorityKeyIdentifier=none';
  const [old, next] = [signedBy(curve, plain), signedBy(curve, plain)];
  expect(await faultOf(next)).toBeUndefined();
  expect(await faultOf(next, old)).toMatch(/a CA that clients do not tell from the one that they trust now/);
  expect(await faultOf(brought(company()), brought(company()))).toBeUndefined();
});

describe.each([...postgresPrograms])('PostgreSQL %s', (_, program) => {
  let home: PostgresHome;
  let server: PostgresProcess;

  const put = (name: string, text = ''): void => {
    const path = join(home.directory, name);
    writeFileSync(path, text);
    chmodSync(path, 0o600);
    chownSync(path, postgresUser, postgresUser);
  };
  /** The files of the pod, as the volume has them. */
  const show = (copy: Values): void => {
    put('server.crt', copy['tls.crt']);
    put('server.key', copy['tls.key']);
    put('server-ca.crt', copy['ca.crt']);
  };
  const session = (
    trusted: Values,
    by: { readonly certificate: string; readonly key: string } | undefined,
    user: string,
  ) => ({
    address: '127.0.0.1',
    port: server.port,
    login: { user, database: 'postgres' },
    tls: {
      ca: trusted['ca.crt'] ?? '',
      anyName: true,
      ...(by === undefined ? {} : { cert: by.certificate, key: by.key }),
    },
    timeoutMs: 5000,
  });
  const ask = (target: Parameters<typeof withSession>[1]): Promise<string | undefined> =>
    withSession(io, target, async (connection, shown) => {
      await connection.query('SELECT 1');
      return shown;
    });
  const first = brought(ca);

  beforeAll(async () => {
    home = openHome(program);
    initialise(home, 'member');
    show(first);
    put('ca.crt', secrets['db-server-tls']?.['ca.crt']);
    const at = (file: string): string => `/data/${basename(file)}`;
    const config = Object.entries(postgresql.parameters)
      .filter(([name]) => name.startsWith('ssl') || name === 'password_encryption')
      .map(([name, value]) => `${name} = '${value.startsWith(paths.tls) ? at(value) : value}'`);
    const hba = postgresql.pg_hba.filter((line) => line.startsWith('hostssl'));
    server = await startPostgres(home, 'member', { config, hba });
    await server.sql(
      [
        ...operators.map((role) => `CREATE ROLE ${role} LOGIN REPLICATION`),
        "CREATE ROLE app LOGIN PASSWORD 'secret'",
      ].join(';'),
    );
  });
  afterAll(async () => {
    await server?.stop();
    home?.remove();
  });

  it.each(operators)('refuses %s with a certificate of the CA that has signed the server’s', async (role) => {
    const of = makeLeaf({ organisation: 'db', commonName: role, names: [], usages: ['client'] }, life, ca);
    const said = server.log().length;
    // In TLS 1.3 a client hears of it after its handshake.
    await expect(ask(session(first, of, role))).rejects.toThrow(/has ended|alert/);
    await expect
      .poll(() => server.log().slice(said))
      .toMatch(/could not accept SSL connection: (certificate verify failed|tlsv1 alert unknown ca)/);
  });

  it('lets the operator in with its own, and shows the certificate of the user', async () => {
    const { 'tls.crt': certificate = '', 'tls.key': key = '' } = secrets['db-operator-tls'] ?? {};
    expect(await ask(session(first, { certificate, key }, roles.operator))).toBe(fingerprintOf(first));
    // Nobody is let in without one.
    await expect(ask(session(first, undefined, roles.operator))).rejects.toThrow(/certificate/);
  });

  it('reads another one at a reload, and those who are connected go on', async () => {
    const { 'tls.crt': certificate = '', 'tls.key': key = '' } = secrets['db-operator-tls'] ?? {};
    const second = brought(ca);
    const target = session(second, { certificate, key }, roles.operator);
    await withSession(io, target, async (connection) => {
      show(second);
      expect(await ask(target)).toBe(fingerprintOf(first));
      await server.sql('SELECT pg_reload_conf()');
      await expect.poll(() => ask(target)).toBe(fingerprintOf(second));
      expect((await connection.query('SELECT 1')).at(-1)?.rows).toEqual([['1']]);
    });
  });

  const login = (trusted: Values): string => {
    put('trusted.crt', trusted['ca.crt']);
    const target = `host=127.0.0.1 port=${server.port} user=app password=secret dbname=postgres sslmode=verify-ca sslrootcert=/data/trusted.crt`;
    try {
      return home.run('psql', '-X', '-At', '-c', 'select 1', target).trim();
    } catch (error) {
      return String((error as { readonly stderr?: string }).stderr);
    }
  };

  it('accepts a password, bound to the certificate; with a signature of Ed25519 it accepts none, so that is refused before', async () => {
    const third = brought(ca);
    const reload = async (copy: Values): Promise<void> => {
      show(copy);
      await server.sql('SELECT pg_reload_conf()');
    };
    await reload(third);
    await expect.poll(() => login(third)).toBe('1');
    const bad = signedBy('ed25519');
    await reload(bad);
    await expect.poll(() => login(bad)).toMatch(/could not find digest for NID UNDEF/);
    expect(await faultOf(bad)).toMatch(/ed25519/);
  });
});
