/** The table "To change X, open Y" of docs/architecture.md leads to files that are there. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const page = readFileSync('docs/architecture.md', 'utf8');
const table = page.split('\n## To change X, open Y')[1]?.split('\n## ')[0] ?? '';
const sections = table.split('\n### ').slice(1);

/** Of one engine or the other: not every engine has every file. */
const variants = (path: string): string[] => ['redis', 'etcd'].map((engine) => path.replaceAll('NAME', engine));
/** `COMMAND.ts` stands for any of them. */
const isThere = (path: string): boolean =>
  path.endsWith('/COMMAND.ts') ? existsSync(dirname(path)) : variants(path).some(existsSync);

describe('every file of the table is there', () => {
  it.each(sections.map((text) => ({ title: text.split('\n')[0], text })))('$title', ({ text }) => {
    const quoted = [...text.matchAll(/`([^`\s]+)`/g)].map(([, path = '']) => path);
    const full = quoted.filter((path) => /^(src|test)\//.test(path));
    const folders = [...new Set(full.flatMap((path) => [path, dirname(path)]))].flatMap(variants);
    const short = quoted.filter((path) => /^[\w./-]+\.(ts|sh)$/.test(path) && !full.includes(path));
    expect(full.length).toBeGreaterThan(5);
    expect(full.filter((path) => !isThere(path))).toEqual([]);
    expect(short.filter((name) => !['.', ...folders].some((folder) => existsSync(join(folder, name))))).toEqual([]);
  });
});
