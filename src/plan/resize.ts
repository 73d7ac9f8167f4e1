/**
 * In-place resize. Where the template of a StatefulSet differs from that of a pod only in CPU and memory of containers, the kubelet gives
 * them to the running pod, and nothing restarts.
 *
 * The pod itself tells how far it is. First it gets a mark with the revision that it shall be of. Then its resources are changed. When the
 * kubelet has done that, the pod gets the label of the revision, and the mark goes in the same write: from then on, everybody takes it for a
 * pod of the present template.
 */
import { group } from '../api/group.ts';
import type { Pod, StatefulSet } from '../resources/children.ts';
import type { Resize, ResizedContainer } from '../resources/resize.ts';
import {
  differInResourcesAlone,
  hasActuated,
  missingResources,
  restartedContainer,
  type Template,
} from './container-resources.ts';

/** By which Kubernetes tells of which template a pod is. */
export const revisionLabel = 'controller-revision-hash';

/**
 * On a pod that is being resized: the revision that it shall be of, behind it with commas those that it was to be of before, and since when.
 * The pod is outdated as long as it has it.
 */
export const resizeAnnotation = `${group}/resize`;

/** So long the kubelet has for it. Then the pod restarts, perhaps on a node that has room. */
export const resizePatienceMs = 300_000;
/** How far ahead of the present a mark may be: clocks differ. */
const skewMs = 60_000;

