/** What a target holds, without any cluster: the agent that ships looks into it, and what it prints restores. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { validateCluster } from '../../src/api/validate.ts';
import { type RunAgent, runAgent } from '../../src/cli/backup/agent-process.ts';
import { listBackups } from '../../src/cli/backup/list.ts';
import { handlers as engines } from '../support/handlers.ts';
import { type BackupStore, etcdManifest, openStore } from '../support/stored-backup.ts';
import { type World, world } from './world.ts';

const home = mkdtempSync(join(tmpdir(), 'backup-target-'));
const bundle = join(home, 'agent.mjs');
let store: BackupStore;

beforeAll(() => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
  const command = (scripts['bundle:agent'] ?? '').replace('build/agent.mjs', bundle);
  execFileSync('sh', ['-c', command], { env: { ...process.env, PATH: `node_modules/.bin:${process.env.PATH}` } });
}, 30_000);
beforeEach(() => {
  store = openStore();
  return () => store.close();
});
afterAll(() => rmSync(home, { recursive: true }));

const directory = (): string => join(store.home, 'claim', 'backups');

/** On real files, with the agent as it ships. */
function here(options: { readonly env?: NodeJS.ProcessEnv; readonly agent?: RunAgent } = {}): World {
  const agent: RunAgent = (taskFor, files) => runAgent(taskFor, files, bundle);
  const { env = {} } = options;
  return { ...world({ agent: options.agent ?? agent }), env, readText: (path) => readFile(path, 'utf8') };
}

/** The manifest of a new cluster with what was printed to be pasted. */
function pasted(kind: string, printed: string): unknown {
  const { spec } = parse(printed.slice(printed.indexOf('\n# A '))) as { readonly spec: object };
  return { apiVersion: 'clusterwright.dev/v1alpha1', kind, metadata: { name: 'again', namespace: 'new' }, spec };
}

function verdictOn(kind: string, printed: string): unknown {
  const engine = engines.find((candidate) => candidate.kind.resource.kind === kind);
  return engine && validateCluster(engine.kind, pasted(kind, printed));
}

