/** The spec of a Backup for reference pages, of a cluster of the first kind that has backups. */
import type { KindHandler } from '../engine/engine.ts';

/** @param more fields beside `cluster` and `target`, as lines of YAML with two spaces before them */
export function backupExample(databases: readonly KindHandler[], more = ''): string {
  const kind = databases[0]?.kind.resource.kind ?? 'KIND';
  return `spec:\n  cluster: { kind: ${kind}, name: cache }\n${more}  target:\n    claim: { name: backups }\n`;
}
