import type { KubeObject, ObjectMeta } from '../api/object.ts';

/** One voluntary disruption at a time for a group that must not lose two members at once (safety rule G9). */
export function disruptionBudget(metadata: ObjectMeta, selector: Readonly<Record<string, string>>): KubeObject {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata,
    spec: { maxUnavailable: 1, selector: { matchLabels: selector } },
  };
}
