/**
 * What the stores keep of each object. Cached bytes are the controller's memory: a Pod shrinks to about a fifth.
 *
 * A transform may change its argument, which belongs to the store from then on. It must keep `metadata` without
 * managed fields; whatever it drops does not exist for the planner.
 */
import type { KubeObject } from '../api/object.ts';
import { resizeAnnotation } from '../plan/resize.ts';
import { stripManagedFields } from './ownership.ts';

export type Transform = (object: KubeObject) => KubeObject;

/** Everything but managed fields: for objects that are compared field by field. */
export const wholeObject: Transform = stripManagedFields;

/** What planners read of a Pod: where it runs, how it is, and what its containers do. */
export const podSummary: Transform = (pod) => {
  const { spec, status } = pod as { spec?: Fields; status?: Fields } & KubeObject;
  const isResized = pod.metadata.annotations?.[resizeAnnotation] !== undefined;
  return {
    apiVersion: pod.apiVersion,
    kind: pod.kind,
    metadata: stripManagedFields(pod).metadata,
    spec: { ...pick(spec, ['nodeName', 'terminationGracePeriodSeconds']), ...limits(spec) },
    status: {
      ...pick(status, ['phase', 'reason', 'message', 'conditions', 'podIP', 'podIPs', 'hostIP', 'startTime']),
      ...containers(status, 'initContainerStatuses', isResized),
      ...containers(status, 'containerStatuses', isResized),
    },
  };
};

const ours = /^((app|batch)\.kubernetes\.io|clusterwright\.dev)\//;

/**
 * What planners read of a resource of our own kinds: all but the notes of others. The form and the size of its spec and its
 * status have bounds in the schema; those of other labels and annotations have none, and they change nothing.
 */
export const withoutNotes: Transform = (object) => {
  const { labels, annotations, ...metadata } = stripManagedFields(object).metadata;
  return {
    ...object,
    metadata: {
      ...metadata,
      ...(labels === undefined ? {} : { labels: oursOf(labels) }),
      ...(annotations === undefined ? {} : { annotations: oursOf(annotations) }),
    },
  };
};

/** The labels, or annotations, that mean something to us. */
export function oursOf(notes: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(notes).filter(([name]) => ours.test(name)));
}

type Fields = Readonly<Record<string, unknown>>;

/** What its containers may use: it is theirs, whatever the template says since, until the pod is resized. */
function limits(spec: Fields | undefined): Fields {
  const { containers, initContainers } = spec ?? {};
  if (!Array.isArray(containers)) return {};
  const kept = { containers: containers.map((entry: Fields) => pick(entry, resizable)) };
  const isSidecar = ({ restartPolicy }: Fields): boolean => restartPolicy === 'Always';
  if (!Array.isArray(initContainers) || !initContainers.some(isSidecar)) return kept;
  // All of them: a sidecar is addressed by its place in the list.
  const first = initContainers.map((entry: Fields) => pick(entry, isSidecar(entry) ? resizable : ['name']));
  return { ...kept, initContainers: first };
}

const resizable = ['name', 'restartPolicy', 'resources', 'resizePolicy'];

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

function containers(status: Fields | undefined, list: string, isResized: boolean): Fields {
  const statuses = status?.[list];
  const fields = isResized ? [...containerFields, 'resources'] : containerFields;
  return Array.isArray(statuses) ? { [list]: statuses.map((entry: Fields) => pick(entry, fields)) } : {};
}

function pick(from: Fields | undefined, names: readonly string[]): Fields {
  const kept: Record<string, unknown> = {};
  for (const name of names) {
    if (from?.[name] !== undefined) kept[name] = from[name];
  }
  return kept;
}
