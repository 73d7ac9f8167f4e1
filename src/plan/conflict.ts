/** Whose an object is that stands where a cluster wants one of its own. What is not the cluster's is never touched. */
import type { KubeObject, OwnerReference } from '../api/object.ts';
import { sourceOf } from '../certificates/issue.ts';
import { instanceLabel, managedBy, managedByLabel, nameLabel } from '../resources/metadata.ts';
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
  const isOurs = step.type === 'create' ? isManaged(live) : isOfNamesake(step.object, live);
  return isOurs ? undefined : conflictText(step.object, 'somebody else');
}

/**
 * Of a Secret that something is made from: an authority signs for its own cluster alone. Names of Secrets overlap: `shop-peer-ca` is that
 * of the peers of etcd `shop`, and of PostgreSQL `shop-peer`, whose pods would be members of that etcd to its members.
 */
export function sourceConflict({ object, issue }: Extract<ObjectStep, { type: 'issue' }>, source: KubeObject) {
  if (issue.what === 'copy' || isOfNamesake(object, source)) return undefined;
  return conflictText(source, ownerWords(source));
}

/** The Secret that something is made from. */
export function sourceWanted({ object, issue }: Extract<ObjectStep, { type: 'issue' }>): KubeObject | undefined {
  const name = sourceOf(issue);
  return name === undefined ? undefined : { ...object, metadata: { ...object.metadata, name } };
}

function isManaged({ metadata: { labels = {} } }: KubeObject): boolean {
  return labels[managedByLabel] === managedBy;
}

/** Whether it is of a cluster with the name and, where it says one, the engine of the cluster that wants it. */
function isOfNamesake(wanted: KubeObject, live: KubeObject): boolean {
  const [own = {}, other = {}] = [wanted.metadata.labels, live.metadata.labels];
  const isOfEngine = other[nameLabel] === undefined || other[nameLabel] === own[nameLabel];
  return isManaged(live) && isOfEngine && other[instanceLabel] === own[instanceLabel];
}

function ownerWords(live: KubeObject): string {
  const { labels = {} } = live.metadata;
  return isManaged(live) ? `the ${labels[nameLabel]} cluster ${labels[instanceLabel]}` : 'somebody else';
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
