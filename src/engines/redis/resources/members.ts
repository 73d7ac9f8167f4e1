/** Which pod is which: by its name, since somebody may have changed its labels. */
import type { Pod } from '../../../resources/children.ts';
import { componentLabel } from '../../../resources/metadata.ts';

/** A data node of a cluster whose own name ends like this says what it is. */
export function isSentinelPod({ metadata: { name, labels } }: Pod): boolean {
  return /-sentinel-\d+$/.test(name) && labels?.[componentLabel] !== 'data';
}

/** As above. */
export function isProxyPod({ metadata: { name, labels } }: Pod): boolean {
  return /-proxy-\d+$/.test(name) && labels?.[componentLabel] !== 'data' && labels?.[componentLabel] !== 'sentinel';
}

export function isDataPod(pod: Pod): boolean {
  return !isSentinelPod(pod) && !isProxyPod(pod);
}
