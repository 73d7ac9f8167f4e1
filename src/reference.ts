/** Writes `docs/reference/`, a page a kind, from the schemas. Takes another directory as its argument. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { referencePage } from './api/reference.ts';
import { engines } from './engines/index.ts';
import { handlersOf } from './jobs/handlers.ts';

/** `RedisCluster` becomes `redis-cluster.md`. */
const fileOf = (kind: string): string => `${kind.replace(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase()}.md`;

const directory = process.argv[2] ?? 'docs/reference';
mkdirSync(directory, { recursive: true });
for (const { kind, reference } of handlersOf(engines)) {
  writeFileSync(join(directory, fileOf(kind.resource.kind)), referencePage(kind, reference));
}
