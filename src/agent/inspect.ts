/** Looks at backups, and changes nothing. */
import type { AgentResult } from '../backup/agent-result.ts';
import type { ListTask, VerifyTask } from '../backup/agent-task.ts';
import { summaryOf } from '../backup/manifest.ts';
import { misleadingIds } from '../backup/order.ts';
import type { AgentContext } from '../engine/driver/agent-context.ts';
import { driverOf } from '../engine/driver/driver.ts';
import {
  type Folder,
  findBackup,
  historyOf,
  type KnownBackup,
  lossesIn,
  matching,
  placeOf,
  type Repository,
} from './repository.ts';
import { verify } from './verified-data.ts';

export async function verifyBackup(
  { which, engine, target: place }: VerifyTask,
  repository: Repository,
  { clock }: AgentContext,
): Promise<Extract<AgentResult, { readonly result: 'verified' }>> {
  const began = clock.monotonic();
  const driver = driverOf(repository.drivers, engine);
  const backup = await findBackup(repository, which, driver.kind, clock.now());
  await verify(repository, backup);
  const milliseconds = Math.round(clock.monotonic() - began);
  return {
    result: 'verified',
    backup: summaryOf(backup.manifest, place.prefix, driver.describe(backup.manifest.state)),
    milliseconds,
  };
}

type Listed = Extract<AgentResult, { readonly result: 'listed' }>;

/** What fits into a termination message; the log has them all. */
const maxListed = 8;

export async function listBackups(
  { which, engine, target: place }: ListTask,
  repository: Repository,
  { log }: AgentContext,
): Promise<Listed> {
  const listed: Listed['backups'][number][] = [];
  let total = 0;
  let unusable = 0;
  const { target, drivers } = repository;
  const kind = engine === undefined ? undefined : driverOf(drivers, engine).kind;
  const folders = await matching(target, which, kind);
  const histories = await historiesOf(repository, folders);
  for (const folder of folders) {
    const history = histories.get(clusterOf(folder)) ?? [];
    const known = history.find(({ path }) => path === folder.path);
    if (known === undefined) {
      unusable += 1;
      log.warn({ folder: folder.path }, 'a manifest cannot be gone by');
      continue;
    }
    const { manifest } = known;
    const backup = summaryOf(manifest, place.prefix, driverOf(drivers, manifest.engine).describe(manifest.state));
    if (which.name !== undefined && backup.cluster.name !== which.name) continue;
    total += 1;
    const warning = warningOf(repository, known, history);
    log.info({ backup, ...(warning === undefined ? {} : { warning }) }, 'a backup');
    const { id, folder: path, cluster, plainBytes, completedAt } = backup;
    if (listed.length < maxListed) listed.push({ id, folder: path, cluster, plainBytes, completedAt });
  }
  return { result: 'listed', total, backups: listed, unusable };
}

const clusterOf = ({ namespace, kind, uid }: Folder): string => `${namespace}/${kind}/${uid}`;

async function historiesOf(
  repository: Repository,
  folders: readonly Folder[],
): Promise<ReadonlyMap<string, readonly KnownBackup[]>> {
  const found = new Map<string, readonly KnownBackup[]>();
  for (const cluster of new Set(folders.map(clusterOf))) {
    const own = folders.filter((folder) => clusterOf(folder) === cluster);
    found.set(cluster, await historyOf(repository, own));
  }
  return found;
}

/** Why somebody may not want this one, though it seems to be the newest. */
function warningOf(
  { drivers }: Repository,
  { manifest: { id } }: KnownBackup,
  history: readonly KnownBackup[],
): string | undefined {
  const loss = lossesIn(drivers, history, undefined).get(id);
  if (loss !== undefined) return loss;
  const later = misleadingIds(history.map(placeOf)).get(id);
  return later === undefined ? undefined : `it was taken before ${later}, by a clock that was ahead`;
}
