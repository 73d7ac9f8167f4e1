/**
 * `bootstrap.restore`: a new cluster begins with the data of a backup.
 *
 * It stands before the engine and not in it: until the first member's volume is filled, nothing of the cluster is made,
 * and from then on the engine finds a volume with data, as after an outage of everybody. It happens only where there is
 * no member, no volume with data and no record of a formed cluster (safety rule G8); what the claim says is the memory.
 */
import type { Cluster, CommonSpec, RestoreSpec } from '../api/cluster.ts';
import type { KubeObject } from '../api/object.ts';
import { configMaps, jobs } from '../api/resource.ts';
import type { Which } from '../backup/agent-task.ts';
import { type RestoreTemplate, restoredAnnotation, restoredPointAnnotation } from '../engine/backup-support.ts';
import { desiredConditions } from '../engine/desired-conditions.ts';
import type { KindHandler, StatusReport } from '../engine/engine.ts';
import { withJudgements } from '../engine/judgement.ts';
import { stateThatGoes } from '../plan/deletion.ts';
import { jobSteps } from '../plan/objects.ts';
import { blocked, type ObjectStep, type Outcome, type Plan, wait } from '../plan/plan.ts';
import { type Children, type Claim, noChildren } from '../resources/children.ts';
import { configName } from './agent-job.ts';
import { restoreJobNames, restoreJobObjects } from './restore-job.ts';
import { isOwned, ownerOf, planFilling, released, removal, waiting } from './restore-volume.ts';
import { withCheckedTarget } from './target-claim.ts';

/** Volumes that are filled side by side: each reads from the target. */
const filledAtOnce = 8;

/** `engine`, with restores before it. `image` holds the agent. */
export function withRestore(engine: KindHandler, image: string): KindHandler {
  /** Of each volume that is filled. */
  const objectsFor = (cluster: Cluster, children: Children): Volumes => {
    const restore = restoreSpec(cluster);
    const template = engine.backup?.restoreTemplate(cluster);
    if (restore === undefined || template === undefined) return [[]];
    const sets = engine.resources(cluster).map(({ object }) => object);
    let chosen: Which | undefined;
    const made = [template, ...(template.others ?? [])].map(({ set: name, destination }, volume) => {
      const set = sets.find(({ kind, metadata }) => kind === 'StatefulSet' && metadata.name === name);
      if (set === undefined) return [];
      const about = { engine: engine.name, image, restore, template, volume, destination, set };
      const objects = restoreJobObjects(cluster, { ...about, chosen });
      chosen ??= chosenFor(claimIn(objects, children));
      return objects;
    });
    const [first = [], ...others] = made;
    return [first, ...others];
  };
  const planFor = (cluster: Cluster, children: Children, now: number): Plan | undefined => {
    if (restoreSpec(cluster) === undefined || cluster.status?.initialized === true) return undefined;
    const { annotations = {}, annotationsOf, retired, point } = engine.backup?.restoreTemplate(cluster) ?? {};
    const state = stateThatGoes(engine.resources(cluster), children).map(({ metadata }) => metadata.name);
    const [objects, ...others] = objectsFor(cluster, children);
    const wanted = { objects, others, annotations, annotationsOf, retired, point };
    return planRestore({ cluster, children, ...wanted, state, now });
  };

  return {
    ...engine,
    resources: (cluster) => [
      ...objectsFor(cluster, noChildren).flatMap((objects) => objects.map((object) => ({ object }))),
      ...engine.resources(cluster),
    ],
    async assess(cluster, children, io) {
      const wanted = planFor(cluster, children, io.now());
      const plan = wanted && (await withCheckedTarget(wanted, io));
      if (plan !== undefined) return { plan, status: statusOf(plan.outcome), act: noAction };
      const assessment = await engine.assess(cluster, children, io);
      const steps = assessment.status.initialized === true ? cleanUp(cluster, children) : [];
      return steps.length === 0
        ? assessment
        : withJudgements(assessment, ({ plan, status }) => ({
            plan: { ...plan, steps: [...plan.steps, ...steps] },
            status,
          }));
    },
    ownsNoVolume: (cluster, children) => ownsNoVolume(cluster, children, engine.backup?.restoreTemplate(cluster)),
    // All that the cluster will get: what is made once the volume is filled follows from the spec alone, too.
    planOffline: ({ status: _, ...cluster }) => {
      const first = planFor(cluster, noChildren, 0);
      if (first === undefined) return engine.planOffline(cluster);
      if (first.steps.length === 0) return first;
      const [, ...others] = objectsFor(cluster, noChildren);
      const later = others.flatMap((objects) => jobSteps(objects, noChildren));
      return { ...first, steps: [...first.steps, ...later, ...engine.planOffline(cluster).steps] };
    },
    forecast: (cluster, children) => {
      // What is there meanwhile is the restore's, and no cluster yet.
      const isRestoring = planFor(cluster, children, 0) !== undefined;
      return [
        ...(isRestoring ? ['once the volume is filled, the other objects are made'] : []),
        ...(engine.forecast?.(cluster, isRestoring ? noChildren : children) ?? []),
      ];
    },
  };
}

