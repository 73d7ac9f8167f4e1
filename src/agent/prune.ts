/** What a backup that was just made means for the others, and lets old ones go. The manifest goes first: whatever is cut off then leaves no backup, and is swept a day later. */
import type { TakeTask } from '../backup/agent-task.ts';
import { clusterFolder } from '../backup/identity.ts';
import { misleadingIds, newestFirst } from '../backup/order.ts';
import { abandonedAfterMs, type Candidate, planRetention } from '../backup/retention.ts';
import type { AgentContext } from '../engine/driver/agent-context.ts';
import {
  type Folder,
  type FoundBackup,
  foldersIn,
  hasManifest,
  historyOf,
  type KnownBackup,
  lossesIn,
  manifestKey,
  placeOf,
  type Repository,
} from './repository.ts';
import type { Target } from './target/target.ts';

/** A result has to fit into a termination message. */
const maxWords = 300;

export interface Pruned {
  readonly expired: number;
  /** Why age was not gone by. */
  readonly doubt?: string;
  /** Why the backup that was just made is thought to hold too little: then nothing goes. */
  readonly suddenLoss?: string;
  /** Ids that do not tell which backup is newer, in words. */
  readonly misleadingIds?: string;
}

/**
 * @param made the backup that this schedule has just made
 * @param earlier what was read of the cluster before: a list may lack what an earlier one had, and what was made just now
 */
export async function prune(
  repository: Repository,
  { cluster, purpose, retention, confirmed }: Pick<TakeTask, 'cluster' | 'purpose' | 'retention' | 'confirmed'>,
  made: FoundBackup,
  earlier: readonly KnownBackup[],
  { clock, log }: AgentContext,
): Promise<Pruned> {
  const { target, drivers } = repository;
  const { id: justMade } = made.manifest;
  const now = clock.now();
  const folders = await foldersIn(target, clusterFolder(cluster));
  const listed = await historyOf(repository, folders);
  const history = together(listed, earlier, [{ ...made, modifiedAt: now }]);
  const losses = lossesIn(drivers, history, confirmed);
  const said = { ...lossOf(justMade, losses), ...misleadingOf(history) };
  if (purpose.type !== 'schedule') return { expired: 0, ...said };
  const candidates = folders.map((folder) => candidateOf(folder, history, losses));
  // Where what it was compared with is there no more, it is one like the others.
  const isAskedFor = confirmed !== undefined && lossesIn(drivers, history, undefined).has(confirmed);
  const question = {
    candidates,
    clusterUid: cluster.uid,
    schedule: purpose.name,
    retention,
    justMade,
    confirmed: isAskedFor ? confirmed : undefined,
    now,
  };
  const { expired, abandoned, doubt } = planRetention(question);
  for (const id of [...expired, ...abandoned]) {
    const folder = folders.find((each) => each.id === id);
    if (folder === undefined) continue;
    if (abandoned.includes(id) && (await hasManifest(target, folder.path))) {
      log.warn({ folder: folder.path }, 'the target lists no manifest here, and has one: nothing is deleted');
      continue;
    }
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
  return { expired: expired.length, ...said, ...(doubt === undefined ? {} : { doubt }) };
}

/** Where the target gives no list any more: by what was read of it before. */
export function lossByEarlier(
  { drivers }: Pick<Repository, 'drivers'>,
  made: FoundBackup,
  earlier: readonly KnownBackup[],
  confirmed: string | undefined,
): Pick<Pruned, 'suddenLoss'> {
  const history = together(earlier, [{ ...made, modifiedAt: 0 }]);
  return lossOf(made.manifest.id, lossesIn(drivers, history, confirmed));
}

/** Each once, newest first; what was listed last says when the target received it. */
function together(...histories: readonly (readonly KnownBackup[])[]): readonly KnownBackup[] {
  const found = new Map(histories.toReversed().flatMap((history) => history.map((each) => [each.path, each])));
  return [...found.values()].sort((a, b) => newestFirst(a.manifest, b.manifest));
}

function lossOf(id: string, losses: ReadonlyMap<string, string>): Pick<Pruned, 'suddenLoss'> {
  const why = losses.get(id);
  return why === undefined ? {} : { suddenLoss: why.slice(0, maxWords) };
}

function misleadingOf(history: readonly KnownBackup[]): Pick<Pruned, 'misleadingIds'> {
  const all = [...misleadingIds(history.map(placeOf))];
  const [first] = all;
  if (first === undefined) return {};
  const more = all.length - 1;
  const others = more === 0 ? '' : `, and so ${more === 1 ? 'was 1 other' : `were ${more} others`}`;
  return { misleadingIds: `${first[0]} was taken before ${first[1]}, by a clock that was ahead${others}` };
}

function candidateOf(
  { id, modifiedAt, hasManifest, path }: Folder,
  history: readonly KnownBackup[],
  losses: ReadonlyMap<string, string>,
): Candidate {
  const known = history.find((each) => each.path === path);
  // A backup whose manifest was read earlier in this run is complete, even if the target lists no manifest for it now.
  if (known === undefined || !hasManifest) {
    return { id, modifiedAt, manifest: hasManifest || known !== undefined ? 'unusable' : 'none' };
  }
  const { cluster, purpose, sequence } = known.manifest;
  const order = sequence === undefined ? {} : { sequence };
  return { id, modifiedAt, manifest: { clusterUid: cluster.uid, purpose, isDoubtful: losses.has(id), ...order } };
}

export async function removeFolder(target: Target, { path, keys }: Pick<Folder, 'path' | 'keys'>): Promise<void> {
  await target.remove(manifestKey(path));
  for (const key of keys) if (key !== manifestKey(path)) await target.remove(key);
}
