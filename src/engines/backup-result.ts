/** The agent's last words in the form of a status. */
import type { BackupResult } from '../api/backup-status.ts';
import type { AgentResult, BackupSummary } from '../backup/agent-result.ts';
import type { BackupState } from '../backup/state.ts';

/** As many as a status has room for: a server may have thousands of databases. */
const mostContents = 64;

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
    // A status has room for no more.
    location: folder.slice(0, 1024),
    engine,
    version: engineVersion.slice(0, 64),
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
      return Object.fromEntries(
        Object.entries({
          ...state.approximateKeys,
          ...(state.firstDatabase === undefined ? {} : { [state.firstDatabase.number]: state.firstDatabase.keys }),
        })
          .filter(([database]) => /^\d{1,10}$/.test(database))
          .slice(0, mostContents)
          .map(([database, keys]) => [`keys.${database}`, String(keys)]),
      );
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