/** What the decision rests on, besides the pod and its StatefulSet. */
export interface ResizeFacts {
  /** The template of a revision. Undefined where nobody knows it any more, `unread` where it could not be read this time. */
  readonly template: (revision: string) => Template | 'unread' | undefined;
  /** Why the API server has refused exactly this change; of no containers: what is written on the pod itself. */
  readonly refusal: (containers: readonly ResizedContainer[]) => string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Of one resize. Nobody changes a template that often in five minutes. */
const mostRevisions = 8;

interface Mark {
  readonly revision: string;
  /** What the pod has may be of one of these: a step that follows the mark may never have been done. */
  readonly others: readonly string[];
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** Undefined, too, for what somebody else has written there. */
function markOf({ metadata }: Pod): Mark | undefined {
  const [, revisions = '', time = ''] = /^(\S+) (\S+)$/.exec(metadata.annotations?.[resizeAnnotation] ?? '') ?? [];
  const [revision = '', ...others] = revisions
    .split(',')
    .filter((one) => one !== '')
    .slice(0, mostRevisions);
  const since = Date.parse(time);
  return Number.isNaN(since) ? undefined : { revision, others, since };
}

export function isMarked({ metadata }: Pod): boolean {
  return metadata.annotations?.[resizeAnnotation] !== undefined;
}

/** It has been begun, and may end without a restart: it is this pod's turn, and no other one's. */
export function isResizing(pod: Pod): boolean {
  return isMarked(pod) && pod.resize !== undefined && pod.resize.state !== 'refused';
}

/** What the pod tells of its resize, in one text; empty where it is not being resized. A pod that is done must not restart for being late. */
export function resizeTold(pod: Pod): string {
  const { status, metadata } = pod;
  if (!isMarked(pod)) return '';
  const conditions = [conditionOf(pod, 'PodResizePending'), conditionOf(pod, 'PodResizeInProgress')];
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return JSON.stringify([
    metadata.annotations?.[resizeAnnotation],
    conditions.map((condition) => condition?.reason),
    statuses.map(({ resources }) => resources),
  ]);
}

/** The revisions whose templates have to be known for a pod that shall be of revision `target`. */
export function formerRevisions(pod: Pod, target: string): readonly string[] {
  const label = pod.metadata.labels?.[revisionLabel];
  return [...new Set([...(label === undefined ? [] : [label]), ...begunRevisions(pod, target)])].filter(
    (revision) => revision !== target,
  );
}

function begunRevisions(pod: Pod, target: string): readonly string[] {
  const { revision, others = [] } = markOf(pod) ?? {};
  const found = revision === undefined ? others : [revision, ...others];
  return found.filter((one) => one !== target && one !== '');
}

/** Of an outdated pod. Undefined where it differs from the template in more than resources, or does not run. */
export function resizeOf(pod: Pod, set: StatefulSet, facts: ResizeFacts): Resize | undefined {
  const target = set.status?.updateRevision;
  const template = set.spec?.template;
  const isSelected = Object.entries(set.spec?.selector?.matchLabels ?? {}).every(
    ([label, value]) => pod.metadata.labels?.[label] === value,
  );
  if (target === undefined || template === undefined) return undefined;
  if (!isSelected || pod.status?.phase !== 'Running') return undefined;
  const former = formerRevisions(pod, target);
  const templates = former.map((revision) => facts.template(revision));
  const unknown = templates.indexOf(undefined);
  if (unknown !== -1) return refused(`nobody can tell any more what the template ${former[unknown]} was`);
  if (templates.includes('unread')) return { state: 'unknown', words: 'its former template could not be read' };
  const known = templates.flatMap((before) => (typeof before === 'object' ? [before] : []));
  if (!known.every((before) => differInResourcesAlone(before, template))) return undefined;
  return progressOf(pod, template, target, known, facts);
}

function progressOf(
  pod: Pod,
  template: Template,
  target: string,
  former: readonly Template[],
  { refusal, now }: ResizeFacts,
): Resize | undefined {
  const missing = missingResources(pod, template, former);
  if (missing === undefined) return undefined;
  const barred = refusal([]);
  if (barred !== undefined) return refused(barred);
  const mark = markOf(pod);
  const age = mark?.revision === target && mark.since <= now + skewMs ? now - mark.since : undefined;
  const { containers, changes } = missing;
  if (containers.length === 0 && age !== undefined) return actuationOf(pod, template, target, age);
  const restarted = restartedContainer(pod, changes);
  if (restarted !== undefined) return refused(`the resizePolicy of its container ${restarted} asks for a restart`);
  const why = containers.length === 0 ? undefined : refusal(containers);
  if (why !== undefined) return refused(why);
  if (age !== undefined && age >= resizePatienceMs) return refused('that has not been done within five minutes');
  const revisions = [target, ...begunRevisions(pod, target)].slice(0, mostRevisions).join(',');
  const begun = age === undefined ? { mark: `${revisions} ${new Date(now).toISOString()}` } : {};
  return { state: 'due', ...begun, containers, changes };
}

/** The API server has taken it. */
function actuationOf(pod: Pod, template: Template, revision: string, age: number): Resize {
  const pending = conditionOf(pod, 'PodResizePending');
  const inProgress = conditionOf(pod, 'PodResizeInProgress');
  if (pending === undefined && inProgress === undefined && hasActuated(pod, template)) {
    return { state: 'done', revision };
  }
  if (pending?.reason === 'Infeasible' && !isStale(pod, pending)) {
    return refused(`its node cannot do that: ${pending.message ?? 'Infeasible'}`);
  }
  const words = whyUnderway(pending, inProgress);
  if (age >= resizePatienceMs) return refused(`${words}, for five minutes`);
  return { state: 'underway', words, recheckMs: Math.max(resizePatienceMs - age, 1_000) };
}

type Condition = NonNullable<NonNullable<Pod['status']>['conditions']>[number];

/** Without the kubelet's own words, which tell how much memory is used at the moment: they stand in a status. */
function whyUnderway(pending: Condition | undefined, inProgress: Condition | undefined): string {
  if (pending?.reason === 'Deferred') return 'its node has no room for that now';
  return inProgress?.reason === 'Error' ? 'its kubelet cannot do that now' : 'its kubelet has yet to do that';
}

function conditionOf({ status }: Pod, type: string): Condition | undefined {
  return status?.conditions?.find((condition) => condition.type === type && condition.status === 'True');
}

/** It is about an earlier resize. */
function isStale({ metadata: { generation = 0 } }: Pod, { observedGeneration = generation }: Condition): boolean {
  return observedGeneration < generation;
}

function refused(words: string): Resize {
  return { state: 'refused', words };
}
