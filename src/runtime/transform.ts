/**
 * What the stores keep of each object. Cached bytes are the controller's memory: a Pod shrinks to about a fifth.
 *
 * A transform may change its argument, which belongs to the store from then on. It must keep `metadata` without
 * managed fields; whatever it drops does not exist for the planner.
 */
import type { KubeObject } from '../api/object.ts';
import { stripManagedFields } from './ownership.ts';

export type Transform = (object: KubeObject) => KubeObject;

/** Everything but managed fields: for objects that are compared field by field. */
export const wholeObject: Transform = stripManagedFields;

/** What planners read of a Pod: where it runs, how it is, and what its containers do. */
export const podSummary: Transform = (pod) => {
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

/** What its containers may use: it is theirs for as long as they run, whatever the template says since. */
function limits(spec: Fields | undefined): Fields {
  const { containers, initContainers } = spec ?? {};
  if (!Array.isArray(containers)) return {};
  const sidecars = (Array.isArray(initContainers) ? initContainers : []).filter(
    ({ restartPolicy }: Fields) => restartPolicy === 'Always',
  );
  return {
    containers: containers.map((entry: Fields) => pick(entry, ['name', 'resources'])),
    ...(sidecars.length === 0
      ? {}
      : { initContainers: sidecars.map((entry: Fields) => pick(entry, ['name', 'restartPolicy', 'resources'])) }),
  };
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
