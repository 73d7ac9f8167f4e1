/** Looks at backups, and changes nothing. */
import type { AgentResult } from '../backup/agent-result.ts';
import type { ListTask, VerifyTask } from '../backup/agent-task.ts';
import type { KeyRing } from '../backup/key.ts';
import { summaryOf } from '../backup/manifest.ts';
import { misleadingIds } from '../backup/order.ts';
import { suddenLosses } from '../backup/sudden-loss.ts';
import { type Folder, findBackup, historyOf, type KnownBackup, matching, placeOf } from './catalogue.ts';
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
  const backup = await findBackup(target, which, engine, keys, clock.now());
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
  const folders = await matching(target, which, engine);
  const histories = await historiesOf(target, folders, keys);
  for (const folder of folders) {
    const history = histories.get(clusterOf(folder)) ?? [];
    const known = history.find(({ path }) => path === folder.path);
    if (known === undefined) {
      unusable += 1;
      log.warn({ folder: folder.path }, 'a manifest cannot be gone by');
      continue;
    }
    const backup = summaryOf(known.manifest, place.prefix);
    if (which.name !== undefined && backup.cluster.name !== which.name) continue;
    total += 1;
    const warning = warningOf(known, history);
    log.info({ backup, ...(warning === undefined ? {} : { warning }) }, 'a backup');
    const { id, folder: path, cluster, plainBytes, completedAt } = backup;
    if (listed.length < maxListed) listed.push({ id, folder: path, cluster, plainBytes, completedAt });
  }
  return { result: 'listed', total, backups: listed, unusable };
}

const clusterOf = ({ namespace, kind, uid }: Folder): string => `${namespace}/${kind}/${uid}`;

async function historiesOf(
  target: Target,
  folders: readonly Folder[],
  keys: KeyRing | undefined,
): Promise<ReadonlyMap<string, readonly KnownBackup[]>> {
  const found = new Map<string, readonly KnownBackup[]>();
  for (const cluster of new Set(folders.map(clusterOf))) {
    const own = folders.filter((folder) => clusterOf(folder) === cluster);
    found.set(cluster, await historyOf(target, own, keys));
  }
  return found;
}

/** Why somebody may not want this one, though it seems to be the newest. */
function warningOf({ manifest: { id } }: KnownBackup, history: readonly KnownBackup[]): string | undefined {
  const loss = suddenLosses(history.map(({ manifest }) => manifest).toReversed(), undefined).get(id);
  if (loss !== undefined) return loss;
  const later = misleadingIds(history.map(placeOf)).get(id);
  return later === undefined ? undefined : `it was taken before ${later}, by a clock that was ahead`;
}
