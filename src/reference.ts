/** Writes `docs/reference/`, a page a kind, from the schemas. Takes another directory as its argument. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { backupReference, scheduleReference } from './api/backup-reference.ts';
import { etcdReference } from './api/etcd-reference.ts';
import { redisReference } from './api/redis-reference.ts';

const pages: Readonly<Record<string, string>> = {
  'backup.md': backupReference,
  'backup-schedule.md': scheduleReference,
  'etcd-cluster.md': etcdReference,
  'redis-cluster.md': redisReference,
};

const directory = process.argv[2] ?? 'docs/reference';
mkdirSync(directory, { recursive: true });
for (const [file, page] of Object.entries(pages)) writeFileSync(join(directory, file), page);