const noAction = (): Promise<void> => Promise.reject(new Error('a restore has no actions'));

function restoreSpec(cluster: Cluster): RestoreSpec | undefined {
  return (cluster.spec as CommonSpec).bootstrap?.restore;
}

/** Claim, task and Job of each volume that is filled; empty where the cluster has no member to begin with. */
type Volumes = readonly [readonly KubeObject[], ...(readonly KubeObject[])[]];

export interface RestoreSituation {
  readonly cluster: Cluster;
  readonly children: Children;
  /** Of the first volume: claim, task and Job; empty where the cluster has no member to begin with. */
  readonly objects: readonly KubeObject[];
  /** Of each other volume. */
  readonly others?: readonly (readonly KubeObject[])[];
  /** What the engine wants on the claim once it is filled. */
  readonly annotations: Readonly<Record<string, string>>;
  /** See `RestoreTemplate`. */
  readonly annotationsOf?: RestoreTemplate['annotationsOf'] | undefined;
  /** See `RestoreTemplate`. */
  readonly retired?: string | undefined;
  /** See `RestoreTemplate`. */
  readonly point?: string | undefined;
  /** Names of ConfigMaps that tell of data: this cluster has none yet, so they are an earlier one's. */
  readonly state?: readonly string[];
  /** Milliseconds. */
  readonly now: number;
}

/** Undefined where the engine goes on: the volumes are filled, or members of this very cluster exist. */
export function planRestore(situation: RestoreSituation): Plan | undefined {
  const { cluster, children, objects, others = [], retired, point, state = [] } = situation;
  const sets = children.objects.filter(({ kind }) => kind === 'StatefulSet');
  if (sets.some((set) => isOwned(set, cluster))) return undefined;
  const [wanted] = objects;
  const claims = [objects, ...others].map((volume) => claimIn(volume, children));
  const [claim] = claims;
  const other = claims.map((each) => otherData(cluster, each, point)).find((why) => why !== undefined);
  if (other !== undefined) return { steps: [], outcome: blocked('DataExists', other) };
  const filled = claims.filter((each): each is Claim => each !== undefined && isFilled(each));
  const mixed = mixedData(filled);
  if (mixed !== undefined) return { steps: [], outcome: blocked('DataExists', mixed) };
  if (filled.length === claims.length && isUsed(children, retired)) {
    const held = filled.filter((each) => isOwned(each, cluster));
    if (held.length === 0) return undefined;
    return { steps: held.flatMap(released), outcome: wait('Restoring', 'all volumes are filled') };
  }
  if (wanted === undefined) {
    return waiting('Parked', 'bootstrap.restore begins once there is a member: the cluster is parked');
  }
  const kept = children.claims.filter((other) => ownerOf(other) === undefined);
  if (kept.length > 0) {
    const names = kept.map(({ metadata }) => metadata.name).join(', ');
    const message = `there are volumes of an earlier cluster of this name (${names}), and a restore never writes over data: delete them, restore under another name, or make the resource anew without bootstrap.restore to go on with their data`;
    return { steps: [], outcome: blocked('DataExists', message) };
  }
  if (claim === undefined && state.length > 0) {
    const message = `there are ConfigMaps of an earlier cluster of this name (${state.join(', ')}), which its members would go by: delete them, or restore under another name`;
    return { steps: [], outcome: blocked('DataExists', message) };
  }
  const isOver = sets.length === 0 && children.pods.length === 0 && children.claims.every((c) => isOwned(c, cluster));
  if (!isOver) return waiting('EarlierCluster', 'an earlier cluster of this name is still being removed');
  return planVolumes(situation, claims);
}

/** The first one decides which backup it is; then the others are filled side by side. */
function planVolumes(situation: RestoreSituation, claims: readonly (Claim | undefined)[]): Plan {
  const { objects, others = [] } = situation;
  const volumes = [objects, ...others].map((each, volume) => ({ objects: each, volume, claim: claims[volume] }));
  const missing = volumes.filter(({ claim }) => claim === undefined || !isFilled(claim));
  const now = missing.slice(0, missing[0]?.volume === 0 ? 1 : filledAtOnce);
  const isOnly = volumes.length === 1;
  const plans = now.map((volume) => planFilling({ ...situation, isOnly }, volume));
  const steps = plans.flatMap((plan) => plan.steps);
  const outcomes = plans.map(({ outcome }) => outcome);
  const outcome = outcomes.find(({ state }) => state === 'blocked') ?? soonest(outcomes);
  if (isOnly || outcome.state === 'settled') return { steps, outcome };
  const count = `${volumes.length - missing.length} of ${volumes.length} volumes are filled`;
  return { steps, outcome: { ...outcome, message: `${count}: ${outcome.message}` } };
}

