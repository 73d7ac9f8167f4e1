/** The backups that a target holds: folders, each with a manifest or without, and the one that a task asks for. */
import type { Which } from '../backup/agent-task.ts';
import type { KeyRing } from '../backup/key.ts';
import {
  claimedSequence,
  ManifestRefused,
  manifestObject,
  maxManifestBytes,
  type OpenedManifest,
  parseManifest,
  partObject,
} from '../backup/manifest.ts';
import { doubtAboutNewest, newestFirst, type Placed } from '../backup/order.ts';
import { suddenLosses } from '../backup/sudden-loss.ts';
import { type Driver, driverOf } from '../engine/driver/driver.ts';
import { Failure } from '../engine/driver/failure.ts';
import type { ChosenBase } from '../engine/driver/log-archive.ts';
import type { Target } from './target/target.ts';

export interface Repository {
  readonly target: Target;
  /** What opens encrypted backups. Undefined: only those that are not are read. */
  readonly keys: KeyRing | undefined;
  readonly drivers: readonly Driver[];
}

export interface Folder {
  /** NAMESPACE/KIND/CLUSTER-UID/ID */
  readonly path: string;
  readonly namespace: string;
  readonly kind: string;
  readonly uid: string;
  readonly id: string;
  readonly hasManifest: boolean;
  /** Of what was written last. */
  readonly modifiedAt: number;
  /** Everything in it. */
  readonly keys: readonly string[];
}

const shape = /^([^/]+)\/([^/]+)\/([^/]+)\/([0-9]{8}T[0-9]{6}Z-[0-9a-f]{8})\/(.+)$/;

/** Folders of backups, by their ids from the latest on. Whatever else is in the target is none of ours. */
export async function foldersIn(target: Target, below: string): Promise<readonly Folder[]> {
  const found = new Map<string, Folder>();
  for await (const { key, modifiedAt } of target.list(below)) {
    const parts = shape.exec(key);
    if (parts === null) continue;
    const [, namespace = '', kind = '', uid = '', id = '', object] = parts;
    const path = `${namespace}/${kind}/${uid}/${id}`;
    const known = found.get(path);
    found.set(path, {
      path,
      namespace,
      kind,
      uid,
      id,
      hasManifest: known?.hasManifest === true || object === manifestObject,
      modifiedAt: Math.max(modifiedAt, known?.modifiedAt ?? 0),
      keys: [...(known?.keys ?? []), key],
    });
  }
  return [...found.values()].sort((a, b) => (a.id < b.id ? 1 : a.id > b.id ? -1 : a.path < b.path ? -1 : 1));
}

export const manifestKey = (path: string): string => `${path}/${manifestObject}`;
export const dataKey = (path: string, part?: number): string => `${path}/${partObject(part)}`;

/** Asked of the target itself: a list may lack what is there. */
export async function hasManifest(target: Target, path: string): Promise<boolean> {
  try {
    for await (const _ of target.get(manifestKey(path))) return true;
    return true;
  } catch (error) {
    if (error instanceof Failure && error.reason === 'NotFound') return false;
    throw error;
  }
}

/** @throws Failure NotFound, Tampered, OtherKey, Unfit */
export async function openManifest(repository: Repository, path: string): Promise<OpenedManifest> {
  const { target, keys, drivers } = repository;
  const content = await readManifest(target, path);
  try {
    return parseManifest(content, path, keys, drivers);
  } catch (error) {
    if (!(error instanceof ManifestRefused)) throw error;
    throw new Failure(error.fault, `${path}: ${error.message}`, { cause: error.cause });
  }
}

