/** Changes of a template that restart nobody by themselves: members get them with the next change. */
import { isFingerprint } from '../../../plan/difference.ts';
import type { FieldChange, ObjectStep } from '../../../plan/plan.ts';
import { casAnnotation } from '../names.ts';
import { answering } from '../observe/observed.ts';
import type { Situation } from '../observe/situation.ts';

/** Bytes that are defragmented within half a minute, far from where a kubelet would end the process. */
const smallDatabase = 1024 ** 3;

/** Whether the step is none, or changes more of a template than what may wait. */
export function isWorthARestart(situation: Situation, step: ObjectStep): boolean {
  if (step.type !== 'apply' || step.object.kind !== 'StatefulSet') return true;
  const written = situation.children.statefulSet(step.object.metadata.name)?.spec?.template;
  const changes = step.changes.filter((change) => !isFingerprint(change));
  // A record restarts nobody. It waits where something else would come with it.
  const isRecord = ({ path }: FieldChange): boolean => path === `metadata.annotations[${casAnnotation}]`;
  const mayWait = (change: FieldChange): boolean =>
    isRecord(change) || isProbe(situation, change) || isSmallerDefault(situation, change);
  // Where there are none, fields are only removed.
  return written === undefined || changes.every(isRecord) || !changes.every(mayWait);
}

/** How its process is asked whether it lives. The probe before is right for a small database. */
function isProbe({ observed }: Situation, { path }: FieldChange): boolean {
  const largest = Math.max(0, ...answering(observed.members).map(({ dbSize }) => dbSize));
  return path.endsWith('.livenessProbe.httpGet.path') && largest <= smallDatabase;
}

/** An operator before this one gave a larger quota where the spec names none; see `quota.ts`. */
function isSmallerDefault({ spec }: Situation, { path, from, to }: FieldChange): boolean {
  const isQuota = /\[?ETCD_QUOTA_BACKEND_BYTES\]?\.value$/.test(path);
  return isQuota && spec.config.quotaBackend === undefined && Number(to) < Number(from);
}
