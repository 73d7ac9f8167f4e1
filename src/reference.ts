/** Writes `docs/reference/`, a page a kind, from the schemas. Takes another directory as its argument. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { backupReference, scheduleReference } from './api/backup-reference.ts';
import { referencePage } from './api/reference.ts';
import { engines } from './engines/index.ts';

/** `RedisCluster` becomes `redis-cluster.md`. */
const fileOf = (kind: string): string => `${kind.replace(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase()}.md`;

const pages: readonly (readonly [file: string, page: string])[] = [
  ['backup.md', backupReference],
  ['backup-schedule.md', scheduleReference],
  ...engines.map(
    ({ definition: { kind, reference } }) => [fileOf(kind.resource.kind), referencePage(kind, reference)] as const,
  ),
];

const directory = process.argv[2] ?? 'docs/reference';
mkdirSync(directory, { recursive: true });
for (const [file, page] of pages) writeFileSync(join(directory, file), page);