/** @throws Failure NotFound, Tampered */
async function readManifest(target: Target, path: string): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of target.get(manifestKey(path))) {
    bytes += piece.length;
    if (bytes > maxManifestBytes) {
      throw new Failure('Tampered', `the manifest in ${path} is longer than ${maxManifestBytes} bytes`);
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** Undefined where the manifest cannot be gone by; a target that fails still fails. */
export async function trustedManifest(repository: Repository, path: string): Promise<OpenedManifest | undefined> {
  try {
    return await openManifest(repository, path);
  } catch (error) {
    const isOurs = error instanceof Failure && ['NotFound', 'Tampered', 'OtherKey', 'Unfit'].includes(error.reason);
    if (isOurs) return undefined;
    throw error;
  }
}

/** Backups with a manifest that are as asked for, by their ids from the latest on. Names are only in manifests, so those are not looked at. */
export async function matching(
  target: Target,
  { id, namespace, uid }: Which,
  kind: string | undefined,
): Promise<readonly Folder[]> {
  const known = [namespace, kind, uid];
  const end = known.indexOf(undefined);
  const folders = await foldersIn(target, known.slice(0, end === -1 ? known.length : end).join('/'));
  return folders.filter(
    (folder) =>
      folder.hasManifest &&
      (id === undefined || folder.id === id) &&
      (namespace === undefined || folder.namespace === namespace) &&
      (kind === undefined || folder.kind === kind) &&
      (uid === undefined || folder.uid === uid),
  );
}

export interface FoundBackup extends OpenedManifest {
  readonly path: string;
}

/** The one backup that is asked for. @throws Failure NotFound, Ambiguous, Unfit, or why its manifest is refused */
export async function findBackup(
  repository: Repository,
  which: Which,
  kind: string,
  now: number,
  choose: (history: readonly FoundBackup[]) => ChosenBase = () => ({ kind: 'any' }),
): Promise<FoundBackup> {
  const all = await matching(repository.target, which, undefined);
  const folders = await ofName(repository, all, which.name);
  const fitting = folders.filter((folder) => folder.kind === kind);
  const [other] = folders;
  // An id names one backup: that it is of another engine is worth saying.
  if (fitting.length === 0 && other !== undefined && which.id !== undefined) {
    throw new Failure('Unfit', `${other.path} is of the kind ${other.kind}, and ${kind} is needed`);
  }
  if (fitting.length === 0) throw new Failure('NotFound', `there is no backup ${inWords(which, kind)}`);
  const clusters = [...new Set(fitting.map(({ namespace, uid }) => `${namespace}/${kind}/${uid}`))];
  if (clusters.length > 1) {
    const some = clusters.slice(0, 5).join(', ');
    const words = `there are backups of ${clusters.length} clusters ${inWords(which, kind)}`;
    throw new Failure('Ambiguous', `${words}, so say which: ${some}`);
  }
  const chosen = which.id === undefined ? choose(await historyOf(repository, fitting)) : ({ kind: 'any' } as const);
  switch (chosen.kind) {
    case 'any':
      return newestOf(repository, fitting, now);
    case 'one':
      return newestOf(
        repository,
        fitting.filter(({ id }) => id === chosen.id),
        now,
      );
    case 'none':
      throw new Failure(chosen.reason, chosen.message);
  }
}

/** @throws Failure Ambiguous where the newest may not be the one that is wanted, or why its manifest is refused */
async function newestOf(repository: Repository, folders: readonly Folder[], now: number): Promise<FoundBackup> {
  const history = await historyOf(repository, folders);
  const [newest] = history;
  const unread = folders.filter(({ path }) => !history.some((known) => known.path === path));
  // One that cannot be read, and may be newer still: why it cannot is what has to be known.
  const later = unread.find(({ id }) => newest === undefined || id > newest.manifest.id);
  if (newest === undefined || later !== undefined) {
    const path = later?.path ?? '';
    return { path, ...(await openManifest(repository, path)) };
  }
  const doubt = doubtAboutNewest(history.map(placeOf), now) ?? lossWords(repository, newest, history);
  if (doubt !== undefined) throw new Failure('Ambiguous', `say which backup is wanted, by its id: ${doubt}`);
  return newest;
}

function lossWords(
  { drivers }: Repository,
  { manifest: { id } }: KnownBackup,
  history: readonly KnownBackup[],
): string | undefined {
  const why = lossesIn(drivers, history, undefined).get(id);
  return why === undefined ? undefined : `of the newest, ${id}, ${why}`;
}

/** Manifests that are read side by side. */
const openedAtOnce = 8;

export interface KnownBackup extends FoundBackup {
  readonly modifiedAt: number;
}

/** The backups of one cluster that hold suddenly little, by id: why. `history` is newest first. */
export function lossesIn(
  drivers: readonly Driver[],
  history: readonly FoundBackup[],
  confirmed: string | undefined,
): ReadonlyMap<string, string> {
  const [newest] = history;
  if (newest === undefined) return new Map();
  const { lossSince } = driverOf(drivers, newest.manifest.engine);
  return suddenLosses(history.map(({ manifest }) => manifest).toReversed(), confirmed, lossSince);
}

/** Those of the folders whose manifest can be trusted, newest first. Of one cluster. */
export async function historyOf(repository: Repository, folders: readonly Folder[]): Promise<readonly KnownBackup[]> {
  const known: KnownBackup[] = [];
  const withManifest = folders.filter(({ hasManifest }) => hasManifest);
  for (let at = 0; at < withManifest.length; at += openedAtOnce) {
    const some = withManifest.slice(at, at + openedAtOnce);
    const opened = await Promise.all(some.map(({ path }) => trustedManifest(repository, path)));
    for (const [index, { path, modifiedAt }] of some.entries()) {
      const found = opened[index];
      if (found !== undefined) known.push({ path, modifiedAt, ...found });
    }
  }
  return known.sort((a, b) => newestFirst(a.manifest, b.manifest));
}

/** The numbers that are claimed by those that cannot be trusted: with another key, they may be some day. */
export async function claimedSequences(
  target: Target,
  folders: readonly Folder[],
  history: readonly KnownBackup[],
): Promise<readonly { readonly sequence: number }[]> {
  const trusted = new Set(history.map(({ path }) => path));
  const others = folders.filter(({ path, hasManifest }) => hasManifest && !trusted.has(path));
  const claimed: { readonly sequence: number }[] = [];
  for (let at = 0; at < others.length; at += openedAtOnce) {
    const read = others.slice(at, at + openedAtOnce).map(({ path }) => readManifest(target, path));
    for (const each of await Promise.allSettled(read)) {
      const sequence = each.status === 'fulfilled' ? claimedSequence(each.value) : undefined;
      if (sequence !== undefined) claimed.push({ sequence });
    }
  }
  return claimed;
}

export function placeOf({ manifest: { id, sequence }, modifiedAt }: KnownBackup): Placed {
  return { id, modifiedAt, ...(sequence === undefined ? {} : { sequence }) };
}

/** A cluster has one name for as long as it lives: any manifest that can be trusted tells it. */
async function ofName(
  repository: Repository,
  folders: readonly Folder[],
  name: string | undefined,
): Promise<readonly Folder[]> {
  if (name === undefined) return folders;
  const names = new Map<string, string>();
  for (const { path, uid } of folders) {
    if (names.has(uid)) continue;
    const opened = await trustedManifest(repository, path);
    if (opened !== undefined) names.set(uid, opened.manifest.cluster.name);
  }
  return folders.filter(({ uid }) => names.get(uid) === name);
}

function inWords({ id, namespace, name, uid }: Which, kind: string): string {
  const parts = [
    `of ${/^[AEIOU]/.test(kind) ? 'an' : 'a'} ${kind}`,
    ...(id === undefined ? [] : [`with the id ${id}`]),
    ...(namespace === undefined ? [] : [`in the namespace ${namespace}`]),
    ...(name === undefined ? [] : [`called ${name}`]),
    ...(uid === undefined ? [] : [`with the UID ${uid}`]),
  ];
  return parts.join(' ');
}
