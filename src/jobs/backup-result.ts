/** The agent's last words in the form of a status. */
import type { BackupResult } from '../api/backup-status.ts';
import type { AgentResult, BackupSummary } from '../backup/agent-result.ts';

export function backupResult(result: AgentResult | undefined, topology?: string): BackupResult {
  if (result?.result !== 'taken') return {};
  const { backup, suddenLoss } = result;
  return { ...summaryOf(backup, topology), ...(suddenLoss === undefined ? {} : { suddenLoss }) };
}

function summaryOf(backup: BackupSummary, topology: string | undefined): BackupResult {
  const { id, folder, engine, engineVersion, plainBytes, storedBytes, plainSha256, startedAt, completedAt } = backup;
  const { contents } = backup;
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
    ...(contents === undefined ? {} : { contents }),
    ...(Number.isFinite(seconds) ? { durationSeconds: Math.max(0, Math.round(seconds * 1000) / 1000) } : {}),
  };
}
