/**
 * Credentials and keys are read once, when the process starts. That is enough for a backup; an archive would go on for months with what
 * was replaced: until the store refuses it, or with a key that nobody keeps any more. So it ends when a mounted Secret changes, and
 * Kubernetes starts it again.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ArchiveTask } from '../../backup/agent-task.ts';
import type { AgentContext } from '../../engine/driver/agent-context.ts';
import { Failure } from '../../engine/driver/failure.ts';
import { sleep } from '../../system/clock.ts';

/** The kubelet takes about a minute. */
const lookMs = 15_000;

/** By path; what cannot be read is left out. */
export type SecretDigests = ReadonlyMap<string, string>;

/** Those that the archive reads only once. Certificates are read for each stream of the log, and for each question to a standby. */
export async function secretDigests({ target, encryptionKeyFile }: ArchiveTask): Promise<SecretDigests> {
  const { accessKeyIdFile, secretAccessKeyFile, sessionTokenFile, caFile } = target.type === 's3' ? target : {};
  const paths = [encryptionKeyFile, accessKeyIdFile, secretAccessKeyFile, sessionTokenFile, caFile];
  const found = await Promise.all(
    paths.map(async (path): Promise<[string, string][]> => {
      const content = path === undefined ? undefined : await readFile(path).catch(() => undefined);
      return path === undefined || content === undefined
        ? []
        : [[path, createHash('sha256').update(content).digest('hex')]];
    }),
  );
  return new Map(found.flat());
}

/**
 * A file that is gone is no change: the process could not start without it.
 *
 * @param before read before the secrets themselves
 * @throws Failure Stopped
 */
export async function untilSecretsChange(
  task: ArchiveTask,
  before: SecretDigests,
  { clock, signal }: Pick<AgentContext, 'clock' | 'signal'>,
): Promise<never> {
  for (;;) {
    await sleep(clock, lookMs, signal);
    for (const [path, digest] of await secretDigests(task)) {
      if (before.get(path) !== digest)
        throw new Failure('Stopped', `${path} has changed: the archive starts again with what it contains now`);
    }
  }
}
