/** Why no member would restart for a new template, though Kubernetes may call all pods ready. Undefined where members restart. */
import type { Situation } from '../observe/situation.ts';
import { goingVolumesOutcome } from './going-volumes.ts';
import { memberProblems } from './health.ts';
import { replacedCas } from './replaced-ca.ts';

export function noRestarts(situation: Situation): string | undefined {
  const { members, pods } = situation;
  if (members === undefined) return 'no majority of the members answers';
  const problems = memberProblems(situation, members);
  if (problems.length > 0) return problems.join('; ');
  if (members.length > 1 && replacedCas(situation).includes('peer'))
    return 'the members do not trust the new certificate';
  const [going] = [...pods.keys()].flatMap((index) => goingVolumesOutcome(situation, [index]) ?? []);
  return going === undefined || going.state === 'settled' ? undefined : going.message;
}
