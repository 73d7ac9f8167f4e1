/** A user's own cdk8s app on the package as it is published. */
import { execFile, execFileSync, type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../src/api/object.ts';
import { bundleAgent, bundleOperator, createApp, type Packed, runIn, tsc } from '../support/packed-package.ts';

/**
 * Of what compiles and bundles everything, which takes half a minute on an idle machine and many times as long on one that is slow and busy.
 * It ends only what would go on for ever.
 */
const compilingMs = 600_000;

const home = mkdtempSync(join(tmpdir(), 'clusterwright-package-'));
const app = join(home, 'app');

/** Pages with an app that can be copied. */
const documented = { 'README.md': 'readme', 'docs/install.md': 'install' } as const;

/** The only block of TypeScript in a page. */
function example(page: string): string {
  const blocks = [...readFileSync(page, 'utf8').matchAll(/```ts\n(.*?)```/gs)];
  if (blocks.length !== 1) throw new Error(`${page} has ${blocks.length} blocks of TypeScript instead of one`);
  return blocks[0]?.[1] ?? '';
}

/** What a bundle of this file is made of. */
async function inputsOf(entry: string): Promise<readonly string[]> {
  const { metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    platform: 'node',
    format: 'esm',
    metafile: true,
    write: false,
    logLevel: 'silent',
  });
  return Object.keys(metafile.inputs);
}

/** Waits without holding up what runs in this process. */
function finished([command, ...arguments_]: readonly [string, ...string[]]): Promise<{ readonly stdout: string }> {
  return new Promise((done) => {
    execFile(command, arguments_, (_, stdout) => done({ stdout }));
  });
}

/** Tells everybody who connects all of its entries. */
async function servingJournal(
  data: Buffer,
  entries: number,
): Promise<{ readonly port: number; readonly stop: () => Promise<void> }> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.end(Buffer.concat([Buffer.from(`JOURNAL 2.1 ${data.length} ${entries}\n`), data]));
  });
  await new Promise<void>((listening) => {
    server.listen(0, '127.0.0.1', listening);
  });
  const { port } = server.address() as AddressInfo;
  return { port, stop: () => new Promise((closed) => server.close(() => closed())) };
}

let packed: Packed;

beforeAll(() => {
  runIn(process.cwd(), tsc, ['-p', 'tsconfig.build.json']);
  cpSync('test/package/app', app, { recursive: true });
  packed = createApp(app);
  for (const [page, name] of Object.entries(documented)) writeFileSync(join(app, `${name}.ts`), example(page));
}, compilingMs);

afterAll(() => rmSync(home, { recursive: true }));

