/** What the manifest of a backup says of the database's state: read from the target itself. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BackupSummary } from '../../src/backup/agent-result.ts';
import type { EngineState } from '../../src/backup/engine-data.ts';

/** @param claim the directory that the task calls its claim */
export function stateOf(claim: string, { folder }: BackupSummary): EngineState {
  const { manifest } = JSON.parse(readFileSync(join(claim, folder, 'manifest.json'), 'utf8')) as {
    readonly manifest: { readonly state: EngineState };
  };
  return manifest.state;
}
