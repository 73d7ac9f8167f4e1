/** Waiting for what a Backup, or a cluster that is made of one, comes to. */
import { backupKind } from '../../api/backup.ts';
import type { BackupStatus } from '../../api/backup-status.ts';
import type { Resource } from '../../api/object.ts';
import type { ClusterStatus } from '../../api/status.ts';
import type { KubeClient } from '../../runtime/client.ts';
import { sleep, systemClock } from '../../system/clock.ts';
import { CommandError } from '../fault.ts';

const everyMs = 500;

/** @throws CommandError where it is blocked, and with the agent's words where it fails */
export async function waitForBackup(
  client: Pick<KubeClient, 'get'>,
  namespace: string,
  name: string,
): Promise<BackupStatus> {
  for (;;) {
    const status = ((await client.get({ resource: backupKind.resource, namespace, name })).status ??
      {}) as BackupStatus;
    if (status.phase === 'Verified') return status;
    if (status.phase === 'Failed' || status.phase === 'Invalid') {
      throw new CommandError(`backup ${name} has failed: ${readyMessage(status)}`);
    }
    if (status.phase === 'Blocked') {
      throw new CommandError(
        `backup ${name} is blocked: ${readyMessage(status)}; it is taken once this has changed, unless you delete it`,
      );
    }
    await sleep(systemClock, everyMs);
  }
}

/** @throws CommandError where it is blocked, or the time is over */
export async function waitForCluster(
  client: Pick<KubeClient, 'get'>,
  resource: Resource,
  namespace: string,
  name: string,
  timeoutMs: number,
): Promise<void> {
  const deadline = systemClock.monotonic() + timeoutMs;
  for (;;) {
    const status = ((await client.get({ resource, namespace, name })).status ?? {}) as ClusterStatus;
    if (status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True')) return;
    if (status.phase === 'Blocked' || status.phase === 'Invalid') {
      throw new CommandError(`the restored cluster is blocked: ${readyMessage(status)}`);
    }
    if (systemClock.monotonic() > deadline) {
      throw new CommandError(`the restored cluster is not ready after ${timeoutMs / 1000} s: ${readyMessage(status)}`);
    }
    await sleep(systemClock, everyMs);
  }
}

function readyMessage({ conditions = [] }: Pick<ClusterStatus, 'conditions'>): string {
  return conditions.find(({ type }) => type === 'Ready')?.message ?? 'no controller has looked at it yet';
}
