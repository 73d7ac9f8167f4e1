/** Whose an object is that stands where a cluster wants one of its own. What is not the cluster's is never touched. */
import type { KubeObject, OwnerReference } from '../api/object.ts';
import { instanceLabel, managedBy, managedByLabel } from '../resources/metadata.ts';
import type { ObjectStep } from './plan.ts';

function controllerOf({ metadata }: KubeObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

/** In words, with the name of the owner where the object tells it; undefined where both belong to the same cluster. */
export function conflict(wanted: KubeObject, live: KubeObject): string | undefined {
  const [own, other] = [controllerOf(wanted), controllerOf(live)];
  if (own !== undefined && own.uid === other?.uid) return undefined;
  return conflictText(wanted, ownerText(own, other));
}

/**
 * The same of a Secret that is filled, which has no owner: it outlives its cluster, and the next one of the name takes it up.
 * A password may be anybody's. What only we may know has to be ours, and certificates those of a cluster of this name.
 */
export function secretConflict(
  step: Extract<ObjectStep, { type: 'create' | 'issue' }>,
  live: KubeObject,
): string | undefined {
  if (step.type === 'create' && step.generate?.some(({ isOursAlone }) => isOursAlone === true) !== true) {
    return undefined;
  }
  if (step.type === 'issue' && step.issue.what === 'copy' && isLeftByCertManager(live)) return undefined;
  const { labels = {} } = live.metadata;
  const isNamesake = step.type === 'create' || labels[instanceLabel] === step.object.metadata.labels?.[instanceLabel];
  const isOurs = labels[managedByLabel] === managedBy && isNamesake;
  return isOurs ? undefined : conflictText(step.object, 'somebody else');
}

export const certManagerPrefix = 'cert-manager.io/';

/**
 * cert-manager wrote it for the Certificate of the same name, which is the cluster's. By now that Certificate names
 * another Secret, and the members go on with this one.
 */
export function isLeftByCertManager({ metadata: { name, annotations = {} } }: KubeObject): boolean {
  return annotations[`${certManagerPrefix}certificate-name`] === name;
}

function ownerText(own: OwnerReference | undefined, other: OwnerReference | undefined): string {
  if (other === undefined) return 'somebody else';
  const isNamesake = own?.kind === other.kind && own.name === other.name;
  return isNamesake ? `an earlier ${other.kind} ${other.name}` : `${other.kind} ${other.name}`;
}

export function conflictText({ kind, metadata }: KubeObject, owner: string): string {
  return `${kind} ${metadata.name} exists and belongs to ${owner}`;
}
