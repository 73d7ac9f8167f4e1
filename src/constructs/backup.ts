/** A Backup in a user's own cdk8s app. */
import type { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { type BackupSpecInput, backupKind } from '../api/backup.ts';
import { type BackedUpProps, checkBackedUpKind } from './backed-up-kind.ts';
import { checkedObject, type ResourceProps } from './checked-object.ts';

export type BackupProps = ResourceProps<BackupSpecInput> & BackedUpProps;

export class Backup extends Construct {
  readonly apiObject: ApiObject;

  constructor(scope: Construct, id: string, props: BackupProps) {
    super(scope, id);
    this.apiObject = checkedObject(this, backupKind, props);
    checkBackedUpKind(this, props);
  }
}
