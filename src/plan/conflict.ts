/** Whose an object is that stands where a cluster wants one of its own. What is not the cluster's is never touched. */
import type { KubeObject, OwnerReference } from '../api/object.ts';

function controllerOf({ metadata }: KubeObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

/** In words, with the name of the owner where the object tells it; undefined where both belong to the same cluster. */
export function conflict(wanted: KubeObject, live: KubeObject): string | undefined {
  const [own, other] = [controllerOf(wanted), controllerOf(live)];
  if (own !== undefined && own.uid === other?.uid) return undefined;
  return conflictText(wanted, ownerText(own, other));
}

function ownerText(own: OwnerReference | undefined, other: OwnerReference | undefined): string {
  if (other === undefined) return 'somebody else';
  const isNamesake = own?.kind === other.kind && own.name === other.name;
  return isNamesake ? `an earlier ${other.kind} ${other.name}` : `${other.kind} ${other.name}`;
}

export function conflictText({ kind, metadata }: KubeObject, owner: string): string {
  return `${kind} ${metadata.name} exists and belongs to ${owner}`;
}
