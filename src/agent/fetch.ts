/** Brings a backup to where a new member will find it. */
import type { AgentResult } from '../backup/agent-result.ts';
import type { FetchTask, Which } from '../backup/agent-task.ts';
import { type Manifest, type StoredData, summaryOf } from '../backup/manifest.ts';
import type { AgentContext } from '../engine/driver/agent-context.ts';
import { type Driver, driverOf } from '../engine/driver/driver.ts';
import { Failure } from '../engine/driver/failure.ts';
import { logStore } from './archive/log-store.ts';
import { findBackup, type Repository } from './repository.ts';
import { verifiedData } from './verified-data.ts';

export async function fetchBackup(
  { which, destination, target: place }: FetchTask,
  repository: Repository,
  context: AgentContext,
): Promise<Extract<AgentResult, { readonly result: 'fetched' }>> {
  const { clock, log } = context;
  const began = clock.monotonic();
  const driver = driverOf(repository.drivers, destination.engine);
  const wanted = chosenBefore(which, await driver.begun(destination));
  const backup = await findBackup(repository, wanted, driver.kind, clock.now(), (history) => {
    const dated = history.map(({ manifest: { id, completedAt, state } }) => ({ id, completedAt, state }));
    return driver.archive?.choose(destination, wanted, dated) ?? { kind: 'any' };
  });
  const { path, manifest } = backup;
  requireFitting(driver, manifest, destination.version);
  const part = driver.partFor?.(destination, manifest.state);
  const { plainBytes, plainSha256 } = dataOf(manifest, part);
  log.info({ folder: path, bytes: plainBytes, ...(part === undefined ? {} : { part }) }, 'the backup is fetched');
  const content = (): AsyncIterable<Uint8Array> => verifiedData(repository, backup, part);
  const filled = await driver.fill(destination, { path, plainSha256 }, content, context, manifest.state);
  const store = logStore(repository, manifest.cluster, context);
  await driver.archive?.fetch(destination, manifest.state, store, context);
  const milliseconds = Math.round(clock.monotonic() - began);
  return {
    result: 'fetched',
    backup: summaryOf(manifest, place.prefix, driver.describe(manifest.state)),
    ...filled,
    milliseconds,
  };
}

/** "The newest" is decided once: one that was taken meanwhile is not what an earlier attempt has begun with. */
function chosenBefore(which: Which, begun: string | undefined): Which {
  const [id, uid, , namespace] = begun?.split('/').toReversed() ?? [];
  if (which.id !== undefined || id === undefined || uid === undefined || namespace === undefined) return which;
  const isAskedFor = (which.uid ?? uid) === uid && (which.namespace ?? namespace) === namespace;
  return isAskedFor ? { ...which, namespace, uid, id } : which;
}

/** @throws Failure Unfit */
function dataOf({ data, parts, engine }: Manifest, part: number | undefined): StoredData {
  if ((parts === undefined) === (part === undefined)) {
    const found = part === undefined ? data : parts?.[part];
    if (found !== undefined) return found;
  }
  throw new Failure('Unfit', `the backup of ${engine} is in ${parts?.length ?? 1} part(s), none of which goes there`);
}

function requireFitting({ canRead }: Driver, { engine, engineVersion }: Manifest, version: string | undefined): void {
  if (version === undefined || canRead(engineVersion, version)) return;
  throw new Failure('Unfit', `the backup is of ${engine} ${engineVersion}, and the new cluster is to run ${version}`);
}
