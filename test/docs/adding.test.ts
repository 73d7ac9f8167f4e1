/** What docs/engines/adding.md says of files that name an engine, held against the code: by Redis, whose name means nothing else. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const page = readFileSync('docs/engines/adding.md', 'utf8');
const listed = page.split('\n## 0.')[1]?.split('\n## 1.')[0] ?? '';

/** Paths as the page writes them: `NAME` for the engine, `*` for what follows it. */
const patterns = [...listed.matchAll(/`(src\/[\w./*-]+\.ts)`/g)].map(
  ([, path = '']) =>
    new RegExp(`^${path.replaceAll('.', '\\.').replaceAll('*', '[\\w-]*').replaceAll('NAME', 'redis')}$`),
);

/** What belongs to the engine alone. */
const isItsOwn = (file: string): boolean => file.startsWith('src/engines/redis/');

const code = (file: string): string =>
  readFileSync(file, 'utf8')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|\s)\/\/.*$/gm, '');

const named = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => `src/${file}`)
  .filter((file) => !isItsOwn(file) && /redis/i.test(code(file)));

it('every file that names an engine is in the list', () => {
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((file) => !patterns.some((pattern) => pattern.test(file)))).toEqual([]);
});

it('every file of the list is there', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).map((file) => `src/${file}`);
  expect(patterns.filter((pattern) => !files.some((file) => pattern.test(file))).map(String)).toEqual([]);
});

it('every test that it tells of is there', () => {
  const paths = [...page.matchAll(/`(test\/[\w./-]+)`/g)].map(([, path = '']) => path.replace(/\/$/, ''));
  const files = readdirSync('test', { recursive: true, encoding: 'utf8' }).map((file) => `test/${file}`);
  // Of one engine or the other: not every engine has every file.
  const isThere = (path: string): boolean =>
    ['redis', 'etcd'].some((engine) => files.includes(path.replaceAll('NAME', engine)));
  expect(paths.length).toBeGreaterThan(10);
  expect(paths.filter((path) => !isThere(path))).toEqual([]);
});
