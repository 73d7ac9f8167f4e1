/** How pages write commands about backups: other operators have a kind `Backup`, too, and kubectl then shows theirs. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.md'))
  .map((file) => join('docs', file));

/** `backup/x`, `backups`, `BackupSchedule`, as an argument of its own and without a group. */
const ambiguous = /kubectl (?!clusterwright )(?:[^`\n|]* )?(backup(?:schedule)?s?)(?=[/ `]|$)/gim;

test.each([...pages, 'README.md', 'CHANGELOG.md'])('%s names kinds of backups in full', (page) => {
  const found = [...readFileSync(join(root, page), 'utf8').matchAll(ambiguous)].map(([command]) => command);
  // What the page warns of.
  expect(found.filter((command) => page !== 'docs/backups.md' || command !== 'kubectl get backups')).toEqual([]);
});
