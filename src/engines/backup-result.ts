/** The agent's last words in the form of a status. */
import type { BackupResult } from '../api/backup-status.ts';
import type { AgentResult, BackupSummary } from '../backup/agent-result.ts';

export function backupResult(result: AgentResult | undefined, topology?: string): BackupResult {
  return result?.result === 'taken' ? summaryOf(result.backup, topology) : {};
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
    ...(Number.isFinite(seconds) ? { durationSeconds: Math.max(0, Math.round(seconds * 1000) / 1000) } : {}),
  };
}
