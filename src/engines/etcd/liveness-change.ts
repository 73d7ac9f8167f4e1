/** Whether a template is written that asks its process in another way whether it lives. */
import { fingerprintAnnotation } from '../../plan/difference.ts';
import type { ObjectStep } from '../../plan/plan.ts';
import { answering } from './observed.ts';
import type { Situation } from './situation.ts';

/** Bytes that are defragmented within half a minute, far from where a kubelet would end the process. */
const smallDatabase = 1024 ** 3;

/**
 * A template that differs in nothing but how its process is asked whether it lives. The probe before is right for a small
 * database, and a change of it would restart every member: it comes with the next change, or when a database grows.
 */
export function isWorthARestart({ children, observed }: Situation, step: ObjectStep): boolean {
  if (step.type !== 'apply' || step.object.kind !== 'StatefulSet') return true;
  const written = children.statefulSet(step.object.metadata.name)?.spec?.template;
  const isProbeAlone = step.changes.every(
    ({ path }) =>
      path.endsWith('.livenessProbe.httpGet.path') || path === `metadata.annotations[${fingerprintAnnotation}]`,
  );
  const largest = Math.max(0, ...answering(observed.members).map(({ dbSize }) => dbSize));
  return written === undefined || !isProbeAlone || largest > smallDatabase;
}
