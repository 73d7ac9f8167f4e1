/**
 * O4: no single write could have harmed data, whatever came after it.
 *
 * Each is judged against what really existed at that moment, never against what the operator could have known.
 */

import type { KubeObject } from '../../../src/api/object.ts';
import { agentComponent, archiveComponent } from '../../../src/resources/metadata.ts';
import { isCopy } from '../copies.ts';
import { checkPriority } from '../kubernetes/admission.ts';
import type { Oracle, RunRecord } from '../record.ts';
import { targetOf } from '../wire/request.ts';
import type { Commit } from '../world/kubernetes.ts';
import { isCluster } from './cluster.ts';
import { outsideOfWindows } from './outside-of-windows.ts';

const operator = 'clusterwright';

function preconditions({ entries }: RunRecord): string[] {
  return entries.flatMap(({ request, what }) => {
    if (request === undefined) return [];
    const body = (request.body === undefined ? {} : JSON.parse(request.body)) as {
      readonly preconditions?: { readonly uid?: string };
      readonly metadata?: { readonly resourceVersion?: string; readonly generateName?: string };
    };
    if (request.method === 'DELETE' && body.preconditions?.uid === undefined) return [`DELETE ${what} names no UID`];
    if (request.method === 'PUT' && body.metadata?.resourceVersion === undefined) {
      return [`PUT ${what} names no resourceVersion`];
    }
    if (body.metadata?.generateName !== undefined && targetOf(request.path).resource !== 'events') {
      return [`POST ${what} leaves the name to the server`];
    }
    return [];
  });
}

const key = (resource: string, object: KubeObject): string =>
  `${resource}/${object.metadata.namespace ?? ''}/${object.metadata.name}`;

type World = Map<string, { readonly resource: string; readonly object: KubeObject }>;

const belonging = 'app.kubernetes.io/';
const labelOf = (object: KubeObject, label: string): string | undefined =>
  object.metadata.labels?.[`${belonging}${label}`];

/** It belongs to whom it was made for: a label that somebody edits later takes no Secret from its cluster. */
function asMade(object: KubeObject, known: KubeObject | undefined): KubeObject {
  if (known === undefined || known.metadata.uid !== object.metadata.uid) return object;
  const first = Object.entries(known.metadata.labels ?? {}).filter(([label]) => label.startsWith(belonging));
  return {
    ...object,
    metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...Object.fromEntries(first) } },
  };
}
const isReady = (pod: KubeObject): boolean =>
  pod.metadata.deletionTimestamp === undefined &&
  ((pod.status as { conditions?: { type: string; status: string }[] } | undefined)?.conditions ?? []).some(
    ({ type, status }) => type === 'Ready' && status === 'True',
  );

const resourceOfKind: Readonly<Record<string, string>> = {
  Pod: 'pods',
  PersistentVolumeClaim: 'persistentvolumeclaims',
  Secret: 'secrets',
  StatefulSet: 'statefulsets',
};

const isOfMember = ({ metadata }: KubeObject): boolean => metadata.labels?.['clusterwright.dev/member'] !== undefined;

/** Data goes only with the cluster that it belongs to, and only where its policy says so. */
function dataDeletion(world: World, victim: KubeObject): string[] {
  const clusters = [...world.values()].map(({ object }) => object).filter(isCluster);
  const owner = clusters.find(({ metadata }) => metadata.name === labelOf(victim, 'instance'));
  const name = `${victim.kind} ${victim.metadata.name}`;
  if (owner === undefined) return [`${name} is deleted, and no cluster of its name exists`];
  const policy = (owner.spec as { deletionPolicy?: string } | undefined)?.deletionPolicy;
  // That it is no member any more is for the watch over etcd's members to say.
  if (isOfMember(victim) && owner.metadata.deletionTimestamp === undefined && policy === 'Delete') return [];
  const running = [...world.values()].find(
    ({ resource, object }) =>
      resource === 'pods' &&
      labelOf(object, 'instance') === labelOf(victim, 'instance') &&
      labelOf(object, 'component') !== agentComponent,
  );
  if (running !== undefined) return [`${name} is deleted while pod ${running.object.metadata.name} is there`];
  if (owner.metadata.deletionTimestamp === undefined) return [`${name} is deleted while its cluster lives`];
  // That there was a last backup before is for the watch over backups to say.
  return policy === 'Delete' || policy === 'Snapshot' ? [] : [`${name} is deleted under deletionPolicy ${policy}`];
}

/** One voluntary disruption at a time: all others of the same part are ready. */
function disruption(world: World, pod: KubeObject): string[] {
  // Members of an etcd are the watch's own business: who has been removed is no part of the majority.
  if (!isReady(pod) || isOfMember(pod)) return [];
  const others = [...world.values()].filter(
    ({ resource, object }) =>
      resource === 'pods' &&
      object.metadata.uid !== pod.metadata.uid &&
      labelOf(object, 'instance') === labelOf(pod, 'instance') &&
      labelOf(object, 'component') === labelOf(pod, 'component'),
  );
  const isPrimary = pod.metadata.labels?.['clusterwright.dev/role'] === 'primary';
  if (isPrimary && others.length > 0) return [`the primary ${pod.metadata.name} is deleted without having handed over`];
  const away = others.filter(({ object }) => !isReady(object)).map(({ object }) => object.metadata.name);
  return away.length === 0 ? [] : [`pod ${pod.metadata.name} is deleted while ${away.join(', ')} is not ready`];
}

