/**
 * A PersistentVolumeClaim that is named as the target of backups is mounted writable, with a group of its own: one that
 * holds somebody's data must never be. Before anything is made that would mount it, the claim and who uses it are looked
 * at, and what is not surely meant for backups is refused.
 */
import type { KubeObject } from '../api/object.ts';
import { resourceOf } from '../api/resource.ts';
import type { ClaimUse, EngineContext } from '../engine/engine-context.ts';
import { blocked, type EngineAction, type ObjectStep, type Outcome, type Plan, type Step, wait } from '../plan/plan.ts';
import { refOf } from '../plan/ref.ts';
import {
  agentComponent,
  componentLabel,
  instanceLabel,
  managedBy,
  managedByLabel,
  nameLabel,
} from '../resources/metadata.ts';
import type { PodSpec } from '../resources/plain.ts';
import { targetVolume } from './agent-pod.ts';
import { forBackupsAnnotation } from './for-backups.ts';
import { whyNotAs } from './target-identity.ts';

/** Why a plan is blocked. */
export const claimInUse = 'ClaimInUse';

/** Nobody watches claims and pods of others. */
const againMs = 10_000;

/**
 * The plan without what would mount a claim that must not be mounted, or run as somebody who has not said so: then it is
 * blocked, or waits for the claim or the ServiceAccount. All other steps are taken.
 *
 * `isAbout`: whether the plan's outcome is about the Job, so that the refusal takes its place. Default: it always is.
 */
export async function withCheckedTarget<Action extends EngineAction>(
  plan: Plan<Action>,
  io: Pick<EngineContext, 'claim' | 'serviceAccount'>,
  isAbout: (outcome: Outcome) => boolean = () => true,
): Promise<Plan<Action>> {
  const pods = plan.steps.flatMap((step) => podSpecOf(step) ?? []);
  const outcome = await refusalToMake(pods, io);
  if (outcome === undefined) return plan;
  const checked = withoutJob(plan);
  return { ...checked, outcome: isAbout(plan.outcome) ? outcome : plan.outcome };
}

/** Why none of these pods of backups may be made; undefined where all may. */
export async function refusalToMake(
  pods: readonly PodSpec[],
  io: Pick<EngineContext, 'claim' | 'serviceAccount'>,
): Promise<Outcome | undefined> {
  for (const name of new Set(pods.flatMap(targetClaims))) {
    const outcome = await refusalOf(name, io);
    if (outcome !== undefined) return outcome;
  }
  for (const pod of pods) {
    const outcome = await refusalToRun(pod, io);
    if (outcome !== undefined) return outcome;
  }
  return undefined;
}

/** Neither the Job is made or changed, nor what it is told: no backup is at work. */
function withoutJob<Action extends EngineAction>({ prepares: _, ...plan }: Plan<Action>): Plan<Action> {
  return { ...plan, steps: plan.steps.filter((step) => !isPartOfJob(step)) };
}

/**
 * A CronJob runs on without us, and what it is told may change while it stays as it is. So the ServiceAccount is asked
 * again: where it has withdrawn its word, nothing is changed and no more runs begin, until it gives it again.
 */
export async function withStandingConsent(
  plan: Plan,
  live: KubeObject | undefined,
  io: Pick<EngineContext, 'serviceAccount'>,
): Promise<Plan> {
  const pod = live === undefined ? undefined : podOf(live);
  const isChanged = plan.steps.some((step) => podSpecOf(step) !== undefined);
  if (live === undefined || pod === undefined || isChanged) return plan;
  const outcome = await refusalToRun(pod, io);
  if (outcome === undefined) return plan;
  const checked = withoutJob(plan);
  const steps = outcome.state === 'blocked' ? [...checked.steps, ...suspension(live)] : checked.steps;
  return { ...checked, steps, outcome };
}

/** Of a CronJob: no more runs begin. */
export function suspension(live: KubeObject): ObjectStep[] {
  const { suspend } = live.spec as { readonly suspend?: boolean };
  const ref = refOf(live, resourceOf(live));
  if (ref === undefined || suspend === true || live.metadata.deletionTimestamp !== undefined) return [];
  const changes = [{ path: 'spec.suspend', from: suspend, to: true }];
  return [{ type: 'patch', ref, patch: { spec: { suspend: true } }, changes }];
}

/** Why it may not run as its ServiceAccount, or not any more. */
export async function refusalToRun(
  pod: PodSpec,
  io: Pick<EngineContext, 'serviceAccount'>,
): Promise<Outcome | undefined> {
  const { serviceAccountName: name } = pod;
  if (name === undefined) return undefined;
  const account = await io.serviceAccount(name);
  if (account === undefined) {
    return wait('ServiceAccountMissing', `there is no ServiceAccount ${name} in this namespace to run as`, againMs);
  }
  const why = whyNotAs(account, pod);
  return why === undefined ? undefined : blocked('ServiceAccountRefused', `ServiceAccount ${name} ${why}`, againMs);
}

