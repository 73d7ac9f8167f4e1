/** Which members need a restart, and what kind of one. */
import { isGenerationObserved, outdatedPods } from '../../../plan/rollout.ts';
import type { Situation } from '../observe/situation.ts';

/** Its pod runs another template than its StatefulSet has. */
export function isOutdated({ sets, pods }: Situation, index: number): boolean {
  const pod = pods.get(index);
  return pod !== undefined && outdatedPods(sets.get(index), [pod]).length > 0;
}

/** Kubernetes has yet to take up what a StatefulSet says: until then nobody knows which pods are outdated. */
export function isUnsettled({ sets }: Situation): boolean {
  return [...sets.values()].some((set) => !isGenerationObserved(set));
}