/** Whether the API server makes another pod in its place. */
function deadEnd(world: World, pod: KubeObject): string[] {
  const all = [...world.values()].map(({ object }) => object);
  const set = all.find(
    ({ kind, metadata }) => kind === 'StatefulSet' && metadata.name === pod.metadata.name.replace(/-\d+$/, ''),
  );
  const { template } = (set?.spec ?? {}) as { readonly template?: { readonly spec?: object } };
  try {
    checkPriority(
      { ...pod, spec: template?.spec ?? {} },
      all.filter(({ kind }) => kind === 'PriorityClass'),
    );
    return [];
  } catch (refusal) {
    return [`${pod.metadata.name} is deleted, and the API server refuses another: ${(refusal as Error).message}`];
  }
}

/** A request is under way for so long: what the spec said when it was sent still counts. */
const underWayMs = 50;

interface Wanted {
  see(commit: Commit): void;
  /** The smallest size that the spec asked for just now. */
  least(part: 'data' | 'sentinel'): number;
}

/** Sizes that the spec asks for, over time. */
function wantedSizes({ before }: RunRecord): Wanted {
  type Spec = { readonly replicas?: number; readonly sentinel?: { readonly replicas?: number } };
  const sizes: { readonly at: number; readonly data: number; readonly sentinel: number }[] = [];
  let now = 0;
  const note = (object: KubeObject, at: number): void => {
    const { replicas = 3, sentinel } = (object.spec ?? {}) as Spec;
    sizes.push({ at, data: replicas, sentinel: sentinel?.replicas ?? 3 });
  };
  for (const object of before.filter(isCluster)) note(object, 0);
  return {
    see({ at, after }) {
      now = at;
      if (after !== undefined && isCluster(after)) note(after, at);
    },
    least(part) {
      const recent = sizes.filter(({ at }) => at >= now - underWayMs);
      const standing = sizes.filter(({ at }) => at < now - underWayMs).at(-1);
      return Math.min(...[...(standing === undefined ? [] : [standing]), ...recent].map((size) => size[part]));
    },
  };
}

/** A set shrinks only as far as the spec of that very moment asks, and never over its primary. */
function shrinking(world: World, wanted: Wanted, before: KubeObject, after: KubeObject): string[] {
  const replicas = (object: KubeObject): number => (object.spec as { replicas?: number } | undefined)?.replicas ?? 1;
  // Of an archive there is one pod, whatever somebody has asked for meanwhile.
  const isApart = isOfMember(before) || labelOf(before, 'component') === archiveComponent;
  if (before.kind !== 'StatefulSet' || isApart || replicas(after) >= replicas(before)) return [];
  const all = [...world.values()].map(({ object }) => object);
  const cluster = all.find((object) => isCluster(object) && object.metadata.name === labelOf(after, 'instance'));
  const change = `${after.metadata.name} shrinks from ${replicas(before)} to ${replicas(after)}`;
  if (cluster === undefined) return [`${change}, and no cluster asks for it`];
  const least = wanted.least(labelOf(after, 'component') === 'sentinel' ? 'sentinel' : 'data');
  const tooFar = [
    ...(replicas(after) < least ? [`${change}, though the spec asks for ${least}`] : []),
    ...(replicas(after) < replicas(before) - 1 ? [`${change} at once`] : []),
  ];
  const primary = all.find(
    (pod) =>
      pod.metadata.labels?.['clusterwright.dev/role'] === 'primary' &&
      labelOf(pod, 'instance') === labelOf(after, 'instance'),
  );
  const ordinal = Number(/-(\d+)$/.exec(primary?.metadata.name ?? '')?.[1] ?? -1);
  const isOfSet = primary?.metadata.name === `${after.metadata.name}-${ordinal}`;
  return isOfSet && ordinal >= replicas(after) ? [...tooFar, `${change}, over its primary`] : tooFar;
}

function judge(world: World, wanted: Wanted, { verb, before, after }: Commit): string[] {
  const begunDeletion =
    before !== undefined &&
    before.metadata.deletionTimestamp === undefined &&
    (verb === 'delete' || after?.metadata.deletionTimestamp !== undefined);
  if (before === undefined) return [];
  if (begunDeletion) {
    const resource = resourceOfKind[before.kind];
    if (resource === 'persistentvolumeclaims' || resource === 'secrets') return dataDeletion(world, before);
    if (resource === 'pods') return [...disruption(world, before), ...deadEnd(world, before)];
  }
  return after === undefined ? [] : shrinking(world, wanted, before, after);
}

export const writeSafety: Oracle = {
  id: 'O4',
  promise: 'no single write could have harmed data',
  check(run) {
    const world: World = new Map(
      run.before.map((object) => {
        const resource = resourceOfKind[object.kind] ?? object.kind;
        return [key(resource, object), { resource, object }];
      }),
    );
    const found = preconditions(run);
    const wanted = wantedSizes(run);
    for (const { before, after, ...commit } of run.commits) {
      const object = after ?? before;
      if (object === undefined) continue;
      if (isCopy(object)) {
        if (commit.actor === operator)
          found.push(`${commit.verb} of ${object.kind} ${object.metadata.name}, a copy that somebody has made`);
        continue;
      }
      const resource = resourceOfKind[object.kind] ?? object.kind;
      const known = world.get(key(resource, object))?.object;
      const told = {
        ...commit,
        before: before === undefined ? undefined : asMade(before, known),
        after: after === undefined ? undefined : asMade(after, known),
      };
      wanted.see(told);
      if (commit.actor === operator) found.push(...judge(world, wanted, told));
      if (told.after === undefined) world.delete(key(resource, object));
      else world.set(key(resource, object), { resource, object: told.after });
    }
    return [...found, ...outsideOfWindows(run), ...run.unsafe, ...run.vault.unsafe];
  },
};