function soonest(outcomes: readonly Outcome[]): Outcome {
  const recheck = (outcome: Outcome): number =>
    outcome.state === 'wait' ? (outcome.recheckMs ?? Number.POSITIVE_INFINITY) : 0;
  return outcomes.reduce((first, each) => (recheck(each) < recheck(first) ? each : first));
}

/** Where one was filled from another backup than the others, keys would be in two of them, or in none. */
function mixedData(filled: readonly Claim[]): string | undefined {
  const from = ({ metadata }: Claim): string | undefined => metadata.annotations?.[restoredAnnotation];
  const [first] = filled;
  const other = filled.find((claim) => first !== undefined && from(claim) !== from(first));
  if (first === undefined || other === undefined) return undefined;
  return `the volume ${first.metadata.name} was filled from ${from(first)}, and ${other.metadata.name} from ${from(other)}: delete those that are not wanted`;
}

function claimIn([claim]: readonly KubeObject[], children: Children): Claim | undefined {
  return children.claims.find(({ metadata }) => metadata.name === claim?.metadata.name);
}

/** Which backup the first volume was filled from: nobody else gets another one, whatever is the newest by then. */
function chosenFor(claim: Claim | undefined): Which | undefined {
  const [id, uid, , namespace] = claim?.metadata.annotations?.[restoredAnnotation]?.split('/').toReversed() ?? [];
  return id === undefined || uid === undefined || namespace === undefined ? undefined : { namespace, uid, id };
}

/**
 * Whether the volumes that were kept are none of the cluster's: it was to begin with a backup, and has not. An earlier
 * cluster of the name has left them, or somebody has put them there.
 */
function ownsNoVolume(
  cluster: Cluster,
  children: Children,
  { retired, point }: Pick<RestoreSituation, 'retired' | 'point'> = {},
): boolean {
  if (restoreSpec(cluster) === undefined || cluster.status?.initialized === true) return false;
  if (children.objects.some((object) => object.kind === 'StatefulSet' && isOwned(object, cluster))) return false;
  const kept = children.claims.filter((claim) => ownerOf(claim) === undefined);
  const isOwn = (claim: Claim): boolean => isFilled(claim) && otherData(cluster, claim, point) === undefined;
  return kept.length > 0 && !(kept.some(isOwn) && isUsed(children, retired));
}

/** The engine goes on with one of them. With none it would form a new cluster, without the data that is asked for. */
function isUsed({ claims }: Children, retired = ''): boolean {
  return claims.some(({ metadata }) => metadata.annotations?.[retired] === undefined);
}

function isFilled({ metadata }: Claim): boolean {
  return metadata.annotations?.[restoredAnnotation] !== undefined;
}

/**
 * Why the volume that an earlier cluster of the name has left is not used: a restore has filled it from another backup, or
 * up to another point in time, than the spec names. Undefined where it may be the right one.
 */
function otherData(cluster: Cluster, claim: Claim | undefined, point: string | undefined): string | undefined {
  const from = claim?.metadata.annotations?.[restoredAnnotation];
  if (claim === undefined || from === undefined) return undefined;
  const reached = claim.metadata.annotations?.[restoredPointAnnotation];
  if (!isOtherBackup(cluster, from) && (point === undefined || point === reached)) return undefined;
  const up = reached === undefined ? '' : ` up to ${reached}`;
  const wanted = point === undefined ? '' : ` up to ${point}`;
  return `the volume ${claim.metadata.name} of an earlier cluster of this name was filled from ${from}${up}, not from what bootstrap.restore names${wanted}: delete it, restore under another name, or make the resource anew without bootstrap.restore to go on with its data`;
}

function isOtherBackup(cluster: Cluster, from: string): boolean {
  const [id, uid] = from.split('/').toReversed();
  // Where nobody has kept the agent's words, there is no more than one.
  if (uid === undefined) return false;
  const restore = restoreSpec(cluster);
  const differs = (wanted: string | undefined, has: string | undefined): boolean =>
    wanted !== undefined && has !== undefined && wanted !== has;
  return differs(restore?.id, id) || differs(restore?.cluster.uid, uid);
}

/** Once the cluster is formed, nobody needs the Jobs any more. The spec may name fewer volumes by then. */
function cleanUp(cluster: Cluster, children: Children): ObjectStep[] {
  if (restoreSpec(cluster) === undefined) return [];
  const reason = 'the restore is done';
  return restoreJobNames(cluster.metadata.name).flatMap((name) => {
    const [job, config] = [children.get('Job', name), children.get('ConfigMap', configName({ name }))];
    return [
      ...(job === undefined ? [] : removal(job, jobs, reason)),
      ...(config === undefined ? [] : removal(config, configMaps, reason)),
    ];
  });
}

function statusOf(outcome: Outcome): StatusReport {
  if (outcome.state === 'settled') throw new Error('a restore is never settled');
  const { reason, message } = outcome;
  return outcome.state === 'blocked'
    ? { phase: 'Blocked', conditions: desiredConditions('False', reason, message, { stalled: true }) }
    : { phase: 'Creating', conditions: desiredConditions('False', reason, message, { progressing: true }) };
}
