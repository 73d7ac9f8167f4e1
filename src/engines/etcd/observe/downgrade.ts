/**
 * etcd's own procedure for the way back to the minor before: a downgrade is allowed by the members together, then each
 * one brings its data into the older format, and only then a process of the older version may start on it. etcd ends it
 * by itself when all of them run that version.
 *
 * Members of 3.6 say in their status how far that is. Those of 3.5 say nothing, so one of them is asked whether it would
 * allow another downgrade: it refuses that while one is under way.
 */
import type { Cluster } from '../../../api/cluster.ts';
import { type Answer, EtcdRefusal } from '../client/gateway.ts';
import type { EtcdSpec } from '../kind/schema.ts';
import { minorNumber } from '../kind/versions.ts';
import { answering, type DowngradeWord, type EtcdObserved, type LiveMember } from './observed.ts';

/** From this minor on a member's status tells of downgrades. */
const telling = 6;

const inProgress = /downgrade job in progress/i;

/** What a member's status says of downgrades. */
export function downgradeTold({
  storageVersion,
  downgradeInfo,
}: Answer): Pick<LiveMember, 'storageVersion' | 'downgradeTarget'> {
  const { enabled, targetVersion } = (downgradeInfo ?? {}) as { enabled?: unknown; targetVersion?: unknown };
  return {
    ...(typeof storageVersion === 'string' && storageVersion !== '' ? { storageVersion } : {}),
    ...(enabled === true ? { downgradeTarget: String(targetVersion) } : {}),
  };
}

/** Asks nothing while the version is of no matter: see `question`. `validate` rejects with etcd's refusal. */
export async function downgradeOf(
  cluster: Cluster<EtcdSpec>,
  live: readonly LiveMember[],
  validate: (body: { readonly action: 'VALIDATE'; readonly version: string }) => Promise<unknown>,
): Promise<{ readonly downgrade?: DowngradeWord }> {
  const about = question(cluster, live);
  if (about === undefined) return {};
  try {
    await validate({ action: 'VALIDATE', version: about.version });
    return {};
  } catch (error) {
    if (!(error instanceof EtcdRefusal)) throw error;
    if (inProgress.test(error.message)) return { downgrade: { state: 'underway' } };
    return about.isWanted ? { downgrade: { state: 'refused', words: error.message } } : {};
  }
}

/**
 * Whether the version that is wanted may be had, where it is an earlier minor; or, of members that do not tell, whether
 * a downgrade is under way, while anything changes. Otherwise undefined.
 */
function question(
  { spec, status }: Cluster<EtcdSpec>,
  live: readonly LiveMember[],
): { readonly version: string; readonly isWanted: boolean } | undefined {
  const latest = Math.max(...live.map(({ version }) => minorNumber(version)));
  const wanted = minorNumber(spec.version);
  if (status?.initialized !== true || live.length === 0) return undefined;
  if (latest >= telling) {
    const isAllowed = live.some(({ downgradeTarget }) => downgradeTarget !== undefined);
    return wanted >= latest || isAllowed ? undefined : { version: `3.${wanted}.0`, isWanted: true };
  }
  const isAtRest = wanted === latest && status.phase === 'Ready';
  return isAtRest ? undefined : { version: `3.${latest - 1}.0`, isWanted: false };
}

/**
 * To the minor of which version the cluster may be downgraded, by the word of anybody; undefined where nobody says so.
 * While it may, no member can join: etcd lets neither version in.
 */
export function allowedTarget({ members, agreed }: EtcdObserved): string | undefined {
  const live = answering(members);
  const told = live.find(({ downgradeTarget }) => downgradeTarget !== undefined)?.downgradeTarget;
  if (told !== undefined || agreed?.downgrade?.state !== 'underway') return told;
  return `3.${Math.min(...live.map(({ version }) => minorNumber(version)))}.0`;
}

/** Whether a process of that minor may start on the data of everybody who runs a later one, and etcd keeps it that way. */
export function isPrepared(later: readonly LiveMember[], minor: number): boolean {
  return later.every(
    ({ downgradeTarget, storageVersion }) =>
      minorNumber(downgradeTarget) === minor && storageVersion !== undefined && minorNumber(storageVersion) <= minor,
  );
}
