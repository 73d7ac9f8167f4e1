/** What docs/engines/adding.md says of files that name an engine, held against the code: by Redis, whose name means nothing else. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const page = readFileSync('docs/engines/adding.md', 'utf8');
const listed = page.split('\n## 0.')[1]?.split('\n## 1.')[0] ?? '';

const paths = [...listed.matchAll(/`(src\/[\w./-]+\.ts)`/g)].map(([, path = '']) => path);

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

it('names every file that names an engine, and no other', () => {
  expect(paths).toEqual(expect.arrayContaining(['src/engines/index.ts']));
  expect([...named].sort()).toEqual([...paths].sort());
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
