/** A backup that is going to be taken, in words: whose and where to. For plans, which cannot tell whether it will work. */
import type { BackupTarget } from '../api/backup-target.ts';
import type { ObjectReference } from '../engine/engine.ts';

/** What is in no backup, to be said while it can still be kept. */
export function keepMessage(keep: string | undefined): string {
  return keep === undefined ? '' : `; a restore also needs ${keep}, which is in no backup: keep it elsewhere, too`;
}

/** `a backup of EtcdCluster/registry to PersistentVolumeClaim/backups` */
export function backupMessage({ kind, name }: ObjectReference, { s3, claim }: BackupTarget): string {
  const place = s3 === undefined ? `PersistentVolumeClaim/${claim?.name}` : `the bucket ${s3.bucket} of ${s3.endpoint}`;
  return `a backup of ${kind}/${name} to ${place}`;
}
