/**
 * The quota that the members get. The default may be smaller than what they have: an earlier operator gave more of a small
 * volume, and a larger volume may have been wanted that never came. One member with a quota that is smaller than its
 * database stops the writes of all of them, so while the database does not fit, nobody gets the smaller one: neither who
 * restarts nor who is new.
 */
import type { StatefulSet } from '../../resources/children.ts';
import { answering } from './observed.ts';
import { nearlyFull, quotaOf, quotaVariable } from './quota.ts';
import type { Situation } from './situation.ts';
import { volumeBytes } from './volume-size.ts';

/** Bytes. */
export function givenQuota(situation: Situation): number {
  const { spec, sets, observed } = situation;
  const wanted = quotaOf(spec, volumeBytes(situation));
  const written = Math.max(0, ...[...sets.values()].flatMap(quotaIn));
  if (spec.config.quotaBackend !== undefined || written <= wanted) return wanted;
  const sizes = answering(observed.members).map(({ dbSize }) => dbSize);
  // While nobody says how large it is, it may be as large as it could become.
  const isKnownToFit = sizes.length > 0 && Math.max(...sizes) < wanted * nearlyFull;
  return isKnownToFit ? wanted : written;
}

function quotaIn({ spec }: StatefulSet): number[] {
  const etcd = spec?.template?.spec?.containers?.find(({ name }) => name === 'etcd');
  const bytes = Number(etcd?.env?.find(({ name }) => name === quotaVariable)?.value);
  return Number.isSafeInteger(bytes) ? [bytes] : [];
}
