/** The agent's last words in the form of a status. */
import type { BackupResult } from '../api/backup-status.ts';
import type { AgentResult, BackupSummary } from '../backup/agent-result.ts';
import type { BackupState } from '../backup/state.ts';

export function backupResult(result: AgentResult | undefined, topology?: string): BackupResult {
  if (result?.result !== 'taken') return {};
  const { backup, suddenLoss } = result;
  return { ...summaryOf(backup, topology), ...(suddenLoss === undefined ? {} : { suddenLoss }) };
}

function summaryOf(backup: BackupSummary, topology: string | undefined): BackupResult {
  const { id, folder, engine, engineVersion, plainBytes, storedBytes, plainSha256, startedAt, completedAt } = backup;
  const seconds = (Date.parse(completedAt) - Date.parse(startedAt)) / 1000;
  return {
    id,
    location: folder,
    engine,
    version: engineVersion,
    ...(topology === undefined ? {} : { topology }),
    size: plainBytes,
    storedSize: storedBytes,
    checksum: plainSha256,
    startedAt,
    completedAt,
    contents: contentsOf(backup.state),
    ...(Number.isFinite(seconds) ? { durationSeconds: Math.max(0, Math.round(seconds * 1000) / 1000) } : {}),
  };
}

/** In the form in which a running database is asked for the same: see `BackupPart.contents`. */
function contentsOf(state: BackupState): Readonly<Record<string, string>> {
  switch (state.engine) {
    case 'redis':
      return Object.fromEntries([
        ...Object.entries(state.approximateKeys).map(([database, keys]) => [`keys.${database}`, String(keys)]),
        ...(state.firstDatabase === undefined
          ? []
          : [[`keys.${state.firstDatabase.number}`, String(state.firstDatabase.keys)]]),
      ]);
    case 'etcd':
      return {
        revision: state.revision,
        ...(state.hashKv === undefined
          ? {}
          : { hash: String(state.hashKv.hash), compactRevision: state.hashKv.compactRevision }),
      };
    default:
      return state satisfies never;
  }
}
