/**
 * The quota that the members get. The default may be smaller than what they have: an earlier operator gave more of a small
 * volume, and a larger volume may have been wanted that never came. One member with a quota that is smaller than its
 * database stops the writes of all of them, so while the database does not fit, nobody gets the smaller one: neither who
 * restarts nor who is new.
 */
import type { StatefulSet } from '../../../resources/children.ts';
import { nearlyFull, quotaOf, quotaVariable } from '../kind/quota.ts';
import { podName } from '../names.ts';
import { answering } from '../observe/observed.ts';
import { heldBy, type Situation } from '../observe/situation.ts';
import { volumeBytes } from './volume-size.ts';

/** Bytes. */
export function givenQuota(situation: Situation): number {
  const { spec, sets } = situation;
  const wanted = quotaOf(spec, volumeBytes(situation));
  const written = Math.max(0, ...[...sets.values()].flatMap(quotaIn));
  if (spec.config.quotaBackend !== undefined || written <= wanted) return wanted;
  return isKnownToFit(situation, wanted) ? wanted : written;
}

/** Bytes. A larger quota that is wanted may wait for a maintenance window: until then the database refuses writes over the one that is written. */
export function quotaInForce(situation: Situation): number {
  return Math.min(givenQuota(situation), ...[...situation.sets.values()].flatMap(quotaIn));
}

/** The quota is used up, the database takes no writes, and a larger quota is wanted. */
export function isShortOfQuota(situation: Situation): boolean {
  const isUsedUp = situation.observed.agreed?.alarms.some(({ type }) => type === 'NOSPACE') === true;
  return isUsedUp && quotaInForce(situation) < givenQuota(situation);
}

/**
 * By each member that has data: while one does not answer, its database may be as large as it could become. A new member
 * has yet to copy the others', and says little of theirs.
 */
function isKnownToFit({ cluster, claims, observed }: Situation, wanted: number): boolean {
  const live = answering(observed.members);
  const holders = [...claims].filter(([, claim]) => heldBy(claim) !== undefined);
  const haveAllSaid = holders.every(([index]) => live.some(({ pod }) => pod === podName(cluster.metadata.name, index)));
  return live.length > 0 && haveAllSaid && live.every(({ dbSize }) => dbSize < wanted * nearlyFull);
}

function quotaIn({ spec }: StatefulSet): number[] {
  const etcd = spec?.template?.spec?.containers?.find(({ name }) => name === 'etcd');
  const bytes = Number(etcd?.env?.find(({ name }) => name === quotaVariable)?.value);
  return Number.isSafeInteger(bytes) ? [bytes] : [];
}
