/**
 * Members that copy the primary's data while `synchronous.strict` begins to count. Patroni has read at its start how a member copies: with a
 * slot, which confirms the log. As soon as commits wait for any connection that does, such a copy would have them acknowledged. So their pods
 * start anew, and copy from the beginning without one: see `slotless` in `resources/patroni-config.ts`. So do those that have no data yet and
 * copy a moment later: their pods may have got the file before it changed.
 */
import { pods as podResource } from '../../../api/resource.ts';
import type { ObjectStep } from '../../../plan/plan.ts';
import { refOf } from '../../../plan/ref.ts';
import type { Situation } from '../observe/situation.ts';
import { hasYetToCopy } from './newcomers.ts';

/** `patch`: of the shared configuration, which is changed right after. */
export function slottedCopies(situation: Situation, patch: Readonly<Record<string, unknown>>): ObjectStep[] {
  const { roster, live, pods } = situation;
  if (patch.synchronous_mode_strict !== true) return [];
  return [...roster.keys()].flatMap((index): ObjectStep[] => {
    const pod = pods.get(index);
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return [];
    const mayCopy = live.get(index)?.postgres === 'creating replica' || hasYetToCopy(situation, index);
    const ref = mayCopy ? refOf(pod, podResource) : undefined;
    const reason = 'synchronous.strict is to count, and it copies the data with a slot: it begins anew without one';
    return ref === undefined ? [] : [{ type: 'delete', ref, reason }];
  });
}
