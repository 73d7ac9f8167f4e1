/**
 * Watches over what is kept, for what must never happen to it: that data goes before a last backup is there (O4), that
 * retention takes the last good one (O4), that a restored cluster begins without its data (O4), that a template names
 * another minor version before there is a backup of the present one (O4), that a backup is called verified and is not
 * there, or not whole (O8), that there are two for one `Backup` (O3), or that something is missing in one (O5).
 */
import type { KubeObject } from '../../../src/api/object.ts';
import type { KeyRing } from '../../../src/backup/key.ts';
import type { Manifest } from '../../../src/backup/manifest.ts';
import { lastBackupAnnotation } from '../../../src/jobs/last-backup.ts';
import type { VaultFindings } from '../record.ts';
import type { SimulatedWorld } from '../subject.ts';
import type { Commit } from '../world/kubernetes.ts';
import type { Volume } from '../world/workload.ts';
import type { Contents, Database } from './database.ts';
import { contentsOf, emptiedAmong, type KeptBackup, wholeBackups } from './stock.ts';
import type { Vault } from './vault.ts';

const operator = 'clusterwright';

export interface VaultWatchOptions {
  readonly world: SimulatedWorld;
  readonly vault: Vault;
  readonly database: Database;
  readonly keys: KeyRing;
  /** Claims that backups are kept on. */
  readonly claims: readonly string[];
  /** What clients would read now. */
  readonly contents: () => Contents | undefined;
  /** What a restored cluster must hold. */
  readonly restored: Contents | undefined;
}

interface Said {
  readonly phase?: string;
  readonly location?: string;
  readonly checksum?: string;
}

const saidBy = (object: KubeObject | undefined): Said => (object?.status ?? {}) as Said;
const specOf = (object: KubeObject): Readonly<Record<string, unknown>> =>
  (object.spec ?? {}) as Readonly<Record<string, unknown>>;
/** `3.5`; of PostgreSQL, whose data differs between major versions alone, `17`. */
const minorIn = (version: string | undefined): string => /^\d\d(?=\.|$)|^\d+\.\d+/.exec(version ?? '')?.[0] ?? '';
function templateMinor(set: KubeObject): string {
  const { template } = specOf(set) as { readonly template?: Pick<KubeObject, 'metadata'> };
  return minorIn(template?.metadata.labels?.['app.kubernetes.io/version']);
}
const isCluster = ({ kind }: KubeObject): boolean => ['RedisCluster', 'EtcdCluster', 'PostgresCluster'].includes(kind);