describe('the published package', { timeout: compilingMs }, () => {
  test('holds compiled code, manifests and the pages that the README leads to, no sources and no tests', () => {
    const paths = packed.files.map(({ path }) => path);
    const linked = [...readFileSync('README.md', 'utf8').matchAll(/\]\((docs\/[^)#]+\.md|CHANGELOG\.md)/g)].map(
      ([, path]) => path,
    );
    expect(linked.length).toBeGreaterThan(8);
    expect(paths).toEqual(
      expect.arrayContaining(['build/src/index.js', 'build/src/index.d.ts', 'dist/0000-crds.k8s.yaml', ...linked]),
    );
    expect(
      paths.filter(
        (path) =>
          !/^(build\/(src|cjs)\/|build\/(agent|controller)\.mjs$|dist\/|docs\/|examples\/|package\.json$|LICENSE$|[A-Z]+\.md$)/.test(
            path,
          ),
      ),
    ).toEqual([]);
    expect(paths.filter((path) => /^(?!examples\/).*(?<!\.d)\.ts$/.test(path))).toEqual([]);
  });

  test('carries an app of ten lines, type-checked, from mistakes to manifests', () => {
    expect(readFileSync(join(app, 'main.ts'), 'utf8').trim().split('\n').length).toBe(10);
    runIn(app, tsc, ['-p', '.']);
    runIn(app, process.execPath, ['main.js']);
    const objects = ['platform', 'shop'].flatMap((chart) =>
      parseAllDocuments(readFileSync(join(app, 'dist', `${chart}.k8s.yaml`), 'utf8')).map(
        (document) => document.toJS() as KubeObject,
      ),
    );
    const ids = objects.map(({ kind, metadata }) =>
      [kind, metadata.namespace, metadata.name].filter(Boolean).join(' '),
    );
    expect(ids).toEqual(
      expect.arrayContaining([
        'CustomResourceDefinition redisclusters.clusterwright.dev',
        'Deployment clusterwright-system clusterwright',
        'Role shop clusterwright-watch',
        'RedisCluster shop cache',
      ]),
    );
    expect(ids.filter((id) => id.startsWith('ClusterRole'))).toEqual([
      'ClusterRole clusterwright-view',
      'ClusterRole clusterwright-edit',
    ]);
  });

  describe('lets somebody write an engine of their own: memcached', () => {
    const folder = join(app, 'memcached');

    test('in under 400 lines, apart from its tests', () => {
      const lines = readdirSync('test/package/memcached')
        .filter((file) => file !== 'stories.ts')
        .flatMap((file) => readFileSync(join('test/package/memcached', file), 'utf8').trim().split('\n'));
      expect(lines.length).toBeLessThan(400);
    });

    test('with CRD, rights, network and construct', () => {
      const outdir = join(home, 'memcached');
      execFileSync(process.execPath, ['memcached/main.js'], {
        cwd: app,
        env: { ...process.env, CDK8S_OUTDIR: outdir },
      });
      const objects = readdirSync(outdir).flatMap((file) =>
        parseAllDocuments(readFileSync(join(outdir, file), 'utf8')).map((document) => document.toJS() as KubeObject),
      );
      const find = (kind: string, name: string): KubeObject | undefined =>
        objects.find((object) => object.kind === kind && object.metadata.name === name);
      expect(find('CustomResourceDefinition', 'memcachedclusters.caches.example.com')).toBeDefined();
      expect(find('MemcachedCluster', 'sessions')).toMatchObject({ apiVersion: 'caches.example.com/v1' });
      expect(JSON.stringify(find('NetworkPolicy', 'clusterwright')?.spec)).toContain('11211');
      expect(find('Role', 'clusterwright-watch')?.rules).toContainEqual({
        apiGroups: ['caches.example.com'],
        resources: ['memcachedclusters'],
        verbs: ['get', 'list', 'watch', 'patch'],
      });
    });

    test('with the conformance suite and stories of its planner', () => {
      const told = runIn(folder, process.execPath, ['--test', '--test-reporter=tap', 'stories.js']);
      expect(told).toContain('ok 1 - memcached: there are samples');
      expect(Number(/^# pass (\d+)$/m.exec(told)?.[1])).toBeGreaterThan(50);
    });

    test('with a command line that plans, documents the kind and knows its images', () => {
      const cli = (words: readonly string[], input = ''): SpawnSyncReturns<string> =>
        spawnSync(process.execPath, ['cli.js', ...words], { cwd: folder, encoding: 'utf8', input });
      const command = (name: string, manifest: string): SpawnSyncReturns<string> =>
        cli([name, '--offline', '-'], manifest);
      const manifest =
        'apiVersion: caches.example.com/v1\nkind: MemcachedCluster\nmetadata: { name: sessions }\nspec: {}\n';
      const planned = command('plan', manifest);
      expect([planned.status, planned.stderr]).toEqual([2, '']);
      expect(planned.stdout).toContain('MemcachedCluster default/sessions: 3 to create');
      expect(command('plan', manifest.replace('Cluster', 'Clutser')).stderr).toContain(
        'caches.example.com has no kind MemcachedClutser; its kinds are: MemcachedCluster',
      );
      expect(cli(['reference', 'mcc']).stdout).toMatch(/^# MemcachedCluster\n.*`spec.config.maxConnections`/s);
      expect(cli(['sandbox', 'images']).stdout).toMatch(/^memcached:1\.6\.38 +localhost\/memcached:1\.6\.38 /m);
    });

    test('with an operator that the documented command bundles', async () => {
      bundleOperator(folder);
      // It gets as far as looking for a Kubernetes cluster.
      const { KUBERNETES_SERVICE_HOST: _, ...env } = process.env;
      const started = spawnSync(process.execPath, ['controller.mjs'], {
        cwd: folder,
        encoding: 'utf8',
        env: { ...env, KUBECONFIG: join(folder, 'nowhere') },
      });
      expect(started.stderr).toContain(`${join(folder, 'nowhere')}: cannot be read`);
      const files = await inputsOf(join(folder, 'operator.js'));
      expect(files.some((file) => file.endsWith('memcached/plan.js'))).toBe(true);
      expect(files.filter((file) => /cdk8s|yargs|src\/agent\//.test(file))).toEqual([]);
    });
  });

  test('lets somebody write backups of an engine of their own: a journal', async () => {
    const folder = join(app, 'journal');
    bundleAgent(folder);
    const entries = 'first\nsecond\nthird\n';
    const data = Buffer.concat([Buffer.from(entries), createHash('sha256').update(entries).digest()]);
    const server = await servingJournal(data, 3);
    const target = { type: 'claim', directory: folder, prefix: 'backups' };
    const cluster = { namespace: 'shop', kind: 'JournalCluster', name: 'orders', uid: 'uid-orders' };
    const run = async (task: object): Promise<unknown> => {
      writeFileSync(join(folder, 'task.json'), JSON.stringify({ target, ...task }));
      const command = [process.execPath, join(folder, 'agent.mjs'), join(folder, 'task.json')] as const;
      const { stdout } = await finished(command);
      return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    };
    const take = (name: string): Promise<unknown> =>
      run({
        task: 'take',
        cluster,
        purpose: { type: 'backup', name },
        source: { engine: 'journal', members: [{ host: '127.0.0.1', port: server.port }] },
      });
    const fetch = (volume: string, version: string): Promise<unknown> => {
      mkdirSync(join(folder, volume), { recursive: true });
      const destination = { engine: 'journal', directory: join(folder, volume), version };
      return run({ task: 'fetch', which: { uid: cluster.uid }, destination });
    };

    expect(await take('first')).toMatchObject({ result: 'taken', backup: { contents: { entries: '3' } } });
    expect(await fetch('restored', '2.1')).toMatchObject({ result: 'fetched', isRepeated: false });
    expect(readFileSync(join(folder, 'restored', 'journal'))).toEqual(data);
    expect(await fetch('restored', '2.1')).toMatchObject({ result: 'fetched', isRepeated: true });
    // An attempt that was killed while it wrote down which backup it had begun with.
    mkdirSync(join(folder, 'cut'));
    writeFileSync(join(folder, 'cut', 'restored-from.json'), '');
    expect(await fetch('cut', '2.1')).toMatchObject({ result: 'fetched', isRepeated: false });
    expect(await fetch('older', '1.9')).toMatchObject({ result: 'failed', reason: 'Unfit' });
    const listed = await finished([
      process.execPath,
      join(folder, 'cli.js'),
      'backup',
      'list',
      '--target',
      join(folder, 'backups'),
    ]);
    expect(listed.stdout).toMatch(/ shop +journalcluster\/orders +2\.1 /);
    data.write('F');
    expect(await take('damaged')).toMatchObject({
      result: 'failed',
      reason: 'SourceBroken',
      message: expect.stringContaining('the checksum of the journal does not fit'),
    });
    await server.stop();
    const ofOperator = /cdk8s|yargs|clusterwright\/build\/src\/(runtime|plan|jobs|resources|sdk)\b/;
    expect((await inputsOf(join(folder, 'agent.js'))).filter((file) => ofOperator.test(file))).toEqual([]);
    const ofAgent = /clusterwright\/build\/src\/(agent|engine\/driver|driver-sdk)\b/;
    const files = await inputsOf(join(folder, 'support.js'));
    expect(files.filter((file) => ofAgent.test(file))).toEqual([]);
  });

  test.each([
    ['readme', ['crds', 'operator', 'cache'], 'RedisCluster databases cache'],
    ['install', ['crds', 'operator', 'shop'], 'BackupSchedule shop nightly'],
  ])('carries the app of the %s page', (name, charts, last) => {
    const outdir = join(home, name);
    execFileSync(process.execPath, [`${name}.js`], { cwd: app, env: { ...process.env, CDK8S_OUTDIR: outdir } });
    const files = readdirSync(outdir);
    // Numbered where charts depend on each other.
    expect(files.map((file) => file.replace(/^\d+-|\.k8s\.yaml$/g, '')).sort()).toEqual([...charts].sort());
    const objects = files.flatMap((file) =>
      parseAllDocuments(readFileSync(join(outdir, file), 'utf8')).map((document) => document.toJS() as KubeObject),
    );
    const ids = objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace} ${metadata.name}`);
    expect(ids).toEqual(expect.arrayContaining(['Deployment clusterwright-system clusterwright', last]));
  });

  test('makes the same manifests through node and through the cdk8s CLI', () => {
    const cdk8s = resolve('node_modules/cdk8s-cli/bin/cdk8s');
    const [byNode, byCli] = [join(home, 'by-node'), join(home, 'by-cli')];
    execFileSync(process.execPath, ['build/src/main.js'], { env: { ...process.env, CDK8S_OUTDIR: byNode } });
    runIn(process.cwd(), cdk8s, ['synth', '--check-upgrade=false', '--output', byCli]);
    for (const file of ['0000-crds', '0001-operator', '0002-samples']) {
      const name = `${file}.k8s.yaml`;
      expect(readFileSync(join(byCli, name), 'utf8')).toBe(readFileSync(join(byNode, name), 'utf8'));
      expect(readFileSync(join(byNode, name), 'utf8')).toBe(readFileSync(join('dist', name), 'utf8'));
    }
  });
});
