/**
 * Volumes grow with the spec, each by its own PersistentVolumeClaim, whatever else goes on: a full disk must not block its
 * growth. Kubernetes may refuse to expand a claim, or fail to. Until every volume has what `storage.size` asks for, the plan
 * waits and the status names the volumes.
 */
import { shortened } from '../api/bounds.ts';
import type { DesiredCondition } from '../api/condition.ts';
import { canonicalQuantity, compareQuantities, QuantityError } from '../api/quantity.ts';
import { persistentVolumeClaims } from '../api/resource.ts';
import type { ClusterStatus, StorageStatus } from '../api/status.ts';
import type { Children, Claim } from '../resources/children.ts';
import { type ClaimTemplateName, claimGivenTo } from './claimed.ts';
import { blocked, type EngineAction, type ObjectStep, type Outcome, type Plan, wait } from './plan.ts';
import { refOf } from './ref.ts';

/** What the plan waits for. */
export const expandingVolumes = 'ExpandingVolumes';
/** What blocks the plan, and the condition that names the volumes. */
export const volumesTooSmall = 'VolumesTooSmall';
export const requestPath = 'spec.resources.requests.storage';

/** Which of the volumes of a member, and the field with their size. */
export interface VolumeField {
  readonly template: ClaimTemplateName;
  readonly field: string;
}

export const dataVolumes: VolumeField = { template: 'data', field: 'storage.size' };
/** Those that have the log alone. */
export const walVolumes: VolumeField = { template: 'wal', field: 'walStorage.size' };

/** A refused expansion is tried again: nobody watches StorageClasses and quotas. */
const refusedMs = 60_000;

/**
 * `wanted` as in `storage.size`; `claims` are those of the members that there are. A claim that somebody has made larger
 * than the spec is left as it is: volumes never shrink. A request that Kubernetes has failed to carry out is lowered where
 * the spec has been; Kubernetes allows that for more than the volume has.
 */
export function growthSteps(wanted: string, claims: readonly Claim[]): ObjectStep[] {
  const size = canonicalQuantity(wanted);
  return claims.flatMap((claim): ObjectStep[] => {
    const has = requestOf(claim);
    const ref = refOf(claim, persistentVolumeClaims);
    if (has === undefined || ref === undefined) return [];
    const difference = compareQuantities(size, has);
    if (difference === 0 || (difference < 0 && !isTakenBack(claim, size))) return [];
    return [
      {
        type: 'patch',
        optional: true,
        ref,
        patch: { spec: { resources: { requests: { storage: size } } } },
        changes: [{ path: requestPath, from: has, to: size }],
      },
    ];
  });
}

function isTakenBack(claim: Claim, size: string): boolean {
  const capacity = capacityOf(claim);
  return failureOf(claim) !== undefined && capacity !== undefined && compareQuantities(size, capacity) > 0;
}

function requestOf({ spec }: Claim): string | undefined {
  return spec?.resources?.requests?.storage;
}

/** Undefined where the claim is not bound, or says it in a form that Kubernetes does not know. */
function capacityOf({ status }: Claim): string | undefined {
  const told = status?.capacity?.storage;
  try {
    return told === undefined ? undefined : canonicalQuantity(told);
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error;
    return undefined;
  }
}

const failedConditions: readonly string[] = ['ControllerResizeError', 'NodeResizeError'];

/** Kubernetes has failed to expand the volume, in its words. */
function failureOf({ status }: Claim): string | undefined {
  const failed = status?.conditions?.find((one) => failedConditions.includes(one.type) && one.status === 'True');
  if (failed !== undefined) return shortened(failed.message ?? failed.type, 200);
  const state = status?.allocatedResourceStatuses?.storage ?? '';
  return /Resize(Infeasible|Failed)$/.test(state) ? state : undefined;
}

function awaitsNode({ status }: Claim): boolean {
  const { conditions = [] } = status ?? {};
  return conditions.some((one) => one.type === 'FileSystemResizePending' && one.status === 'True');
}

type Mounted = Pick<Children, 'claims' | 'pods'>;

/** Of the members that have a pod: a volume that no pod mounts need not have grown. */
function mountedClaims({ claims, pods }: Mounted, { template }: VolumeField): readonly Claim[] {
  const given = new Set(pods.map(({ metadata }) => claimGivenTo(metadata.name, template)));
  return claims.filter(({ metadata }) => given.has(metadata.name));
}

