/** On what a plan may not be carried out before it has been read from the API server: the watch may be late. */
import { group } from '../api/group.ts';
import type { KubeObject } from '../api/object.ts';
import { pods, statefulSets } from '../api/resource.ts';
import { claimGivenTo, claimTemplates } from '../plan/claimed.ts';
import type { Step } from '../plan/plan.ts';
import { resizeTold } from '../plan/resize.ts';
import { type Children, type Pod, podIsReady } from '../resources/children.ts';

/**
 * What takes something away is decided on the spec as it stands, not as the watch last told: a member that leaves, a pod
 * that restarts. So is what is made again: a child that is gone may have gone with its cluster, and would be nobody's, or
 * stand in the way of the next cluster of the name.
 */
export function requiresLiveRead(step: Step): boolean {
  if (step.type === 'create' || step.type === 'issue' || step.type === 'delete' || step.type === 'resize') return true;
  if (step.type === 'act') return step.destructive === true;
  return isSmaller(step);
}

/** Of a StatefulSet: it is applied, or its size alone is patched. */
function isSmaller(step: Step): boolean {
  if (step.type !== 'apply' && (step.type !== 'patch' || step.scaled === undefined)) return false;
  return step.changes.some(({ path, from, to }) => path === 'spec.replicas' && Number(to) < Number(from));
}

/** What people ask for by annotation: a change of them changes no generation. In the order of the API server, which sorts them. */
export function requestsOn({ metadata: { annotations = {} } }: Pick<KubeObject, 'metadata'>): string {
  const ours = Object.entries(annotations).filter(([name]) => name.startsWith(`${group}/`));
  return JSON.stringify(ours);
}

/** Whether a member stops for it, or might: the others are needed then, and must not have gone meanwhile. */
export function countsOnOthers(step: Step): boolean {
  if (step.type === 'resize') return true;
  if (step.type === 'delete') return step.ref.resource.kind === pods.kind;
  return isSmaller(step);
}

/** All that a StatefulSet runs stops with it. One that was let go, as by `--cascade=orphan`, is to run on. */
export function isStopping(step: Step): step is Extract<Step, { type: 'delete' }> {
  return step.type === 'delete' && step.ref.resource.kind === statefulSets.kind;
}

/**
 * The pods, and their claims: one that somebody has deleted is kept as long as its pod is there, and goes when that stops, with
 * data that nobody else may have.
 */
export function countedOn({ pods, claims }: Pick<Children, 'pods' | 'claims'>): readonly KubeObject[] {
  const ofPods = new Set(
    pods.flatMap(({ metadata: { name } }) => claimTemplates.map((template) => claimGivenTo(name, template))),
  );
  return [...pods, ...claims.filter(({ metadata: { name } }) => ofPods.has(name))];
}

/** What a plan counts on of one of them. Much else about it changes all the time. */
export function stateOf(object: KubeObject): string {
  const { deletionTimestamp } = object.metadata;
  if (object.kind !== 'Pod') return `false ${deletionTimestamp}`;
  const pod = object as Pod;
  return [podIsReady(pod), deletionTimestamp, resizeTold(pod)].join(' ');
}
