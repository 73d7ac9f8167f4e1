/** Brings a backup to where a new member will find it. */
import type { AgentResult } from '../backup/agent-result.ts';
import type { FetchTask, Which } from '../backup/agent-task.ts';
import type { KeyRing } from '../backup/key.ts';
import { type Manifest, summaryOf } from '../backup/manifest.ts';
import { findBackup } from './catalogue.ts';
import { Failure } from './failure.ts';
import type { Machine } from './machine.ts';
import { dataOf } from './read-back.ts';
import type { Surroundings } from './surroundings.ts';
import type { Target } from './target/target.ts';

export async function fetchBackup(
  { which, destination, target: place }: FetchTask,
  target: Target,
  keys: KeyRing | undefined,
  surroundings: Surroundings,
  machine: Pick<Machine, 'begun' | 'fill'>,
): Promise<Extract<AgentResult, { readonly result: 'fetched' }>> {
  const { clock, log } = surroundings;
  const began = clock.monotonic();
  const wanted = chosenBefore(which, await machine.begun(destination));
  const backup = await findBackup(target, wanted, destination.engine, keys, clock.now());
  const { path, manifest } = backup;
  requireFitting(manifest, destination.version);
  log.info({ folder: path, bytes: manifest.data.plainBytes }, 'the backup is fetched');
  const { plainSha256 } = manifest.data;
  const content = (): AsyncIterable<Uint8Array> => dataOf(target, backup);
  const { isRepeated } = await machine.fill(destination, { path, plainSha256 }, content, surroundings);
  const milliseconds = Math.round(clock.monotonic() - began);
  return { result: 'fetched', backup: summaryOf(manifest, place.prefix), isRepeated, milliseconds };
}

/** "The newest" is decided once: one that was taken meanwhile is not what an earlier attempt has begun with. */
function chosenBefore(which: Which, begun: string | undefined): Which {
  const [id, uid, , namespace] = begun?.split('/').toReversed() ?? [];
  if (which.id !== undefined || id === undefined || uid === undefined || namespace === undefined) return which;
  const isAskedFor = (which.uid ?? uid) === uid && (which.namespace ?? namespace) === namespace;
  return isAskedFor ? { ...which, namespace, uid, id } : which;
}

/** No engine reads what a later MAJOR.MINOR has written. */
function requireFitting({ engine, engineVersion }: Manifest, version: string | undefined): void {
  if (version === undefined) return;
  const [[major = 0, minor = 0], [newMajor = 0, newMinor = 0]] = [numbers(engineVersion), numbers(version)];
  if (major < newMajor || (major === newMajor && minor <= newMinor)) return;
  throw new Failure('Unfit', `the backup is of ${engine} ${engineVersion}, and the new cluster is to run ${version}`);
}

function numbers(version: string): readonly number[] {
  return version.split('.').map(Number);
}
