/** Lets old backups go. The manifest goes first: whatever is cut off then leaves no backup, and is swept a day later. */
import type { TakeTask } from '../backup/agent-task.ts';
import { clusterFolder } from '../backup/identity.ts';
import type { KeyRing } from '../backup/key.ts';
import { abandonedAfterMs, type Candidate, planRetention } from '../backup/retention.ts';
import { type Folder, foldersIn, manifestKey, trustedManifest } from './catalogue.ts';
import type { Surroundings } from './surroundings.ts';
import type { Target } from './target/target.ts';

export interface Pruned {
  readonly expired: number;
  /** Why age was not gone by. */
  readonly doubt?: string;
}

/** @param justMade id of the backup that this schedule has just made */
export async function prune(
  target: Target,
  { cluster, purpose, retention }: Pick<TakeTask, 'cluster' | 'purpose' | 'retention'>,
  justMade: string,
  keys: KeyRing | undefined,
  { clock, log }: Surroundings,
): Promise<Pruned> {
  if (purpose.type !== 'schedule') return { expired: 0 };
  const folders = await foldersIn(target, clusterFolder(cluster));
  const candidates: Candidate[] = [];
  for (const folder of folders) candidates.push(await candidateOf(target, folder, keys));
  const now = clock.now();
  const question = { candidates, clusterUid: cluster.uid, schedule: purpose.name, retention, justMade, now };
  const { expired, abandoned, doubt } = planRetention(question);
  for (const id of [...expired, ...abandoned]) {
    const folder = folders.find((each) => each.id === id);
    if (folder === undefined) continue;
    await removeFolder(target, folder);
    log.info(
      { folder: folder.path, why: expired.includes(id) ? 'retention' : 'never finished' },
      'a folder is deleted',
    );
  }
  try {
    if (doubt === undefined) await target.sweep(clusterFolder(cluster), now - abandonedAfterMs);
  } catch (error) {
    // Not every server lists uploads; they cost room and are in nobody's way.
    log.warn({ err: error }, 'uploads that were never finished could not be swept');
  }
  return { expired: expired.length, ...(doubt === undefined ? {} : { doubt }) };
}

async function candidateOf(target: Target, folder: Folder, keys: KeyRing | undefined): Promise<Candidate> {
  const { id, modifiedAt, hasManifest, path } = folder;
  if (!hasManifest) return { id, modifiedAt, manifest: 'none' };
  const opened = await trustedManifest(target, path, keys);
  if (opened === undefined) return { id, modifiedAt, manifest: 'unusable' };
  const { cluster, purpose } = opened.manifest;
  return { id, modifiedAt, manifest: { clusterUid: cluster.uid, purpose } };
}

export async function removeFolder(target: Target, { path, keys }: Pick<Folder, 'path' | 'keys'>): Promise<void> {
  await target.remove(manifestKey(path));
  for (const key of keys) if (key !== manifestKey(path)) await target.remove(key);
}
