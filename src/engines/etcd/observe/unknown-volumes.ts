/**
 * Claims that are there before the member that would take them, and that somebody has made: a clone of another volume, for
 * one. Kubernetes gives a pod the claim of that name, and etcd goes by what is on it: as a member of the cluster that it is
 * a copy of, it would vote there with data of its own. A volume for a new member is always made with its StatefulSet.
 *
 * They carry no labels of ours, or those of what they are copies of, so no watch tells of them: the API server is asked
 * where a member is about to be made. A member that joins has a number of which the operator's view has no trace, so a
 * claim with its own labels is one of an earlier member that the view does not show yet.
 */

import type { EngineContext } from '../../../engine/engine-context.ts';
import { blocked, type Outcome } from '../../../plan/plan.ts';
import type { Claim } from '../../../resources/children.ts';
import { managedBy, managedByLabel, memberLabel } from '../../../resources/metadata.ts';
import { claimName, memberName } from '../names.ts';
import { formationOf } from './formation.ts';
import { nextIndex, type Situation } from './situation.ts';

/** No watch tells that one has been deleted. */
const recheckMs = 10_000;

/** Names of claims; undefined where there are none. */
export async function unknownVolumes(situation: Situation, io: EngineContext): Promise<readonly string[] | undefined> {
  const cluster = situation.cluster.metadata.name;
  const isForming = situation.members === undefined;
  const found = await Promise.all(
    newcomers(situation).map(async (index) => {
      const name = claimName(cluster, index);
      const { claim } = (await io.claim(name)) ?? {};
      const isFree = claim === undefined || (isForming && isOfMember(claim, memberName(cluster, index)));
      return isFree ? [] : [name];
    }),
  );
  const unknown = found.flat();
  return unknown.length === 0 ? undefined : unknown;
}

/** While a cluster is formed, the member's StatefulSet makes it. A copy bears the labels of the member it was made from. */
function isOfMember({ metadata: { labels = {} } }: Claim, member: string): boolean {
  return labels[managedByLabel] === managedBy && labels[memberLabel] === member;
}

/** Numbers of the members that are about to be created: the first ones of a cluster, or the one that joins next. */
function newcomers(situation: Situation): readonly number[] {
  const { members, sets, spec } = situation;
  if (spec.replicas === 0) return [];
  if (members !== undefined) return members.length < spec.replicas ? [nextIndex(situation)] : [];
  const formation = formationOf(situation);
  if (formation.state === 'lost') return [];
  return [...formation.roster].flatMap(([index, { state }]) => (state === 'new' && !sets.has(index) ? [index] : []));
}

/** Undefined where there are none. */
export function unknownVolumesOutcome({ observed }: Situation): Outcome | undefined {
  const { unknownVolumes: names } = observed;
  if (names === undefined) return undefined;
  const message = `the volume(s) ${names.join(', ')} were there before their members, and nobody knows what is on them: a copy of a member's volume would vote in the cluster of the original; delete these claims, and begin with a backup (bootstrap.restore) where their data is wanted`;
  return blocked('DataExists', message, recheckMs);
}
