/** What a member's process said last, which its pod's status keeps: see `terminationMessagePolicy` in `pods.ts`. */
import type { Pod } from '../../resources/children.ts';

/** It resumes on a volume with no data: the roster names nobody whom it could ask for any. */
const blank = /cannot fetch cluster info from peer urls/;
/** It cannot read its own data. */
const unreadable =
  /crc mismatch|failed to read WAL, cannot be repaired|failed","error":"proto: |failed to open database/;
/** Its check at the start: some running member holds other data. Which of the two is wrong it does not know. */
const inconsistent = /found data inconsistency with peers/;

/** Neither its database nor its log can be written. */
const full = /no space left on device/;

/** `none`: nothing that says anything about its data. */
export type DataComplaint = 'blank' | 'unreadable' | 'inconsistent' | 'none';

export function complaintOf(pod: Pod | undefined): DataComplaint {
  const words = terminationMessages(pod);
  if (blank.test(words)) return 'blank';
  if (unreadable.test(words)) return 'unreadable';
  return inconsistent.test(words) ? 'inconsistent' : 'none';
}

export function isVolumeFull(pod: Pod | undefined): boolean {
  return full.test(terminationMessages(pod));
}

/** Then the messages are those of an earlier process: this one may be silent because its node is. */
export function isRunning(pod: Pod | undefined): boolean {
  return (pod?.status?.containerStatuses ?? []).some(({ state }) => state?.running !== undefined);
}

/** Of a process that has ended more than once: the first time may have been an accident of its own. */
function terminationMessages(pod: Pod | undefined): string {
  const ended = (pod?.status?.containerStatuses ?? []).filter(({ restartCount = 0 }) => restartCount > 0);
  return ended
    .flatMap(({ state, lastState }) => [state?.terminated?.message ?? '', lastState?.terminated?.message ?? ''])
    .join('\n');
}
