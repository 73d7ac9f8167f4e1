/** What is written on the volumes: whose data each holds, and that no process is ever started on one again. */
import { persistentVolumeClaims } from '../../../api/resource.ts';
import type { ObjectStep } from '../../../plan/plan.ts';
import { refOf } from '../../../plan/ref.ts';
import type { Claim } from '../../../resources/children.ts';
import { holdsAnnotation, retiredAnnotation, versionAnnotation } from '../names.ts';
import { heldBy, podOf, type Situation, volumesOf } from '../observe/situation.ts';
import type { Roster } from '../resources/roster.ts';
import { majorOf } from '../resources/upgrade-record.ts';

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
function retiredMark(claim: Claim): ObjectStep[] {
  return annotate(claim, retiredAnnotation, 'true');
}

/** Of a member: what it has written is on all of them. */
export function retiredMarks(situation: Situation, index: number): ObjectStep[] {
  return volumesOf(situation, index).flatMap(retiredMark);
}

/**
 * A volume whose member has told its database for the first time, and the version of its data. Patroni tells it a moment before it is finished: one
 * that the store does not know may still be begun anew, with another identifier.
 */
export function holdSteps({ claims, live, store }: Situation): ObjectStep[] {
  return [...claims].flatMap(([index, claim]) => {
    const { systemId, version } = live.get(index) ?? {};
    if (systemId === undefined) return [];
    const major = majorOf(version);
    return [
      ...(heldBy(claim) !== undefined || systemId !== store.systemId ? [] : annotate(claim, holdsAnnotation, systemId)),
      ...(major === undefined ? [] : annotate(claim, versionAnnotation, major)),
    ];
  });
}

/**
 * Those of members that have left: kept, or deleted where that is the policy. Only once nothing runs on it: until then its member may be
 * elected, and stay. It is deleted only while a primary has all of it, and no election would ask its member for the last commit.
 */
export function retireSteps(situation: Situation, roster: Roster): ObjectStep[] {
  const { claims, walClaims, sets, pods, spec, primary, store } = situation;
  return [...claims, ...walClaims].flatMap(([index, claim]): ObjectStep[] => {
    if (roster.has(index) || sets.has(index) || pods.has(index)) return [];
    if (claim.metadata.deletionTimestamp !== undefined) return [];
    if (spec.deletionPolicy !== 'Delete') return retiredMark(claim);
    if (primary === undefined || store.sync?.voters.includes(podOf(situation, index)) === true) return [];
    const ref = refOf(claim, persistentVolumeClaims);
    return ref === undefined ? [] : [{ type: 'delete', ref, reason: 'its member has left' }];
  });
}
