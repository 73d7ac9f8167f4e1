/** What is written on the volumes: whose data each holds, and that no process is ever started on one again. */
import { persistentVolumeClaims } from '../../../api/resource.ts';
import type { ObjectStep } from '../../../plan/plan.ts';
import { refOf } from '../../../plan/ref.ts';
import type { Claim } from '../../../resources/children.ts';
import { holdsAnnotation, retiredAnnotation } from '../names.ts';
import { heldBy, type Situation } from '../observe/situation.ts';
import type { Roster } from '../resources/roster.ts';

function annotate(claim: Claim, name: string, to: string): ObjectStep[] {
  const ref = refOf(claim, persistentVolumeClaims);
  const from = claim.metadata.annotations?.[name];
  if (ref === undefined || from === to) return [];
  return [
    {
      type: 'patch',
      ref,
      patch: { metadata: { annotations: { [name]: to } } },
      changes: [{ path: `metadata.annotations[${name}]`, ...(from === undefined ? {} : { from }), to }],
    },
  ];
}

/** No process is ever started on it again. */
export function retiredMark(claim: Claim): ObjectStep[] {
  return annotate(claim, retiredAnnotation, 'true');
}

/** A volume whose member has told its database for the first time. */
export function holdSteps({ claims, live }: Situation): ObjectStep[] {
  return [...claims].flatMap(([index, claim]) => {
    const { systemId } = live.get(index) ?? {};
    return systemId === undefined || heldBy(claim) !== undefined ? [] : annotate(claim, holdsAnnotation, systemId);
  });
}

/**
 * Those of members that have left: kept, or deleted where that is the policy. Only once nothing runs on it: until then its member may be
 * elected, and stay.
 */
export function retireSteps({ claims, sets, pods, spec }: Situation, roster: Roster): ObjectStep[] {
  return [...claims].flatMap(([index, claim]): ObjectStep[] => {
    if (roster.has(index) || sets.has(index) || pods.has(index)) return [];
    if (claim.metadata.deletionTimestamp !== undefined) return [];
    if (spec.deletionPolicy !== 'Delete') return retiredMark(claim);
    const ref = refOf(claim, persistentVolumeClaims);
    return ref === undefined ? [] : [{ type: 'delete', ref, reason: 'its member has left' }];
  });
}
