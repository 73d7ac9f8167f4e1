/** Members that have never had the data: they are to copy it from the primary, or copy it now. */

import type { Claim } from '../../../resources/children.ts';
import { memberLabel } from '../../../resources/metadata.ts';
import { claimName, indexInName, retiredAnnotation } from '../names.ts';
import { heldBy, type Situation } from '../observe/situation.ts';

/** One that answers nobody may have all of it, and its volume has yet to be marked: that is not known here. */
export function hasYetToCopy({ roster, claims, live }: Situation, index: number): boolean {
  const hasTold = live.get(index)?.systemId !== undefined;
  return roster.get(index) === 'join' && heldBy(claims.get(index)) === undefined && !hasTold;
}

/**
 * Whether another new member would help: one has been replaced before that never had the data, and its volume is still there. So it is not the
 * volume, and each further one would leave another.
 */
export function isFutile(situation: Situation, index: number): boolean {
  // Its own is retired, and the replacement stopped there: it goes on, for nothing else is ever to run on that volume.
  if (!situation.claims.has(index)) return false;
  return hasSuccessor(situation) && leftClaims(situation).some((claim) => heldBy(claim) === undefined);
}

/** Of a member that has copied the data, and does not start: so did the one right before it, whose volume was made shortly before. */
export function isRepeated(situation: Situation, index: number): boolean {
  const madeAt = (claim: Claim | undefined): number => Date.parse(claim?.metadata.creationTimestamp ?? '');
  const own = madeAt(situation.claims.get(index));
  const isNew = situation.roster.get(index) === 'join';
  return isNew && hasSuccessor(situation) && leftClaims(situation).some((claim) => isShortly(own - madeAt(claim)));
}

const isShortly = (ms: number): boolean => ms >= 0 && ms < 3_600_000;

/** Where a member has to leave anyway, none comes in its place. */
function hasSuccessor({ roster, spec }: Situation): boolean {
  return roster.size <= spec.instances;
}

/** Of members that have left. */
function leftClaims({ cluster, children, roster }: Situation): readonly Claim[] {
  const { name } = cluster.metadata;
  return children.claims.filter((claim) => {
    const owner = indexInName(name, claim.metadata.labels?.[memberLabel]);
    const hasLeft = owner !== undefined && !roster.has(owner) && claim.metadata.name === claimName(name, owner);
    return hasLeft && claim.metadata.annotations?.[retiredAnnotation] !== undefined;
  });
}