async function refusalOf(name: string, io: Pick<EngineContext, 'claim'>): Promise<Outcome | undefined> {
  const found = await io.claim(name);
  if (found === undefined || found.claim.metadata.deletionTimestamp !== undefined) {
    const why = found === undefined ? 'there is no' : 'somebody has deleted the';
    return wait('ClaimMissing', `${why} PersistentVolumeClaim ${name} in this namespace to keep backups on`, againMs);
  }
  const why = whyNotATarget(found);
  return why === undefined ? undefined : blocked(claimInUse, `PersistentVolumeClaim ${name} ${why}`, againMs);
}

/** Undefined where it may be mounted. */
export function whyNotATarget({ claim, pods, sets }: ClaimUse): string | undefined {
  const { labels = {}, annotations = {}, ownerReferences = [], name } = claim.metadata;
  if (labels[managedByLabel] === managedBy) {
    return `holds data of the cluster ${labels[instanceLabel]} (${labels[nameLabel]}): backups need one of their own`;
  }
  if (annotations[forBackupsAnnotation] === 'true') return undefined;
  const advice = `: backups need one of their own; one that is meant for them all the same is annotated with ${forBackupsAnnotation}=true`;
  const [owner] = ownerReferences;
  if (owner !== undefined) return `belongs to ${owner.kind} ${owner.name}${advice}`;
  const set = sets.find((each) => isClaimOf(each, name));
  if (set !== undefined) return `is a volume of StatefulSet ${set.metadata.name}${advice}`;
  const pod = pods.find((each) => !isOurs(each) && writesTo(each, name));
  return pod === undefined ? undefined : `is mounted by Pod ${pod.metadata.name}${advice}`;
}

function isClaimOf({ metadata, spec }: KubeObject, claim: string): boolean {
  const { volumeClaimTemplates = [] } = (spec ?? {}) as { readonly volumeClaimTemplates?: readonly KubeObject[] };
  return volumeClaimTemplates.some((template) => {
    const start = `${template.metadata.name}-${metadata.name}-`;
    return claim.startsWith(start) && /^\d+$/.test(claim.slice(start.length));
  });
}

/** A Job of ours that takes or reads backups. */
function isOurs({ metadata: { labels = {} } }: KubeObject): boolean {
  return labels[managedByLabel] === managedBy && labels[componentLabel] === agentComponent;
}

/** Who only reads keeps no data there. */
function writesTo(pod: KubeObject, claim: string): boolean {
  const { volumes = [], containers = [], initContainers = [] } = (pod.spec ?? {}) as PodSpec;
  const own = volumes.filter(({ persistentVolumeClaim: source }) => source?.claimName === claim);
  return own.some(({ name, persistentVolumeClaim: source }) => {
    if (source?.readOnly === true) return false;
    const mounts = [...containers, ...initContainers].flatMap(({ volumeMounts = [], volumeDevices = [] }) => [
      ...volumeMounts,
      ...volumeDevices.map((device) => ({ ...device, readOnly: false })),
    ]);
    return mounts.some((mount) => mount.name === name && mount.readOnly !== true);
  });
}

/** What the agent works with. A database has ConfigMaps of its own; a restore makes the claim that it fills beside them. */
function isPartOfJob(step: Step): boolean {
  if (step.type !== 'create' && step.type !== 'apply') return false;
  return step.object.metadata.labels?.[componentLabel] === agentComponent;
}

function targetClaims({ volumes = [] }: PodSpec): readonly string[] {
  return volumes.flatMap(({ name, persistentVolumeClaim: source }) =>
    name === targetVolume && source !== undefined ? [source.claimName] : [],
  );
}

interface Templated {
  readonly template?: { readonly spec?: PodSpec };
  readonly jobTemplate?: { readonly spec?: { readonly template?: { readonly spec?: PodSpec } } };
}

/** Of a Job or a CronJob that is made or changed. */
function podSpecOf(step: Step): PodSpec | undefined {
  return step.type === 'create' || step.type === 'apply' ? podOf(step.object) : undefined;
}

function podOf(object: KubeObject): PodSpec | undefined {
  const spec = (object.spec ?? {}) as Templated;
  if (object.kind === 'Job') return spec.template?.spec;
  return object.kind === 'CronJob' ? spec.jobTemplate?.spec?.template?.spec : undefined;
}
