/** The fields of pods that the controllers of Kubernetes read and write. */
import type { KubeObject } from '../../../src/api/object.ts';
import { type Fields, fieldsIn, itemsIn, textIn } from './fields.ts';

export const nodeNameOf = (pod: KubeObject): string | undefined => textIn(fieldsIn(pod.spec).nodeName);

export const podIpOf = (pod: KubeObject): string | undefined => textIn(fieldsIn(pod.status).podIP);

export const phaseOf = (pod: KubeObject): string => textIn(fieldsIn(pod.status).phase) ?? 'Pending';

export const isTerminating = (pod: KubeObject): boolean => pod.metadata.deletionTimestamp !== undefined;

function conditionOf(object: KubeObject, type: string): Fields | undefined {
  return itemsIn(fieldsIn(object.status).conditions).find((condition) => condition.type === type);
}

export const isReady = (pod: KubeObject): boolean => conditionOf(pod, 'Ready')?.status === 'True';

/** The conditions with one of them set; its time of transition stays while its status does. */
export function withCondition(
  conditions: readonly Fields[],
  type: string,
  status: 'True' | 'False',
  now: string,
  details: Fields = {},
): readonly Fields[] {
  const at = conditions.findIndex((condition) => condition.type === type);
  const before = conditions[at];
  const since = before?.status === status ? before.lastTransitionTime : now;
  const condition = { type, status, lastProbeTime: null, lastTransitionTime: since, ...details };
  return at === -1 ? [...conditions, condition] : conditions.with(at, condition);
}

/** The names of the claims that a pod mounts, by the name of their volume. */
export function claimsOf(pod: KubeObject): ReadonlyMap<string, string> {
  const claims = new Map<string, string>();
  for (const volume of itemsIn(fieldsIn(pod.spec).volumes)) {
    const claim = fieldsIn(volume.persistentVolumeClaim).claimName;
    if (typeof claim === 'string') claims.set(String(volume.name), claim);
  }
  return claims;
}
