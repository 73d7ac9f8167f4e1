/** Looks at backups, and changes nothing. */
import type { AgentResult } from '../backup/agent-result.ts';
import type { ListTask, VerifyTask } from '../backup/agent-task.ts';
import type { KeyRing } from '../backup/key.ts';
import { summaryOf } from '../backup/manifest.ts';
import { findBackup, matching, trustedManifest } from './catalogue.ts';
import { verify } from './read-back.ts';
import type { Surroundings } from './surroundings.ts';
import type { Target } from './target/target.ts';

export async function verifyBackup(
  { which, engine, target: place }: VerifyTask,
  target: Target,
  keys: KeyRing | undefined,
  { clock }: Surroundings,
): Promise<Extract<AgentResult, { readonly result: 'verified' }>> {
  const began = clock.monotonic();
  const backup = await findBackup(target, which, engine, keys);
  await verify(target, backup);
  const milliseconds = Math.round(clock.monotonic() - began);
  return { result: 'verified', backup: summaryOf(backup.manifest, place.prefix), milliseconds };
}

type Listed = Extract<AgentResult, { readonly result: 'listed' }>;

/** What fits into a termination message; the log has them all. */
const maxListed = 8;

export async function listBackups(
  { which, engine, target: place }: ListTask,
  target: Target,
  keys: KeyRing | undefined,
  { log }: Surroundings,
): Promise<Listed> {
  const listed: Listed['backups'][number][] = [];
  let total = 0;
  let unusable = 0;
  for (const { path } of await matching(target, which, engine)) {
    const opened = await trustedManifest(target, path, keys);
    if (opened === undefined) {
      unusable += 1;
      log.warn({ folder: path }, 'a manifest cannot be gone by');
      continue;
    }
    const backup = summaryOf(opened.manifest, place.prefix);
    if (which.name !== undefined && backup.cluster.name !== which.name) continue;
    total += 1;
    log.info({ backup }, 'a backup');
    const { id, folder, cluster, plainBytes, completedAt } = backup;
    if (listed.length < maxListed) listed.push({ id, folder, cluster, plainBytes, completedAt });
  }
  return { result: 'listed', total, backups: listed, unusable };
}
