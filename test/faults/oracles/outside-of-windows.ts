/**
 * O4: outside of its maintenance windows, no cluster whose pods run gets another template. Windows of scenarios do not open within a run: a
 * person opens one, and from then on a rollout may have begun.
 */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../../src/api/object.ts';
import type { RunRecord } from '../record.ts';
import { isCluster } from './cluster.ts';

const key = ({ kind, metadata }: KubeObject): string => `${kind}/${metadata.namespace}/${metadata.name}`;

const instanceOf = ({ metadata }: KubeObject): string | undefined => metadata.labels?.['app.kubernetes.io/instance'];

function isWaiting({ metadata, spec, status }: KubeObject): boolean {
  const { maintenance } = (spec ?? {}) as { readonly maintenance?: { readonly windows?: readonly unknown[] } };
  const { initialized } = (status ?? {}) as { readonly initialized?: boolean };
  const isOpened = metadata.annotations?.['clusterwright.dev/maintenance-now'] !== undefined;
  return maintenance?.windows !== undefined && initialized === true && !isOpened;
}

const templateOf = ({ spec }: KubeObject): unknown => (spec as { readonly template?: unknown } | undefined)?.template;

/** It has the present template, and is ready: another one interrupts it. */
function runsBy(set: KubeObject, { metadata, status }: KubeObject): boolean {
  const { updateRevision } = (set.status ?? {}) as { readonly updateRevision?: string };
  const { conditions = [] } = (status ?? {}) as { readonly conditions?: readonly { type: string; status: string }[] };
  return (
    metadata.labels?.['controller-revision-hash'] === updateRevision &&
    conditions.some((condition) => condition.type === 'Ready' && condition.status === 'True')
  );
}

export function outsideOfWindows({ before: start, commits }: Pick<RunRecord, 'before' | 'commits'>): string[] {
  const world = new Map(start.map((object) => [key(object), object]));
  const opened = new Set<string>();
  const found: string[] = [];
  for (const { actor, before, after } of commits) {
    const object = after ?? before;
    if (object === undefined) continue;
    const isOther =
      actor === 'clusterwright' && before?.kind === 'StatefulSet' && after !== undefined
        ? !isDeepStrictEqual(templateOf(before), templateOf(after))
        : false;
    if (isOther && before !== undefined) {
      const all = [...world.values()];
      const cluster = all.find((one) => isCluster(one) && one.metadata.name === instanceOf(before));
      const pods = all.filter(({ kind, metadata }) => kind === 'Pod' && ofSet(metadata.name) === before.metadata.name);
      const isHeld = cluster !== undefined && isWaiting(cluster) && !opened.has(key(cluster));
      if (isHeld && pods.length > 0 && pods.every((pod) => runsBy(before, pod)))
        found.push(`${before.metadata.name} gets another template outside of the maintenance windows`);
    }
    if (after === undefined) world.delete(key(object));
    else world.set(key(after), after);
    if (after !== undefined && isCluster(after) && !isWaiting(after)) opened.add(key(after));
  }
  return found;
}

const ofSet = (pod: string): string => pod.replace(/-\d+$/, '');