function smallerClaims(size: string, children: Mounted, volumes: VolumeField): readonly Claim[] {
  return mountedClaims(children, volumes).filter((claim) => {
    const capacity = capacityOf(claim);
    return capacity !== undefined && compareQuantities(capacity, size) < 0;
  });
}

/** Volumes are smaller than the spec asks for. */
export function isExpanding(size: string, children: Mounted, volumes = dataVolumes): boolean {
  return smallerClaims(size, children, volumes).length > 0;
}

/** Nothing but the volumes was waited for: whatever is amiss since then is no part of a change. */
export function awaitedExpansion({ conditions = [] }: Pick<ClusterStatus, 'conditions'>): boolean {
  return conditions.some(({ type, reason }) => type === 'Ready' && reason === expandingVolumes);
}

/** Where nothing else is waited for, the volumes are. `children` as the engine understands them. */
export function awaitingExpansion<Action extends EngineAction>(
  plan: Plan<Action>,
  size: string,
  children: Mounted,
  volumes = dataVolumes,
): Plan<Action> {
  if (plan.outcome.state !== 'settled') return plan;
  const smaller = smallerClaims(size, children, volumes);
  return smaller.length === 0
    ? plan
    : {
        ...plan,
        isIdle: true,
        outcome: outcomeFor(size, smaller, smallerMessage(size, smaller, children.claims, volumes)),
      };
}

function outcomeFor(size: string, smaller: readonly Claim[], message: string): Outcome {
  if (smaller.some((claim) => failureOf(claim) !== undefined)) return blocked(volumesTooSmall, message);
  const isRequested = smaller.every((claim) => compareQuantities(requestOf(claim) ?? '0', size) >= 0);
  return wait(expandingVolumes, message, isRequested ? undefined : refusedMs);
}

/** The condition, while it is so. */
export function expansionConditions(size: string, children: Mounted, volumes = dataVolumes): DesiredCondition[] {
  const smaller = smallerClaims(size, children, volumes);
  if (smaller.length === 0) return [];
  const reason = smaller.some((claim) => failureOf(claim) !== undefined)
    ? 'ExpansionFailed'
    : smaller.some(awaitsNode)
      ? 'FileSystemResizePending'
      : 'ExpansionPending';
  const message = smallerMessage(size, smaller, children.claims, volumes);
  return [{ type: volumesTooSmall, status: 'True', reason, message }];
}

function smallerMessage(
  size: string,
  smaller: readonly Claim[],
  claims: readonly Claim[],
  { field }: VolumeField,
): string {
  const each = smaller.map((claim) => `${claim.metadata.name} has ${capacityOf(claim)}${noteOn(claim)}`);
  const least = storageStatus(claims)?.minimumSize ?? size;
  const back = compareQuantities(least, size) < 0 ? `; ${field} can be set back to ${least}` : '';
  return shortened(`${field} is ${canonicalQuantity(size)}, and ${each.join(', ')}${back}`);
}

function noteOn(claim: Claim): string {
  const failure = failureOf(claim);
  if (failure !== undefined) return ` (expansion failed: ${failure})`;
  return awaitsNode(claim) ? ' (its node has yet to resize the file system)' : '';
}

/** What the volumes have, for people and for the rule on their size; undefined while none is bound. */
export function storageStatus(claims: readonly Claim[]): StorageStatus | undefined {
  const capacities = claims.flatMap((claim) => capacityOf(claim) ?? []).sort(compareQuantities);
  const granted = claims.flatMap((claim) => grantedOf(claim) ?? []).sort(compareQuantities);
  const [capacity, minimumSize] = [capacities[0], granted.at(-1)];
  return capacity === undefined || minimumSize === undefined ? undefined : { capacity, minimumSize };
}

/** What was asked for and has been given: a storage system may give more, and an expansion that fails gives less. */
function grantedOf(claim: Claim): string | undefined {
  const [request, capacity] = [requestOf(claim), capacityOf(claim)];
  if (request === undefined || capacity === undefined) return undefined;
  return compareQuantities(request, capacity) < 0 ? canonicalQuantity(request) : capacity;
}

/** Volumes that have been given more than the spec asks for, in words. */
export function largerVolumes(size: string, claims: readonly Claim[], { field } = dataVolumes): string | undefined {
  const larger = claims.flatMap((claim) => {
    const granted = grantedOf(claim);
    if (granted === undefined || compareQuantities(granted, size) <= 0) return [];
    return [`${claim.metadata.name} has ${granted}`];
  });
  if (larger.length === 0) return undefined;
  return `${field} is ${canonicalQuantity(size)}, and ${larger.join(', ')}: volumes never shrink, and nothing is changed`;
}
