/** `relabel.py begin-anew` on real directories: what becomes of a database that an earlier start has not finished. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
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
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Certificates, openAuthority } from '../../support/etcd-certificates.ts';

let certificates: Certificates;
let root: string;
let server: Server;
const at = (path: string): string => join(root, path);

/** Of Patroni's ConfigMap; undefined where that is gone. */
let annotations: Record<string, string> | undefined;
/** Of those of the lock and of the synchronous state; absent where one is gone. */
let others: Record<string, Record<string, string>> = {};
let version = 1;
/** What becomes of the first requests instead: a status, no answer, or an answer after somebody else has written the ConfigMap. */
let refusals: ('nothing' | 'no answer' | 'changed' | number)[] = [];
const uids = { config: 'uid-1' };
/** Requests, and whether the data was in its place then. */
let asked: string[] = [];
/** What somebody else does once so many requests have been answered. */
let afterAnswers = 0;
let onAnswer: () => void = () => undefined;

const claim = 'clusterwright.dev/begins-anew';
/** How it goes where nobody interferes. */
const claimed = ['GET in place', 'PATCH in place', 'GET in place', 'PATCH moved'];

beforeAll(() => {
  const authority = openAuthority();
  certificates = authority.issue(['127.0.0.1']);
  authority.close();
});

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'unfinished-'));
  [annotations, version, refusals, asked] = [{ initialize: '' }, 1, [], []];
  [afterAnswers, onAnswer] = [0, () => undefined];
  others = { 'db-leader': { initialize: '' }, 'db-sync': {} };
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
  if (asked.length === afterAnswers + 1) onAnswer();
  const refusal = refusals.shift();
  if (refusal === 'no answer') return void message.socket.destroy();
  if (refusal === 'changed') version++;
  const say = (status: number, value: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(value));
  };
  if (typeof refusal === 'number') return say(refusal, {});
  const metadata = { name: 'db-config', uid: uids.config, resourceVersion: String(version), annotations };
  if (message.url?.includes('/pods?')) return say(200, { items: [] });
  if (message.url?.endsWith('/db-leader')) return say(200, { metadata: { annotations: others['db-leader'] } });
  if (message.method === 'GET') {
    const items = Object.entries(others).map(([name, found]) => ({
      metadata: { name, resourceVersion: '9', ...(Object.keys(found).length === 0 ? {} : { annotations: found }) },
    }));
    return say(200, { items: annotations === undefined ? items : [...items, { metadata }] });
  }
  const change = JSON.parse(body).metadata;
  if (annotations === undefined) return say(404, {});
  if (message.url !== '/api/v1/namespaces/apps/configmaps/db-config') return say(403, {});
  if (change.resourceVersion !== String(version)) return say(409, {});
  version++;
  for (const [name, value] of Object.entries(change.annotations)) {
    if (value === null) delete annotations[name];
    else annotations[name] = String(value);
  }
  say(200, {});
}

/** As PostgreSQL writes it: the identifier first. */
function control(words: string, id = 7_480_000_000_000_000_001n): Buffer {
  const file = Buffer.alloc(8192);
  new BigUint64Array(file.buffer, file.byteOffset, 1)[0] = id;
  file.write(words, 8);
  return file;
}

function database(): void {
  mkdirSync(at('volume/data/global'), { recursive: true });
  writeFileSync(at('volume/data/global/pg_control'), control('unfinished'));
  mkdirSync(at('wal/pg_wal'), { recursive: true });
  writeFileSync(at('wal/pg_wal/000000010000000000000001'), 'log');
  symlinkSync(at('wal/pg_wal'), at('volume/data/pg_wal'));
}

const rename = (from: string, to: string): void => renameSync(at(from), at(to));
/** To where the log is moved. */
const relink = (): void => {
  rmSync(at('volume/data/pg_wal'));
  symlinkSync(at('wal/pg_wal.unfinished'), at('volume/data/pg_wal'));
};

const beginAnew = (): Promise<number> => run('begin-anew');

