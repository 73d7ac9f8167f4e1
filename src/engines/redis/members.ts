/** Which pod is which. */
import type { Pod } from '../../resources/children.ts';

export function isSentinelPod(pod: Pod): boolean {
  return pod.metadata.labels?.['app.kubernetes.io/component'] === 'sentinel';
}
