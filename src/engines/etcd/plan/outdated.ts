/** Who runs by an older template than the present one. */
import { isGenerationObserved, outdatedPods } from '../../../plan/rollout.ts';
import type { Member, Situation } from '../observe/situation.ts';

/** Whether Kubernetes has yet to say which pods are outdated. */
export function isUnsettled({ sets }: Situation): boolean {
  return [...sets.values()].some((set) => !isGenerationObserved(set));
}

/** Whether the member's pod runs an older template than its StatefulSet has now. */
export function isOutdated({ sets, pods }: Situation, { index }: Pick<Member, 'index'>): boolean {
  if (index === undefined) return false;
  const pod = pods.get(index);
  return pod !== undefined && outdatedPods(sets.get(index), [pod]).length > 0;
}
