/**
 * `bootstrap.restore`: a new cluster begins with the data of a backup.
 *
 * It stands before the engine and not in it: until the first member's volume is filled, nothing of the cluster is made,
 * and from then on the engine finds a volume with data, as after an outage of everybody. It happens only where there is
 * no member, no volume with data and no record of a formed cluster (safety rule G8); what the claim says is the memory.
 */
import type { Cluster, CommonSpec, RestoreSpec } from '../api/cluster.ts';
import type { KubeObject } from '../api/object.ts';
import { configMaps, jobs, persistentVolumeClaims } from '../api/resource.ts';
import { restoredAnnotation, restoredPointAnnotation } from '../engine/backup-support.ts';
import { desiredConditions } from '../engine/desired-conditions.ts';
import type { KindHandler, StatusReport } from '../engine/engine.ts';
import { withJudgements } from '../engine/judgement.ts';
import { stateThatGoes } from '../plan/deletion.ts';
import { jobSteps, taskSteps } from '../plan/objects.ts';
import { blocked, type ObjectStep, type Outcome, type Plan, wait } from '../plan/plan.ts';
import { refOf } from '../plan/ref.ts';
import { type Children, type Claim, type Job, noChildren } from '../resources/children.ts';
import { ownerReferences } from '../resources/metadata.ts';
import { configName } from './agent-job.ts';
import { type JobState, jobState } from './job-state.ts';
import { restoreJobName, restoreJobObjects } from './restore-job.ts';
import { withCheckedTarget } from './target-claim.ts';

/** A failure that may pass is tried again after so long. */
const againMs = 60_000;

