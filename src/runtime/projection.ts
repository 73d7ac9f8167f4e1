/**
 * What the stores keep of each object. Cached bytes are the controller's memory: a Pod shrinks to about a fifth.
 *
 * A projection may change its argument, which belongs to the store from then on. It must keep `metadata` without
 * managed fields; whatever it drops does not exist for the planner.
 */
import type { KubeObject } from '../api/object.ts';
import { stripManagedFields } from './ownership.ts';

export type Projection = (object: KubeObject) => KubeObject;

/** Everything but managed fields: for objects that are compared field by field. */
export const wholeObject: Projection = stripManagedFields;

/** What planners read of a Pod: where it runs, how it is, and what its containers do. */
export const podSummary: Projection = (pod) => {
  const { spec, status } = pod as { spec?: Fields; status?: Fields } & KubeObject;
  return {
    apiVersion: pod.apiVersion,
    kind: pod.kind,
    metadata: stripManagedFields(pod).metadata,
    spec: { ...pick(spec, ['nodeName', 'terminationGracePeriodSeconds']), ...limits(spec) },
    status: {
      ...pick(status, ['phase', 'reason', 'message', 'conditions', 'podIP', 'podIPs', 'hostIP', 'startTime']),
      ...containers(status, 'initContainerStatuses'),
      ...containers(status, 'containerStatuses'),
    },
  };
};

const mostReferences = 8;
const ourLabels = /^(app|batch)\.kubernetes\.io\//;

/**
 * What is kept of an object that is larger than any of ours: whose it is, and that it is there. Anybody may set our labels on
 * an object; the memory that it takes would be that of everybody's operator.
 */
export function outline({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, generation, deletionTimestamp } = metadata;
  const { labels = {}, ownerReferences, finalizers } = metadata;
  const known = { name, namespace, uid, resourceVersion, generation, deletionTimestamp };
  return {
    apiVersion,
    kind,
    metadata: {
      ...(Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined)) as { name: string }),
      labels: Object.fromEntries(Object.entries(labels).filter(([label]) => ourLabels.test(label))),
      ...(ownerReferences === undefined ? {} : { ownerReferences: ownerReferences.slice(0, mostReferences) }),
      ...(finalizers === undefined ? {} : { finalizers: finalizers.slice(0, mostReferences) }),
    },
    spec: {},
    status: {},
  };
}

type Fields = Readonly<Record<string, unknown>>;

/** What its containers may use: it is theirs for as long as they run, whatever the template says since. */
function limits(spec: Fields | undefined): Fields {
  const containers = spec?.containers;
  if (!Array.isArray(containers)) return {};
  return { containers: containers.map((entry: Fields) => pick(entry, ['name', 'resources'])) };
}

const containerFields = [
  'name',
  'ready',
  'started',
  'restartCount',
  'image',
  'imageID',
  'containerID',
  'state',
  'lastState',
];

function containers(status: Fields | undefined, list: string): Fields {
  const statuses = status?.[list];
  return Array.isArray(statuses) ? { [list]: statuses.map((entry: Fields) => pick(entry, containerFields)) } : {};
}

function pick(from: Fields | undefined, names: readonly string[]): Fields {
  const kept: Record<string, unknown> = {};
  for (const name of names) {
    if (from?.[name] !== undefined) kept[name] = from[name];
  }
  return kept;
}
