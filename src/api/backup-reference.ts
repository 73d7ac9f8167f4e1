/** The reference pages of Backup and BackupSchedule. */
import { backupKind } from './backup.ts';
import { scheduleKind } from './backup-schedule.ts';
import { referencePage } from './reference.ts';

const sample = `
spec:
  cluster: { kind: RedisCluster, name: cache }
  target:
    claim: { name: backups }
`;

export const backupReference: string = referencePage(backupKind, { sample });
export const scheduleReference: string = referencePage(scheduleKind, {
  sample: sample.replace('  target:', '  schedule: "15 3 * * *"\n  target:'),
});
