/** The reference pages of Backup and BackupSchedule. */
import { backupKind } from './backup.ts';
import { scheduleKind } from './backup-schedule.ts';
import { referencePage } from './reference.ts';

export const backupReference: string = referencePage(backupKind);
export const scheduleReference: string = referencePage(scheduleKind);
