/** Backups and schedules under test: made, waited for, asked. */
import { expect } from 'vitest';
import { type BackupSpecInput, backupKind } from '../../src/api/backup.ts';
import { type ScheduleSpecInput, scheduleKind } from '../../src/api/backup-schedule.ts';
import type { BackupStatus, ScheduleStatus } from '../../src/api/backup-status.ts';
import { apiVersionOf } from '../../src/api/object.ts';
import { cronJobs } from '../../src/api/resource.ts';
import type { Job } from '../../src/resources/children.ts';
import type { Stage } from './stage.ts';
import { type Patience, until } from './until.ts';

export async function createBackup({ client, namespace }: Stage, name: string, spec: BackupSpecInput): Promise<void> {
  const { resource } = backupKind;
  await client.create({
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: { name, namespace },
    spec,
  });
}

/** Waits for the end of a Backup, which must be this one. */
export async function ended(
  { client, namespace }: Stage,
  name: string,
  phase: 'Verified' | 'Failed',
  patience?: Patience,
): Promise<BackupStatus> {
  return until(
    `backup ${name} ${phase}`,
    async () => {
      const { status = {} } = await client.get({ resource: backupKind.resource, namespace, name });
      const said = status as BackupStatus;
      expect(said.phase, said.conditions?.map(({ message }) => message).join()).toBe(phase);
      return said;
    },
    patience,
  );
}

/** Takes one and waits for it. */
export async function takeBackup(stage: Stage, name: string, spec: BackupSpecInput): Promise<BackupStatus> {
  await createBackup(stage, name, spec);
  return ended(stage, name, 'Verified', { withinMs: 120_000 });
}

export async function createSchedule(
  { client, namespace }: Stage,
  name: string,
  spec: ScheduleSpecInput,
): Promise<void> {
  const { resource } = scheduleKind;
  await client.create({
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: { name, namespace },
    spec,
  });
}

export async function scheduleStatus({ client, namespace }: Stage, name: string): Promise<ScheduleStatus> {
  const { status = {} } = await client.get({ resource: scheduleKind.resource, namespace, name });
  return status as ScheduleStatus;
}

/** As `kubectl create job --from=cronjob/schedule-NAME JOB` does. */
export async function runSchedule({ client, namespace }: Stage, name: string, job: string): Promise<void> {
  const { metadata, spec } = await client.get({ resource: cronJobs, namespace, name: `schedule-${name}` });
  const { jobTemplate } = spec as { readonly jobTemplate: Pick<Job, 'spec'> & { readonly metadata: object } };
  const owner = { apiVersion: 'batch/v1', kind: 'CronJob', name: metadata.name, uid: metadata.uid ?? '' };
  await client.create({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { ...jobTemplate.metadata, name: job, namespace, ownerReferences: [{ ...owner, controller: true }] },
    spec: jobTemplate.spec,
  });
}
