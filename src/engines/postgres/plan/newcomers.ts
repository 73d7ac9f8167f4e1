/** Members that have never had the data: they are to copy it from the primary, or copy it now. */

import { memberLabel } from '../../../resources/metadata.ts';
import { claimName, indexInName, retiredAnnotation } from '../names.ts';
import { heldBy, type Situation } from '../observe/situation.ts';

/** One that answers nobody may have all of it, and its volume has yet to be marked: that is not known here. */
export function hasYetToCopy({ roster, claims, live }: Situation, index: number): boolean {
  const hasTold = live.get(index)?.systemId !== undefined;
  return roster.get(index) === 'join' && heldBy(claims.get(index)) === undefined && !hasTold;
}

/**
 * Whether another new member would not help either: one has been replaced before that never had the data, or the two right before this one have been, and
 * their volumes are still there. So it is not the volume, and each further one would leave another. Where a member has to leave anyway, none comes.
 */
export function isFutile({ cluster, children, claims, roster, spec }: Situation, index: number): boolean {
  const { name } = cluster.metadata;
  // Its own is retired, and the replacement stopped there: it goes on, for nothing else is ever to run on that volume.
  if (!claims.has(index)) return false;
  const left = children.claims.filter((claim) => {
    const owner = indexInName(name, claim.metadata.labels?.[memberLabel]);
    const hasLeft = owner !== undefined && !roster.has(owner) && claim.metadata.name === claimName(name, owner);
    return hasLeft && claim.metadata.annotations?.[retiredAnnotation] !== undefined;
  });
  const isLeft = (number: number): boolean => left.some(({ metadata }) => metadata.name === claimName(name, number));
  const hasFailed = left.some((claim) => heldBy(claim) === undefined) || (isLeft(index - 1) && isLeft(index - 2));
  return hasFailed && roster.size <= spec.instances;
}