async function run(...words: readonly string[]): Promise<number> {
  const { port } = server.address() as AddressInfo;
  const env = {
    PATH: process.env.PATH,
    ROLE_LABEL: 'role',
    MEMBER_SELECTOR: 'app=db,part=member',
    POD_NAME: 'db-0-0',
    ACCOUNT_DIRECTORY: at('account'),
    CONFIG_DIRECTORY: at('config'),
    DATA_DIRECTORY: at('volume/data'),
    WAL_DIRECTORY: at('wal/pg_wal'),
    KUBERNETES_SERVICE_HOST: '127.0.0.1',
    KUBERNETES_SERVICE_PORT: String(port),
  };
  const script = 'src/engines/postgres/resources/shell/relabel.py';
  const child = spawn('python3', ['-IS', script, ...words], { env, stdio: 'inherit' });
  return (await once(child, 'exit'))[0] as number;
}

const isInPlace = (): boolean => existsSync(at('volume/data/global/pg_control')) && existsSync(at('wal/pg_wal'));
const expectMoved = (suffix = '.unfinished'): void => {
  expect([existsSync(at('volume/data')), existsSync(at('wal/pg_wal'))]).toEqual([false, false]);
  expect(readFileSync(at(`volume/data${suffix}/global/pg_control`), 'utf8')).toContain('unfinished');
  expect(readlinkSync(at(`volume/data${suffix}/pg_wal`))).toBe(at(`wal/pg_wal${suffix}`));
  expect(readFileSync(at(`volume/data${suffix}/pg_wal/000000010000000000000001`), 'utf8')).toBe('log');
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

it.each<readonly [string, string, Record<string, string>]>([
  ['has the lock', 'db-leader', { leader: 'db-0-0' }],
  ['has had the lock', 'db-leader', { acquireTime: '2026-01-01T00:00:00Z' }],
  ['has renewed the lock', 'db-leader', { renewTime: '2026-01-01T00:00:00Z' }],
  ['has written its position', 'db-leader', { optime: '67109192' }],
  ['has named itself for the standbys', 'db-sync', { leader: 'db-0-0', quorum: '0' }],
])('a database whose member %s stays: commits may have been acknowledged', async (_, name, found) => {
  others[name] = found;
  database();
  expect(await beginAnew()).toBe(0);
  expect(isInPlace()).toBe(true);
  expect(asked).toEqual(['GET in place']);
  expect(annotations).toEqual({ initialize: '' });
});

/** Patroni takes the mark back before it moves what it could not make. */
describe('data without a mark', () => {
  const forming = 'volume/clusterwright.forming';
  beforeEach(() => {
    annotations = {};
    database();
  });

  it.each<readonly [string, () => void]>([
    ['are whole, and may lack roles', () => undefined],
    ['have no control file', () => rmSync(at('volume/data/global/pg_control'))],
  ])('are moved aside where they were begun here and %s', async (_, left) => {
    writeFileSync(at(forming), uids.config);
    left();
    expect(await beginAnew()).toBe(0);
    expect([existsSync(at('volume/data')), existsSync(at('volume/data.unfinished/global'))]).toEqual([false, true]);
    expect(readFileSync(at(forming), 'utf8')).toBe(uids.config);
    expect(annotations).toEqual({});
    expect(asked).toEqual(claimed);
  });

  it('are a database that was begun as soon as they are claimed', async () => {
    writeFileSync(at(forming), uids.config);
    afterAnswers = 2;
    const seen: unknown[] = [];
    onAnswer = () => seen.push({ ...annotations });
    expect(await beginAnew()).toBe(0);
    expect(seen).toEqual([{ initialize: '', [claim]: 'db-0-0' }]);
  });

  it('stay where a member has had the lock, and are finished then', async () => {
    writeFileSync(at(forming), uids.config);
    others['db-leader'] = { optime: '67109192' };
    expect(await beginAnew()).toBe(0);
    expect([isInPlace(), existsSync(at(forming))]).toEqual([true, false]);
    expect(annotations).toEqual({});
  });

  it('stay where they were begun under another ConfigMap: its lock is gone, and nobody knows whether somebody had it', async () => {
    writeFileSync(at(forming), 'uid-0');
    expect(await beginAnew()).toBe(0);
    expect(isInPlace()).toBe(true);
    expect(asked).toEqual(['GET in place']);
  });

  it.each<readonly [string, string, boolean]>([
    ['are finished once their member has the lock', 'db-0-0', false],
    ['are not while another member has it', 'db-1-0', true],
  ])('%s', async (_, leader, expected) => {
    writeFileSync(at(forming), uids.config);
    others['db-leader'] = { leader };
    expect(await run('on_start', 'primary', 'db')).toBe(0);
    expect(existsSync(at(forming))).toBe(expected);
  });

  it('stay where nothing says that they were begun here', async () => {
    rmSync(at('volume/data/global/pg_control'));
    expect(await beginAnew()).toBe(0);
    expect([existsSync(at('volume/data/global')), existsSync(at(forming))]).toEqual([true, false]);
    expect(asked).toEqual(['GET in place']);
  });
});

describe('a blank volume', () => {
  const blank = ['volume/clusterwright.forming'];
  const left = () => blank.map((path) => existsSync(at(path)));

  it.each<readonly [string, readonly string[]]>([
    ['without anything', []],
    ['with hidden files alone, as Patroni sees it', ['.snapshot', 'lost+found']],
  ])('%s gets the file that says that a database is begun there', async (_, names) => {
    annotations = {};
    for (const name of names) mkdirSync(at(`volume/data/${name}`), { recursive: true });
    expect(await beginAnew()).toBe(0);
    expect(left()).toEqual([true]);
    expect(asked).toHaveLength(1);
  });

  it.each(['db-config', 'db-leader', 'db-sync'])(
    'waits for %s: nobody else knows whether there was a primary',
    async (name) => {
      const { [name]: gone, ...rest } = others;
      if (name === 'db-config') annotations = undefined;
      else [annotations, others] = [{}, rest];
      afterAnswers = 2;
      // The operator makes it again.
      onAnswer = () => {
        annotations = {};
        others = { ...others, ...(gone === undefined ? {} : { [name]: gone }) };
      };
      expect(await beginAnew()).toBe(0);
      expect(left()).toEqual([true]);
      expect(asked).toHaveLength(3);
    },
  );

  it('of a member that copies from a primary is not', async () => {
    annotations = { initialize: '7001' };
    expect(await beginAnew()).toBe(0);
    expect(left()).toEqual([false]);
  });

  it.each([{}, { initialize: '' }])('gets no second database where a member has had the lock (%j)', async (found) => {
    annotations = found;
    others['db-leader'] = { optime: '67109192' };
    expect(await beginAnew()).toBe(78);
    expect(left()).toEqual([false]);
    expect(annotations).toEqual(found);
  });
});

it.each(['db-leader', 'db-sync'])('nothing is decided while %s is not there', async (name) => {
  const { [name]: gone, ...rest } = others;
  others = rest;
  // The operator makes it again.
  afterAnswers = 2;
  onAnswer = () => (others = { ...others, [name]: gone ?? {} });
  database();
  expect(await beginAnew()).toBe(0);
  expectMoved();
  expect(asked).toEqual(['GET in place', 'GET in place', ...claimed]);
});

it('a database that was not finished is claimed, moved aside with its log, and then another one may be made', async () => {
  database();
  expect(await beginAnew()).toBe(0);
  expectMoved();
  expect(asked).toEqual(claimed);
});

it('a member that gets the lock after the claim keeps its database', async () => {
  afterAnswers = 2;
  onAnswer = () => (others['db-leader'] = { leader: 'db-0-0' });
  database();
  expect(await beginAnew()).toBe(0);
  expect(isInPlace()).toBe(true);
  expect(asked).toEqual(claimed.slice(0, 3));
});

it('only the mark is taken back where nothing was made yet', async () => {
  expect(await beginAnew()).toBe(0);
  expect(annotations).toEqual({});
  expect(readdirSync(at('volume'))).toEqual(['clusterwright.forming']);
});

it('nothing is moved before the API server has said that it may be', async () => {
  refusals = ['no answer', 403, 503];
  database();
  expect(await beginAnew()).toBe(0);
  expectMoved();
  expect(asked).toEqual([...Array(3).fill('GET in place'), ...claimed]);
});

it.each<readonly [string, typeof refusals, string[]]>([
  ['the claim', ['nothing', 'changed'], ['GET in place', 'PATCH in place', ...claimed]],
  ['the mark is taken back', ['nothing', 'nothing', 'nothing', 'changed'], [...claimed, 'GET moved', 'PATCH moved']],
])('a ConfigMap that changes before %s is looked at again', async (_, found, expected) => {
  refusals = found;
  database();
  expect(await beginAnew()).toBe(0);
  expectMoved();
  expect(asked).toEqual(expected);
});

it.each<readonly [string, () => void]>([
  ['the log had been moved', () => rename('wal/pg_wal', 'wal/pg_wal.unfinished')],
  [
    'the new link was not in its place yet',
    () => [rename('wal/pg_wal', 'wal/pg_wal.unfinished'), symlinkSync('nowhere', at('volume/data/pg_wal.new'))],
  ],
  ['the link led to where it is now', () => [rename('wal/pg_wal', 'wal/pg_wal.unfinished'), relink()]],
  [
    'everything had been moved',
    () => [rename('wal/pg_wal', 'wal/pg_wal.unfinished'), relink(), rename('volume/data', 'volume/data.unfinished')],
  ],
])('it goes on after a kill when %s', async (_, left) => {
  annotations = { initialize: '', [claim]: 'db-0-0' };
  database();
  left();
  expect(await beginAnew()).toBe(0);
  expectMoved();
});

/** Of attempts before. */
const aside = (suffix: string, file: Buffer | undefined): void => {
  for (const directory of [`volume/data${suffix}/global`, `wal/pg_wal${suffix}`])
    mkdirSync(at(directory), { recursive: true });
  writeFileSync(at(`wal/pg_wal${suffix}/of-before`), '');
  if (file !== undefined) writeFileSync(at(`volume/data${suffix}/global/pg_control`), file);
};

it.each<readonly [string, Buffer | undefined]>([
  ['without a control file', undefined],
  ['with an empty control file', Buffer.alloc(0)],
  ['with a control file of which nothing has reached the disk', Buffer.alloc(8192)],
])('what an attempt before has left %s is removed', async (_, file) => {
  aside('.unfinished', file);
  database();
  expect(await beginAnew()).toBe(0);
  expectMoved();
  expect(existsSync(at('wal/pg_wal.unfinished/of-before'))).toBe(false);
});

it('a database that was moved aside before is kept: the next one has a number', async () => {
  aside('.unfinished', control('kept'));
  database();
  expect(await beginAnew()).toBe(0);
  expectMoved('.unfinished-2');
  expect(readFileSync(at('volume/data.unfinished/global/pg_control'), 'utf8')).toContain('kept');
  expect(existsSync(at('wal/pg_wal.unfinished/of-before'))).toBe(true);
});

it('a fourth one stays in its place, and nothing starts', async () => {
  const suffixes = ['.unfinished', '.unfinished-2', '.unfinished-3'];
  for (const suffix of suffixes) aside(suffix, control('kept'));
  database();
  expect(await beginAnew()).toBe(80);
  expect(isInPlace()).toBe(true);
  expect(suffixes.every((suffix) => existsSync(at(`wal/pg_wal${suffix}/of-before`)))).toBe(true);
  expect(annotations).toEqual({ initialize: '', [claim]: 'db-0-0' });
});

it('a member that has led keeps its database, also where another ConfigMap is not there', async () => {
  others = { 'db-leader': { optime: '67109192' } };
  database();
  expect(await beginAnew()).toBe(0);
  expect(isInPlace()).toBe(true);
});

it('what cannot be moved ends the start, and is not tried for ever', async () => {
  database();
  // Nobody removes a directory that is a file.
  writeFileSync(at('wal/pg_wal.unfinished'), '');
  expect(await beginAnew()).toBe(80);
  expect(annotations).toEqual({ initialize: '', [claim]: 'db-0-0' });
});
