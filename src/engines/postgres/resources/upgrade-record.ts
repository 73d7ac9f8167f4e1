/**
 * How far a major upgrade is: written beside the roster, in the same ConfigMap, so that both change in one write. What is
 * not there yet is derived from Kubernetes and from the members; what is there has been done.
 */
import { isMajor, type Major } from '../kind/schema.ts';

/**
 * In order:
 * - `stopping`: Patroni is paused, the primary stops, then the standbys. Nothing is changed on any volume.
 * - `upgrading`: a Job runs `pg_upgrade` on the leader's volume.
 * - `undoing`: a Job puts that volume back, because the upgrade is not wanted any more. Then `cancelled`.
 * - `switching`: the volume holds the new version. Patroni's ConfigMaps and the volumes are told its new system identifier.
 * - `starting`: the leader starts on the new version. From here on the old version is only in the volumes that are kept.
 * - `finishing`: it takes writes. New standbys copy it, and statistics are collected.
 * - `cancelled`: the old version starts again on all members.
 */
const stages = ['stopping', 'upgrading', 'undoing', 'switching', 'starting', 'finishing', 'cancelled'] as const;
export type Stage = (typeof stages)[number];

export interface UpgradeRecord {
  readonly stage: Stage;
  readonly from: Major;
  readonly to: Major;
  /** Has both versions. */
  readonly image: string;
  /** Number of the member whose volume is upgraded. */
  readonly leader: number;
  /** Generation of the spec with which it began: names its Jobs. */
  readonly generation: number;
  /** System identifier of the old data, which that of the new differs from. */
  readonly oldSystem: string;
  /** From `switching` on. */
  readonly newSystem?: string;
  /** Numbers of standbys whose volumes are proven equal to the leader's: from `upgrading` on. */
  readonly kept?: readonly number[];
  /** What was left out when the data became of the new version, in the words of the Job. */
  readonly warnings?: string;
  /** Why it is cancelled: it is not tried again before the spec changes. Without it, it is. */
  readonly why?: string;
  /** The pause of the upgrade is over: whoever has paused Patroni since is somebody else. Only of one that is cancelled, and kept for its `why`. */
  readonly isResumed?: true;
}

/** Members are down, or about to be. Afterwards the record stays for what is left to do, or for why it was cancelled. */
export function isUnderway({ stage }: Pick<UpgradeRecord, 'stage'>): boolean {
  return stage !== 'finishing' && stage !== 'cancelled';
}

export const versionKey = 'version';
export const upgradeKey = 'upgrade';

const mostWords = 2000;

export function upgradeData(version: string, record: UpgradeRecord | undefined): Record<string, string> {
  return { [versionKey]: version, ...(record === undefined ? {} : { [upgradeKey]: JSON.stringify(inOrder(record)) }) };
}

/** One text for one record: another order of its fields would be a change. */
function inOrder(record: UpgradeRecord): Readonly<Record<string, unknown>> {
  const { stage, from, to, image, leader, generation, oldSystem, newSystem, kept, warnings, why, isResumed } = record;
  return { stage, from, to, image, leader, generation, oldSystem, newSystem, kept, warnings, why, isResumed };
}

/** The major version that the data of the members has, as it is written down. */
export function readVersion(data: Readonly<Record<string, string>>): Major | undefined {
  return majorOf(data[versionKey]);
}

export type ReadRecord =
  | { readonly state: 'none' }
  | { readonly state: 'read'; readonly record: UpgradeRecord }
  /** Somebody has changed it. */
  | { readonly state: 'unreadable' };

export function readRecord(data: Readonly<Record<string, string>>): ReadRecord {
  const text = data[upgradeKey];
  if (text === undefined) return { state: 'none' };
  const record = recordOf(text);
  return record === undefined ? { state: 'unreadable' } : { state: 'read', record };
}

function recordOf(text: string): UpgradeRecord | undefined {
  const fields = parsed(text);
  const stage = stages.find((one) => one === fields.stage);
  const [from, to] = [majorOf(fields.from), majorOf(fields.to)];
  const [leader, generation] = [whole(fields.leader), whole(fields.generation)];
  const oldSystem = digits(fields.oldSystem);
  const newSystem = digits(fields.newSystem);
  const { image, warnings, why } = fields;
  if (stage === undefined || from === undefined || to === undefined || typeof image !== 'string') return undefined;
  if (leader === undefined || generation === undefined || oldSystem === undefined) return undefined;
  if ((stage === 'switching' || stage === 'starting') && newSystem === undefined) return undefined;
  const kept = Array.isArray(fields.kept) ? fields.kept.flatMap((index: unknown) => whole(index) ?? []) : undefined;
  return {
    stage,
    from,
    to,
    image,
    leader,
    generation,
    oldSystem,
    ...(newSystem === undefined ? {} : { newSystem }),
    ...(kept === undefined ? {} : { kept }),
    ...(typeof warnings === 'string' ? { warnings: warnings.slice(0, mostWords) } : {}),
    ...(typeof why === 'string' ? { why: why.slice(0, mostWords) } : {}),
    ...(fields.isResumed === true ? { isResumed: true } : {}),
  };
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    // Somebody has changed it: the caller says so.
    return {};
  }
}

export function majorOf(value: unknown): Major | undefined {
  const text = typeof value === 'string' ? value.split('.')[0] : undefined;
  return text !== undefined && isMajor(text) ? text : undefined;
}

function whole(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function digits(value: unknown): string | undefined {
  return typeof value === 'string' && /^\d{1,20}$/.test(value) ? value : undefined;
}
