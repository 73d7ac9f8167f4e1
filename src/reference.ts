/** Writes `docs/reference/`: a page a kind, from the schemas, and the page of alerts. Takes another directory as its argument. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { referencePage } from './api/reference.ts';
import { engines } from './engines/index.ts';
import { engineMonitoring } from './engines/monitoring.ts';
import { handlersOf } from './jobs/handlers.ts';
import { alertsPage } from './monitoring/alerts-page.ts';
import { conditionMonitoring } from './monitoring/conditions.ts';
import { operatorMonitoring } from './monitoring/operator.ts';

/** `RedisCluster` becomes `redis-cluster.md`. */
const fileOf = (kind: string): string => `${kind.replace(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase()}.md`;

const directory = process.argv[2] ?? 'docs/reference';
mkdirSync(directory, { recursive: true });
for (const { kind, reference } of handlersOf(engines)) {
  writeFileSync(join(directory, fileOf(kind.resource.kind)), referencePage(kind, reference));
}
const parts = [conditionMonitoring, operatorMonitoring, ...engineMonitoring];
writeFileSync(join(directory, 'alerts.md'), alertsPage(parts));
