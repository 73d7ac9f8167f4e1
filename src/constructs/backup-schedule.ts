/** A BackupSchedule in a user's own cdk8s app. */
import type { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { type ScheduleSpecInput, scheduleKind } from '../api/backup-schedule.ts';
import { type BackedUpProps, checkBackedUpKind } from './backed-up-kind.ts';
import { checkedObject, type ResourceProps } from './checked-object.ts';

export type BackupScheduleProps = ResourceProps<ScheduleSpecInput> & BackedUpProps;

export class BackupSchedule extends Construct {
  readonly apiObject: ApiObject;

  constructor(scope: Construct, id: string, props: BackupScheduleProps) {
    super(scope, id);
    this.apiObject = checkedObject(this, scheduleKind, props);
    checkBackedUpKind(this, props);
  }
}