describe('backup list --target of a directory', () => {
  it('shows what is there, newest first, and what to paste for the newest', async () => {
    const older = await store.add({ id: '20261119T031502Z-00000001' });
    const newer = await store.add({ ...etcdManifest, id: '20261120T031502Z-00000002' });
    const cli = here();
    expect(await listBackups({ target: directory(), key: store.keyFile }, cli)).toBe(0);
    const [heading, ...rows] = cli.printed.out.split('\n\n')[0]?.split('\n') ?? [];
    expect(heading).toMatch(/^ID +NAMESPACE +CLUSTER +VERSION +SIZE +AGE +UID$/);
    expect(rows.map((row) => row.split(/ {2,}/).filter((_, column) => [0, 2, 3, 6].includes(column)))).toEqual([
      [newer.id, 'etcdcluster/db', '3.6.16', 'uid-2'],
      [older.id, `rediscluster/${older.cluster.name}`, older.engineVersion, older.cluster.uid],
    ]);
    expect(pasted('EtcdCluster', cli.printed.out)).toMatchObject({
      spec: {
        bootstrap: { restore: { id: newer.id, cluster: { namespace: 'apps', name: 'db', uid: 'uid-2' } } },
      },
    });
  });

  it('says of an etcd that asks for passwords that one of them is needed', async () => {
    const state = {
      engine: 'etcd',
      clusterId: '1',
      memberId: '2',
      revision: '3',
      keys: 1,
      authentication: true,
    } as const;
    const { id } = await store.add({ ...etcdManifest, formatVersion: 2, sequence: 1, state });
    const cli = here();
    await listBackups({ target: directory(), key: store.keyFile }, cli);
    expect(cli.printed.err).toMatch(new RegExp(`^${id}: its data asks for the password that etcd's root had then`));
  });

  it('does not offer one that holds suddenly little unless it is asked for, and says why', async () => {
    const empty = { engine: 'redis', replicationId: 'c'.repeat(40), offset: 1, approximateKeys: {} } as const;
    const real = await store.add({ id: '20261119T031502Z-00000001' });
    const late = await store.add({ id: '20261120T031502Z-00000002', state: empty });
    const cli = here();
    await listBackups({ target: directory(), key: store.keyFile }, cli);
    expect(cli.printed.err).toBe(`${late.id}: it holds no keys, and ${real.id} held 3 keys\n`);
    expect(pasted('RedisCluster', cli.printed.out)).toMatchObject({
      spec: { bootstrap: { restore: { id: real.id } } },
    });
    const asked = here();
    await listBackups({ target: directory(), key: store.keyFile, id: late.id }, asked);
    expect(pasted('RedisCluster', asked.printed.out)).toMatchObject({
      spec: { bootstrap: { restore: { id: late.id } } },
    });
  });

  it('shows the one that is asked for as data', async () => {
    const one = await store.add({}, { isEncrypted: false });
    const cli = here();
    await listBackups({ target: directory(), output: 'json' }, cli);
    const { backups } = JSON.parse(cli.printed.out) as { readonly backups: readonly object[] };
    expect(backups).toMatchObject([{ id: one.id, plainBytes: one.data.plainBytes, restore: { id: one.id } }]);
    expect(backups[0]).not.toHaveProperty('restore.encryption');
  });

  it('lists what it has no key for by its folder', async () => {
    const one = await store.add();
    const cli = here();
    await listBackups({ target: directory() }, cli);
    expect(cli.printed.out).toContain(`rediscluster/?`);
    expect(cli.printed.err).toMatch(/^1 cannot be read here: encrypted with a key, and --key names none/);
    expect(pasted('RedisCluster', cli.printed.out)).toMatchObject({
      spec: { bootstrap: { restore: { cluster: { uid: one.cluster.uid }, id: one.id, encryption: {} } } },
    });
  });

  it('says that there is none, or none of that id', async () => {
    const cli = here();
    expect(await listBackups({ target: directory() }, cli)).toBe(0);
    expect(cli.printed.out).toBe('');
    expect(cli.printed.err).toContain(`${directory()} holds no backup: looked for ${directory()}/NAMESPACE/KIND/`);
    await expect(listBackups({ target: directory(), id: '20261120T031502Z-00000002' }, here())).rejects.toThrow(
      'holds no backup with the id 20261120T031502Z-00000002',
    );
  });

  it('leaves nothing of the key behind', async () => {
    let used = '';
    const agent: RunAgent = (taskFor, files) =>
      runAgent((pathOf) => taskFor((name) => (used = pathOf(name))), files, bundle);
    await listBackups({ target: directory(), key: store.keyFile }, here({ agent }));
    expect(() => readdirSync(join(used, '..'))).toThrow('ENOENT');
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('leaves nothing behind after %s, either', async (signal) => {
    const endless = join(home, 'endless.mjs');
    writeFileSync(endless, 'setInterval(() => {}, 1000);');
    const before = process.listenerCount(signal);
    let used = '';
    const taskFor: Parameters<RunAgent>[0] = (pathOf) => {
      used = pathOf('key');
      return {};
    };
    const running = runAgent(taskFor, { key: 'a key' }, endless);
    await vi.waitFor(() => expect(process.listenerCount(signal)).toBeGreaterThan(before), { timeout: 20_000 });
    expect(readFileSync(used, 'utf8')).toBe('a key');
    process.emit(signal);
    await expect(running).rejects.toThrow('has ended without a result: ended by SIGTERM');
    expect(() => readdirSync(join(used, '..'))).toThrow('ENOENT');
    expect(process.listenerCount(signal)).toBe(before);
  });
});

describe('backup list --target of a file', () => {
  const s3 = '{ endpoint: "https://s3.example.com", bucket: backups, prefix: team-a, credentials: s3 }';
  const restore = { target: { s3: parse(s3) as object }, encryption: { secret: 'backup-key' } };
  const env = { AWS_ACCESS_KEY_ID: 'an-id', AWS_SECRET_ACCESS_KEY: 'a-secret' };
  const file = (text: string): string => {
    const path = join(store.home, 'target.yaml');
    writeFileSync(path, text);
    return path;
  };
  const path = 'team-a/apps/RedisCluster/uid-1/20261120T031502Z-00000002';

  it.each([
    ['a target alone', `s3: ${s3}`, 'NAME-OF-THE-SECRET-WITH-THE-KEY'],
    ['a schedule', `spec: { target: { s3: ${s3} }, encryption: { secret: backup-key } }`, 'backup-key'],
    ['a cluster', `spec: { backup: ${JSON.stringify(restore)} }`, 'backup-key'],
    ['a cluster that was restored', `spec: { bootstrap: { restore: ${JSON.stringify(restore)} } }`, 'backup-key'],
  ])('reads %s, and prints it again', async (_, text, secret) => {
    const asked: unknown[] = [];
    const agent: RunAgent = (taskFor, files) => {
      asked.push(JSON.parse(JSON.stringify(taskFor((name) => `/tmp/${name}`))), files);
      const log = [{ message: 'a manifest cannot be gone by', folder: path }];
      return Promise.resolve({ result: { result: 'listed', total: 1, backups: [], unusable: 1 }, log });
    };
    const cli = here({ env, agent });
    expect(await listBackups({ target: file(text) }, cli)).toBe(0);
    expect(asked).toEqual([
      {
        task: 'list',
        which: {},
        target: {
          type: 's3',
          endpoint: 'https://s3.example.com',
          region: 'us-east-1',
          bucket: 'backups',
          prefix: 'team-a',
          pathStyle: true,
          accessKeyIdFile: '/tmp/accessKeyId',
          secretAccessKeyFile: '/tmp/secretAccessKey',
        },
      },
      { accessKeyId: 'an-id', secretAccessKey: 'a-secret' },
    ]);
    expect(pasted('RedisCluster', cli.printed.out)).toMatchObject({
      spec: { bootstrap: { restore: { target: restore.target, encryption: { secret } } } },
    });
    expect(verdictOn('RedisCluster', cli.printed.out)).toMatchObject({ ok: secret === 'backup-key' });
  });

  it.each([
    ['no target', 'kind: Pod', 'names no target'],
    ['a claim', 'spec: { target: { claim: { name: backups } } }', 'its target is a claim: mount it'],
    [
      'a mistake',
      's3: { endpoint: s3.example.com, bucket: backups, credentials: s3 }',
      's3.endpoint: must be a URL without a path',
    ],
    ['two targets', `{ s3: ${s3}, claim: { name: backups } }`, 'must have either s3 or claim'],
  ])('names the fault of %s', async (_, text, message) => {
    await expect(listBackups({ target: file(text) }, here({ env }))).rejects.toThrow(message);
  });

  it('leaves it to the agent who it is, where the platform says so', async () => {
    const asked: unknown[] = [];
    const agent: RunAgent = (taskFor, files) => {
      asked.push(
        taskFor((name) => name),
        files,
      );
      return Promise.resolve({ result: { result: 'listed', total: 0, backups: [], unusable: 0 }, log: [] });
    };
    const cli = here({ env: { AWS_WEB_IDENTITY_TOKEN_FILE: '/token' }, agent });
    const target = file(`s3: ${s3.replace('credentials: s3', 'serviceAccountName: backups')}`);
    expect(await listBackups({ target }, cli)).toBe(0);
    expect(asked).toEqual([
      expect.objectContaining({ target: expect.not.objectContaining({ accessKeyIdFile: expect.anything() }) }),
      {},
    ]);
  });

  it('needs credentials', async () => {
    await expect(listBackups({ target: file(`s3: ${s3}`) }, here())).rejects.toThrow('AWS_SECRET_ACCESS_KEY');
  });

  it('says what stood in the way', async () => {
    const closed = s3.replace('https://s3.example.com', 'http://127.0.0.1:1');
    await expect(listBackups({ target: file(`s3: ${closed}`) }, here({ env }))).rejects.toThrow(/127\.0\.0\.1/);
  });

  it('tells the last words of an agent that ended without a result, whatever Node warned of', async () => {
    const broken = join(home, 'broken.mjs');
    const text = `process.emitWarning('old'); console.error('out of luck'); setImmediate(() => process.exit(1));`;
    writeFileSync(broken, text);
    await expect(runAgent(() => ({}), {}, broken)).rejects.toThrow(
      `${broken}, has ended without a result: exit code 1\nout of luck`,
    );
  });

  it('has options that mean nothing without it', async () => {
    await expect(listBackups({ key: 'k' }, here())).rejects.toThrow('--key is for --target');
  });
});
