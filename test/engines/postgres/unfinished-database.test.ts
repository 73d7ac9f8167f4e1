/** `relabel.py begin-anew` on real directories: what becomes of a database that an earlier start has not finished. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Certificates, openAuthority } from '../../support/etcd-certificates.ts';

let certificates: Certificates;
let root: string;
let server: Server;
const at = (path: string): string => join(root, path);

/** Of Patroni's ConfigMap; undefined where that is gone. */
let annotations: Record<string, string> | undefined;
let version = 1;
/** What becomes of the first requests instead: a status, no answer, or an answer after somebody else has written the ConfigMap. */
let refusals: ('nothing' | 'no answer' | 'changed' | number)[] = [];
/** Requests, and whether the data was in its place then. */
let asked: string[] = [];

beforeAll(() => {
  const authority = openAuthority();
  certificates = authority.issue(['127.0.0.1']);
  authority.close();
});

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'unfinished-'));
  [annotations, version, refusals, asked] = [{ initialize: '' }, 1, [], []];
  for (const directory of ['config', 'account', 'volume', 'wal']) mkdirSync(at(directory));
  writeFileSync(at('config/patroni.yml'), JSON.stringify({ scope: 'db' }));
  for (const [name, text] of Object.entries({ token: 't', namespace: 'apps', 'ca.crt': certificates['ca.crt'] }))
    writeFileSync(at(`account/${name}`), text);
  server = createServer(
    { cert: certificates['tls.crt'], key: certificates['tls.key'] },
    (message, response) => void answer(message, response),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
  rmSync(root, { recursive: true });
});

async function answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = '';
  for await (const chunk of message) body += chunk;
  asked.push(`${message.method} ${existsSync(at('volume/data')) ? 'in place' : 'moved'}`);
  const refusal = refusals.shift();
  if (refusal === 'no answer') return void message.socket.destroy();
  if (refusal === 'changed') version++;
  const say = (status: number, value: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(value));
  };
  if (typeof refusal === 'number') return say(refusal, {});
  const metadata = { name: 'db-config', resourceVersion: String(version), annotations };
  if (message.method === 'GET') {
    const others = [{ metadata: { name: 'db-leader', resourceVersion: '9', annotations: { initialize: '' } } }];
    return say(200, { items: annotations === undefined ? others : [...others, { metadata }] });
  }
  const change = JSON.parse(body).metadata;
  if (annotations === undefined) return say(404, {});
  if (message.url !== '/api/v1/namespaces/apps/configmaps/db-config') return say(403, {});
  if (change.resourceVersion !== String(version)) return say(409, {});
  version++;
  for (const [name, value] of Object.entries(change.annotations)) if (value === null) delete annotations[name];
  say(200, {});
}

function database(): void {
  mkdirSync(at('volume/data/global'), { recursive: true });
  writeFileSync(at('volume/data/global/pg_control'), 'unfinished');
  mkdirSync(at('wal/pg_wal'), { recursive: true });
  writeFileSync(at('wal/pg_wal/000000010000000000000001'), 'log');
  symlinkSync(at('wal/pg_wal'), at('volume/data/pg_wal'));
}

const rename = (from: string, to: string): void => renameSync(at(from), at(to));
/** To where the log is moved. */
const relink = (): void => {
  rmSync(at('volume/data/pg_wal'));
  symlinkSync(at('wal/pg_wal.failed'), at('volume/data/pg_wal'));
};

async function beginAnew(): Promise<number> {
  const { port } = server.address() as AddressInfo;
  const env = {
    PATH: process.env.PATH,
    ROLE_LABEL: 'role',
    MEMBER_SELECTOR: 'app=db,part=member',
    ACCOUNT_DIRECTORY: at('account'),
    CONFIG_DIRECTORY: at('config'),
    DATA_DIRECTORY: at('volume/data'),
    WAL_DIRECTORY: at('wal/pg_wal'),
    KUBERNETES_SERVICE_HOST: '127.0.0.1',
    KUBERNETES_SERVICE_PORT: String(port),
  };
  const script = 'src/engines/postgres/resources/shell/relabel.py';
  const child = spawn('python3', ['-IS', script, 'begin-anew'], { env, stdio: 'inherit' });
  return (await once(child, 'exit'))[0] as number;
}

const isInPlace = (): boolean => existsSync(at('volume/data/global/pg_control')) && existsSync(at('wal/pg_wal'));
const expectMoved = (): void => {
  expect([existsSync(at('volume/data')), existsSync(at('wal/pg_wal'))]).toEqual([false, false]);
  expect(readFileSync(at('volume/data.failed/global/pg_control'), 'utf8')).toBe('unfinished');
  expect(readlinkSync(at('volume/data.failed/pg_wal'))).toBe(at('wal/pg_wal.failed'));
  expect(readFileSync(at('volume/data.failed/pg_wal/000000010000000000000001'), 'utf8')).toBe('log');
  expect(annotations).toEqual({});
};

it.each<readonly [string, Record<string, string> | undefined]>([
  ['was finished', { initialize: '7001' }],
  ['Patroni has not begun', {}],
  ['Patroni’s ConfigMap says nothing of, because it is gone', undefined],
])('a database that %s stays', async (_, found) => {
  annotations = found;
  database();
  expect(await beginAnew()).toBe(0);
  expect(isInPlace()).toBe(true);
  expect(asked).toEqual(['GET in place']);
  expect(annotations).toEqual(found);
});

it('a database that was not finished is moved aside with its log, and then another one may be made', async () => {
  database();
  expect(await beginAnew()).toBe(0);
  expectMoved();
  expect(asked).toEqual(['GET in place', 'PATCH moved']);
});

it('only the mark is taken back where nothing was made yet', async () => {
  expect(await beginAnew()).toBe(0);
  expect(annotations).toEqual({});
});

it('nothing is moved before the API server has said that it may be', async () => {
  refusals = ['no answer', 403, 503];
  database();
  expect(await beginAnew()).toBe(0);
  expectMoved();
  expect(asked).toEqual([...Array(4).fill('GET in place'), 'PATCH moved']);
});

it('a ConfigMap that changes meanwhile is looked at again', async () => {
  refusals = ['nothing', 'changed'];
  database();
  expect(await beginAnew()).toBe(0);
  expectMoved();
  expect(asked).toEqual(['GET in place', 'PATCH moved', 'GET moved', 'PATCH moved']);
});

it.each<readonly [string, () => void]>([
  ['the log had been moved', () => rename('wal/pg_wal', 'wal/pg_wal.failed')],
  ['the link led to where it is now', () => [rename('wal/pg_wal', 'wal/pg_wal.failed'), relink()]],
  [
    'everything had been moved',
    () => [rename('wal/pg_wal', 'wal/pg_wal.failed'), relink(), rename('volume/data', 'volume/data.failed')],
  ],
])('it goes on after a kill when %s', async (_, left) => {
  database();
  left();
  expect(await beginAnew()).toBe(0);
  expectMoved();
});

it('one is kept: that of an attempt before goes', async () => {
  for (const directory of ['volume/data.failed', 'wal/pg_wal.failed']) {
    mkdirSync(at(directory));
    writeFileSync(at(`${directory}/of-before`), '');
  }
  database();
  expect(await beginAnew()).toBe(0);
  expectMoved();
  expect([existsSync(at('volume/data.failed/of-before')), existsSync(at('wal/pg_wal.failed/of-before'))]).toEqual([
    false,
    false,
  ]);
});
