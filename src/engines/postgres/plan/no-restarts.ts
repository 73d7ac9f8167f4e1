/**
 * Why no member would restart for a new template, though Kubernetes may call all pods ready. Undefined where members restart. A server restarts for
 * its settings also while a person has paused Patroni, and its pod and volume stay.
 */
import type { Plan } from '../../../plan/plan.ts';
import { isArchive, writesTemplate } from '../../../plan/template-use.ts';
import { isGoing, podOf, type Situation } from '../observe/situation.ts';
import { isUnderway } from '../resources/upgrade-record.ts';
import { memberProblems } from './health.ts';
import { pausedByPerson } from './pause.ts';
import { withoutRoom } from './prepared.ts';

/** Nobody can say which settings the servers are to have. */
export const configUntold = 'Patroni does not tell its configuration';

export function noRestarts(situation: Situation, { steps }: Pick<Plan, 'steps'>): string | undefined {
  const { upgrade, primary, observed } = situation;
  if (upgrade !== undefined && isUnderway(upgrade)) return undefined;
  if (primary === undefined) return 'there is no primary';
  if (observed.config === undefined) return configUntold;
  const problems = memberProblems(situation);
  if (problems.length > 0) return problems.join('; ');
  const tooMany = withoutRoom(situation);
  if (tooMany !== undefined) return tooMany.message;
  const isWritten = steps.some((step) => writesTemplate(step) && !isArchive(step.object));
  return isWritten ? (pausedByPerson(situation) ?? onlyVolumeGoing(situation)) : undefined;
}

function onlyVolumeGoing(situation: Situation): string | undefined {
  const [only, ...others] = situation.roster.keys();
  if (only === undefined || others.length > 0 || !isGoing(situation, only)) return undefined;
  return `somebody has deleted the volume of ${podOf(situation, only)}, and it goes when the pod stops`;
}