/** Watches from now on; the returned function tells what was found. */
export function watchVault(options: VaultWatchOptions): () => Promise<VaultFindings> {
  const { world, vault, database, keys, claims, restored } = options;
  const { kubernetes, namespace, cluster } = world;
  const unsafe = new Set<string>();
  const untrue = new Set<string>();
  const first = options.contents() ?? new Map<string, string>();
  const known = new Set(kept().map(({ path }) => path));

  function places(): Volume[] {
    return [vault.bucket, ...claims.flatMap((name) => kubernetes.volumeOf(namespace, name) ?? [])];
  }

  function kept(): KeptBackup[] {
    return places().flatMap((place) => wholeBackups(place, keys));
  }

  const isLastOf = ({ purpose, cluster: of }: Manifest, uid: string | undefined): boolean =>
    purpose.type === 'deletion' && of.uid === uid;

  /** Claims of a backup that is not there. */
  function told({ before, after }: Commit): void {
    if (after === undefined || after.kind !== 'Backup') return;
    const { phase, location, checksum } = saidBy(after);
    if (phase !== 'Verified' || saidBy(before).phase === 'Verified') return;
    const own = kept().find(({ manifest }) => manifest.purpose.uid === after.metadata.uid);
    const name = `Backup ${after.metadata.name}`;
    if (own === undefined) untrue.add(`${name} is called verified, and there is none that is whole`);
    else if (location !== undefined && (location !== own.path || checksum !== own.manifest.data.plainSha256)) {
      untrue.add(`${name} tells of ${location}, and ${own.path} is what there is`);
    }
  }

  function ofEnd({ actor, before, after, verb }: Commit): void {
    if (actor !== operator || before === undefined) return;
    const owner = kubernetes.objects().find(isCluster) ?? (isCluster(before) ? before : undefined);
    if (owner === undefined || specOf(owner).deletionPolicy !== 'Snapshot') return;
    const isGoing =
      before.metadata.deletionTimestamp === undefined &&
      (verb === 'delete' || after?.metadata.deletionTimestamp !== undefined);
    const isData = ['StatefulSet', 'PersistentVolumeClaim', 'Secret'].includes(before.kind);
    const isReleased =
      isCluster(before) && (before.metadata.finalizers ?? []).length > (after?.metadata.finalizers ?? []).length;
    const isMarked =
      after?.metadata.annotations?.[lastBackupAnnotation] !== before.metadata.annotations?.[lastBackupAnnotation];
    if (!isReleased && !(isCluster(before) && isMarked) && !(isGoing && isData)) return;
    if (kept().some(({ manifest }) => isLastOf(manifest, owner.metadata.uid))) return;
    const what = isReleased ? 'is let go' : isGoing ? 'is deleted' : 'is marked';
    unsafe.add(`${before.kind} ${before.metadata.name} ${what} before there is a last backup`);
  }

  /** Of a cluster that is to begin with a backup. */
  function ofBeginning({ actor, before, after }: Commit): void {
    if (actor !== operator || before !== undefined || after?.kind !== 'StatefulSet') return;
    const owner = kubernetes
      .objects()
      .find(
        (object) => isCluster(object) && after.metadata.ownerReferences?.some(({ uid }) => uid === object.metadata.uid),
      );
    const { bootstrap } = (owner === undefined ? {} : specOf(owner)) as { readonly bootstrap?: object };
    if (bootstrap === undefined) return;
    const volume = kubernetes.volumeOf(namespace, database.firstClaim(cluster));
    if (volume === undefined || !database.hasData(volume)) {
      unsafe.add(`StatefulSet ${after.metadata.name} is made before the restored data is there`);
    }
  }

  /** A pod that is made again would start with what its template says. */
  function ofVersion({ actor, before, after }: Commit): void {
    if (actor !== operator || before?.kind !== 'StatefulSet' || after === undefined) return;
    const owner = kubernetes.objects().find(isCluster);
    const [from, to] = [before, after].map(templateMinor);
    if (owner === undefined || specOf(owner).backup === undefined || from === to) return;
    const { uid } = owner.metadata;
    const isIt = ({ purpose, cluster: of, engineVersion }: Manifest): boolean =>
      purpose.type === 'version' && of.uid === uid && minorIn(engineVersion) !== to;
    if (kept().some(({ manifest }) => isIt(manifest))) return;
    unsafe.add(`${before.metadata.name} goes from ${from} to ${to} before there is a backup`);
  }

  kubernetes.onCommit((commit) => {
    told(commit);
    ofVersion(commit);
    ofEnd(commit);
    ofBeginning(commit);
  });

  vault.onRemove = (place, path) => {
    if (!path.endsWith('/manifest.json')) return;
    const all = wholeBackups(place, keys);
    const going = all.find((backup) => path === `${backup.path}/manifest.json`);
    if (going === undefined) return;
    const { purpose, cluster: of, id } = going.manifest;
    const own = all.filter(
      ({ manifest }) =>
        manifest.cluster.uid === of.uid &&
        manifest.purpose.type === purpose.type &&
        manifest.purpose.name === purpose.name,
    );
    const emptied = emptiedAmong(own);
    const younger = own.filter((backup) => backup.manifest.id > id && !emptied.has(backup));
    if (purpose.type !== 'schedule') unsafe.add(`${path} is deleted, which no schedule has made`);
    else if (younger.length === 0) unsafe.add(`${path} is deleted, the last good one`);
  };

  async function missing(backup: KeptBackup): Promise<string[]> {
    try {
      const held = await contentsOf(backup, database);
      const lost = [...first].filter(([name, value]) => held.get(name) !== value);
      return lost.length === 0 ? [] : [`${backup.path} lacks ${lost.length} of ${first.size}, such as ${lost[0]?.[0]}`];
    } catch (error) {
      return [`${backup.path} cannot be read: ${error instanceof Error ? error.message : String(error)}`];
    }
  }

  function differing(): string[] {
    if (restored === undefined) return [];
    const held = options.contents();
    if (held === undefined) return ['nothing can be read of what was restored'];
    const names = [...new Set([...restored.keys(), ...held.keys()])];
    const wrong = names.filter((name) => held.get(name) !== restored.get(name));
    return wrong.length === 0 ? [] : [`${wrong.length} of ${names.length} differ from the backup, such as ${wrong[0]}`];
  }

  function counted(): string[] {
    const made = kept();
    return kubernetes.objects().flatMap((object) => {
      const { name, uid } = object.metadata;
      if (object.kind === 'Backup') {
        const own = made.filter(({ manifest }) => manifest.purpose.uid === uid).length;
        const wanted = saidBy(object).phase === 'Verified' ? 1 : 0;
        return own > 1 || own < wanted ? [`${own} backups for Backup ${name}`] : [];
      }
      if (object.kind !== 'BackupSchedule') return [];
      const { retention } = specOf(object) as { readonly retention?: { readonly count?: number } };
      const all = made.filter(({ manifest }) => manifest.purpose.type === 'schedule' && manifest.purpose.name === name);
      const emptied = emptiedAmong(all);
      const own = all.filter((backup) => !emptied.has(backup));
      const most = retention?.count ?? Number.POSITIVE_INFINITY;
      if (own.length === 0) return [`no backup by BackupSchedule ${name}`];
      return own.length > most ? [`${own.length} backups by BackupSchedule ${name}, where ${most} are kept`] : [];
    });
  }

  return async () => {
    const fresh = kept().filter(({ path }) => !known.has(path));
    const lost = (await Promise.all(fresh.map(missing))).flat();
    return { unsafe: [...unsafe], untrue: [...untrue], lost: [...lost, ...differing()], uncounted: counted() };
  };
}
