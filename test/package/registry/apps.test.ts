/** Apps that npm installs: cdk8s's own template for TypeScript, with jest, and apps with the oldest and the newest versions of cdk8s. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { emptyApp, install, packInto, peers, run } from '../../support/installed-app.ts';
import { runIn } from '../../support/packed-package.ts';

const home = mkdtempSync(join(tmpdir(), 'clusterwright-registry-'));
let tarball = '';

beforeAll(() => {
  runIn(process.cwd(), 'npm', ['run', '--silent', 'build']);
  tarball = packInto(home);
}, 180_000);
afterAll(() => rmSync(home, { recursive: true }));

/** The program of the README. */
const program = /```ts\n(.*?)```/s.exec(readFileSync('README.md', 'utf8'))?.[1] ?? '';

/** What it synthesizes, by file. */
const synthesized = (folder: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(join(folder, 'dist'))
      .sort()
      .map((name) => [name, readFileSync(join(folder, 'dist', name), 'utf8')]),
  );

test("cdk8s's template for TypeScript compiles, passes jest, and synthesizes", () => {
  const folder = join(home, 'shop');
  cpSync(resolve('node_modules/cdk8s-cli/templates/typescript-app'), folder, { recursive: true });
  rmSync(join(folder, '__snapshots__'), { recursive: true });
  renameSync(join(folder, '{{}}.gitignore'), join(folder, '.gitignore'));
  const { version } = JSON.parse(readFileSync('node_modules/cdk8s-cli/package.json', 'utf8')) as { version: string };
  const range = (name: string): string => (peers()[name] ?? '').replace('^', '');
  const values: Readonly<Record<string, string>> = {
    $base: 'shop',
    cdk8s_cli_spec: version,
    cdk8s_core_version: range('cdk8s'),
    cdk8s_plus_version: '2.5.0',
    constructs_version: range('constructs'),
  };
  for (const name of ['package.json', 'main.ts', 'cdk8s.yaml']) {
    const text = readFileSync(join(folder, name), 'utf8');
    writeFileSync(
      join(folder, name),
      text.replaceAll(/\{\{ ([$\w]+) \}\}/g, (_, key: string) => values[key] ?? ''),
    );
  }
  const main = readFileSync(join(folder, 'main.ts'), 'utf8');
  const cluster = "new RedisCluster(this, 'cache', { metadata: { name: 'cache' }, spec: { version: '8.0' } });";
  const used = main.replace('// define resources here', cluster);
  writeFileSync(join(folder, 'main.ts'), `import { RedisCluster } from 'clusterwright';\n${used}`);
  install(folder, [tarball]);
  for (const script of ['compile', 'test', 'synth']) run(folder, 'npm', 'run', '--silent', script);
  expect(Object.keys(synthesized(folder))).toEqual(['shop.k8s.yaml']);
  expect(synthesized(folder)['shop.k8s.yaml']).toContain('kind: RedisCluster');
  // One copy of each, or classes of the one are not those of the other.
  const copies = run(folder, 'npm', 'ls', '--all', '--parseable', 'cdk8s', 'constructs', 'cdk8s-plus-28');
  expect(copies.trim().split('\n')).toHaveLength(3);
}, 300_000);

const oldest = Object.entries(peers()).map(([name, range]) => `${name}@${range.replace('^', '')}`);
const newest = Object.entries(peers()).map(([name, range]) => `${name}@${range}`);

test('apps with the oldest and with the newest versions synthesize the same, as ES modules and as CommonJS', () => {
  const outputs = [oldest, newest].map((packages, i) => {
    const folder = join(home, `app-${i}`);
    emptyApp(folder);
    install(folder, [...packages, tarball]);
    writeFileSync(join(folder, 'app.mjs'), program);
    run(folder, 'node', 'app.mjs');
    const asModule = synthesized(folder);
    rmSync(join(folder, 'dist'), { recursive: true });
    const required = program.replaceAll(/import (\{[^}]*\}) from '([^']+)';/g, "const $1 = require('$2');");
    writeFileSync(join(folder, 'app.cjs'), required);
    run(folder, 'node', 'app.cjs');
    expect(synthesized(folder)).toEqual(asModule);
    return asModule;
  });
  expect(outputs[0]).toEqual(outputs[1]);
  expect(Object.keys(outputs[0] ?? {}).length).toBeGreaterThan(2);
}, 300_000);
