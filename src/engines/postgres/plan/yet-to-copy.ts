/** Members that have never had the data: they are to copy it from the primary, or copy it now. */
import { heldBy, type Situation } from '../observe/situation.ts';

/** One that answers nobody may have all of it, and its volume has yet to be marked: that is not known here. */
export function hasYetToCopy({ roster, claims, live }: Situation, index: number): boolean {
  const hasTold = live.get(index)?.systemId !== undefined;
  return roster.get(index) === 'join' && heldBy(claims.get(index)) === undefined && !hasTold;
}
