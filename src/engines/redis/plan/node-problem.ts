/** Why the process of a node cannot be there. Its exit code may say more than Kubernetes. */
import { podProblem } from '../../../plan/pod-problem.ts';
import type { Pod } from '../../../resources/children.ts';
import { noModulesCode } from '../names.ts';

/** Undefined where it runs, or is on its way. */
export function nodeProblem(pod: Pod): string | undefined {
  const problem = podProblem(pod);
  const codes = pod.status?.containerStatuses?.map(({ lastState }) => lastState?.terminated?.exitCode);
  if (problem === undefined || codes?.includes(noModulesCode) !== true) return problem;
  return `${problem}: spec.modules is Bundled, and its image has no modules`;
}