/** `engine`, with restores before it. `image` holds the agent. */
export function withRestore(engine: KindHandler, image: string): KindHandler {
  const objectsFor = (cluster: Cluster): readonly KubeObject[] => {
    const restore = restoreSpec(cluster);
    const template = engine.backup?.restoreTemplate(cluster);
    const set = engine
      .resources(cluster)
      .find(({ object }) => object.kind === 'StatefulSet' && object.metadata.name === template?.set)?.object;
    if (restore === undefined || template === undefined || set === undefined) return [];
    return restoreJobObjects(cluster, { engine: engine.name, image, restore, template, set });
  };
  const planFor = (cluster: Cluster, children: Children, now: number): Plan | undefined => {
    if (restoreSpec(cluster) === undefined || cluster.status?.initialized === true) return undefined;
    const { annotations = {}, retired, point } = engine.backup?.restoreTemplate(cluster) ?? {};
    const state = stateThatGoes(engine.resources(cluster), children).map(({ metadata }) => metadata.name);
    return planRestore({ cluster, children, objects: objectsFor(cluster), annotations, retired, point, state, now });
  };

  return {
    ...engine,
    resources: (cluster) => [...objectsFor(cluster).map((object) => ({ object })), ...engine.resources(cluster)],
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
      return first.steps.length === 0
        ? first
        : { ...first, steps: [...first.steps, ...engine.planOffline(cluster).steps] };
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

export interface RestoreSituation {
  readonly cluster: Cluster;
  readonly children: Children;
  /** Claim, task and Job; empty where the cluster has no member to begin with. */
  readonly objects: readonly KubeObject[];
  /** What the engine wants on the claim once it is filled. */
  readonly annotations: Readonly<Record<string, string>>;
  /** See `RestoreTemplate`. */
  readonly retired?: string | undefined;
  /** See `RestoreTemplate`. */
  readonly point?: string | undefined;
  /** Names of ConfigMaps that tell of data: this cluster has none yet, so they are an earlier one's. */
  readonly state?: readonly string[];
  /** Milliseconds. */
  readonly now: number;
}

/** Undefined where the engine goes on: the volume is filled, or members of this very cluster exist. */
export function planRestore(situation: RestoreSituation): Plan | undefined {
  const { cluster, children, objects, retired, point, state = [] } = situation;
  const sets = children.objects.filter(({ kind }) => kind === 'StatefulSet');
  if (sets.some((set) => isOwned(set, cluster))) return undefined;
  const [wanted] = objects;
  const claim = children.claims.find(({ metadata }) => metadata.name === wanted?.metadata.name);
  const other = otherData(cluster, claim, point);
  if (other !== undefined) return { steps: [], outcome: blocked('DataExists', other) };
  if (claim !== undefined && isFilled(claim) && isUsed(children, retired)) return undefined;
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
  return planFilling(situation, claim);
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

function planFilling(situation: RestoreSituation, claim: Claim | undefined): Plan {
  const { cluster, children, objects, now } = situation;
  const found = children.get('Job', restoreJobName(cluster.metadata.name)) as Job | undefined;
  if (found !== undefined && !isOwned(found, cluster)) {
    return waiting('EarlierCluster', 'an earlier cluster of this name is still being removed');
  }
  if (found?.metadata.deletionTimestamp !== undefined) return waiting('Restoring', 'its Job is begun anew');
  if (found !== undefined && (claim === undefined || claim.metadata.deletionTimestamp !== undefined)) {
    // What it has done was done to a volume that is gone.
    const steps = removal(found, jobs, 'its volume was deleted');
    return { steps, outcome: wait('Restoring', 'its volume was deleted: it is begun anew') };
  }
  // While a pod of an earlier attempt has it mounted it stays, and would be taken for the one that is to be filled.
  if (claim?.metadata.deletionTimestamp !== undefined) {
    return waiting('Restoring', 'its volume was deleted: it is made anew once nobody mounts it');
  }
  if (found === undefined || claim === undefined) {
    return { steps: jobSteps(objects, children), outcome: wait('Restoring', 'the first volume is made and filled') };
  }
  const state = jobState(found, children.jobPods, now);
  switch (state.state) {
    case 'pending':
      return { steps: taskSteps(objects, children), outcome: wait('Restoring', state.message) };
    case 'running':
      return { steps: taskSteps(objects, children), outcome: wait('Restoring', state.message, state.recheckMs) };
    case 'complete':
      return { steps: filledStep(situation, claim, state), outcome: wait('Restoring', 'the first volume is filled') };
    case 'failed': {
      if (!state.isTransient) return { steps: [], outcome: blocked('RestoreFailed', state.message) };
      const left = state.at + againMs - now;
      const message = `${state.message}; it is tried again`;
      return {
        steps: left > 0 ? [] : removal(found, jobs, 'it has failed and is begun anew'),
        outcome: wait('RestoreFailed', message, left > 0 ? left : undefined),
      };
    }
    default:
      return state satisfies never;
  }
}

/** From here on it is a volume with data: it belongs to nobody, and the engine may use it. */
function filledStep(
  { annotations, point }: RestoreSituation,
  claim: Claim,
  { result }: Extract<JobState, { state: 'complete' }>,
): ObjectStep[] {
  const ref = refOf(claim, persistentVolumeClaims);
  if (ref === undefined) return [];
  const from = result?.result === 'fetched' ? result.backup.folder : 'unknown';
  const until = point === undefined ? {} : { [restoredPointAnnotation]: point };
  const added = { [restoredAnnotation]: from, ...until, ...annotations };
  return [
    {
      type: 'patch',
      ref,
      patch: { metadata: { ownerReferences: [], annotations: added } },
      changes: [
        { path: 'metadata.ownerReferences', from: claim.metadata.ownerReferences, to: [] },
        ...Object.entries(added).map(([name, to]) => ({ path: `metadata.annotations[${name}]`, to })),
      ],
    },
  ];
}

/** Once the cluster is formed, nobody needs the Job any more. */
function cleanUp(cluster: Cluster, children: Children): ObjectStep[] {
  if (restoreSpec(cluster) === undefined) return [];
  const name = restoreJobName(cluster.metadata.name);
  const reason = 'the restore is done';
  const [job, config] = [children.get('Job', name), children.get('ConfigMap', configName({ name }))];
  return [
    ...(job === undefined ? [] : removal(job, jobs, reason)),
    ...(config === undefined ? [] : removal(config, configMaps, reason)),
  ];
}

function removal(object: KubeObject, resource: Parameters<typeof refOf>[1], reason: string): ObjectStep[] {
  const ref = refOf(object, resource);
  return ref === undefined || object.metadata.deletionTimestamp !== undefined ? [] : [{ type: 'delete', ref, reason }];
}

function ownerOf({ metadata }: KubeObject): string | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
}

function isOwned(object: KubeObject, cluster: Cluster): boolean {
  const [own] = ownerReferences(cluster);
  return own !== undefined && ownerOf(object) === own.uid;
}

function waiting(reason: string, message: string): Plan {
  return { steps: [], outcome: wait(reason, message) };
}

function statusOf(outcome: Outcome): StatusReport {
  if (outcome.state === 'settled') throw new Error('a restore is never settled');
  const { reason, message } = outcome;
  return outcome.state === 'blocked'
    ? { phase: 'Blocked', conditions: desiredConditions('False', reason, message, { stalled: true }) }
    : { phase: 'Creating', conditions: desiredConditions('False', reason, message, { progressing: true }) };
}
