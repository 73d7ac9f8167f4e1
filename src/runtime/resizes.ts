/**
 * What is to be known of outdated pods before it can be planned whether they are resized in place: the templates of their revisions, and
 * whether the API server has refused the change. No watch tells of either.
 *
 * Both are answers of the API server. A process that starts anew asks again.
 */
import { controllerRevisions } from '../api/resource.ts';
import type { Template } from '../plan/container-resources.ts';
import { formerRevisions, resizeOf } from '../plan/resize.ts';
import { outdatedPods } from '../plan/rollout.ts';
import { setOf } from '../plan/template-use.ts';
import { type Children, childrenOf, type Pod, type StatefulSet } from '../resources/children.ts';
import type { ResizedContainer } from '../resources/resize.ts';
import type { Clock } from '../system/clock.ts';
import { createAbortScope } from './abort-scope.ts';
import { ApiError } from './api-error.ts';
import type { CallOptions, KubeClient } from './client.ts';
import type { ResizeStep } from './resize.ts';

export interface Resizes {
  /** Resolves with the children, where each outdated pod that may be resized in place tells how far that is. */
  tell(children: Children, options: CallOptions): Promise<Children>;
  /** The API server has refused the step, or, without containers, what is written on the pod. The pod restarts. */
  refused(step: Pick<ResizeStep, 'ref' | 'containers'>, words: string): void;
}

export interface ResizesOptions {
  readonly client: Pick<KubeClient, 'get'>;
  readonly clock: Pick<Clock, 'monotonic' | 'after'>;
  /** Wall time in milliseconds. */
  readonly now: () => number;
}

type Read = Template | 'unread' | undefined;

interface Kept<Value> {
  readonly value: Value;
  readonly at: number;
}

/** After which a template that nobody has asked for again is forgotten. */
const keptMs = 600_000;
/**
 * After which a refused change is tried again, where the pod could not restart by then: the API server may take it now, and
 * `clusterwright plan` asks it at the moment. Longer than the pause after a pass that failed, in which the pod is to restart.
 */
export const refusalMs = 40_000;
/** After which a template is asked for again that was not there, or could not be read. One that was read never changes. */
const absentMs = 10_000;
/** For an answer, with all that is tried again: the rest of the pass waits, and may be more urgent. */
const readingMs = 2_000;

export function createResizes({ client, clock, now }: ResizesOptions): Resizes {
  /** What was used last stands last. */
  const templates = new Map<string, Kept<Read>>();
  const refusals = new Map<string, Kept<string>>();

  function keep<Value>(map: Map<string, Kept<Value>>, key: string, value: Value, at = clock.monotonic()): void {
    map.delete(key);
    map.set(key, { value, at });
  }

  function forgetOld(map: Map<string, Kept<unknown>>, ms: number): void {
    for (const [key, { at }] of map) {
      if (clock.monotonic() - at < ms) return;
      map.delete(key);
    }
  }

  async function templateOf(namespace: string | undefined, name: string, options: CallOptions): Promise<Read> {
    const key = `${namespace}/${name}`;
    const before = templates.get(key);
    if (typeof before?.value === 'object') {
      keep(templates, key, before.value);
      return before.value;
    }
    if (before !== undefined && clock.monotonic() - before.at < absentMs) return before.value;
    const read = await readTemplate(namespace, name, options);
    keep(templates, key, read);
    return read;
  }

  async function readTemplate(namespace: string | undefined, name: string, { signal }: CallOptions): Promise<Read> {
    const scope = createAbortScope(signal);
    const cancel = clock.after(readingMs, () => scope.abort(new Error(`no answer within ${readingMs / 1000} s`)));
    try {
      const ref = { resource: controllerRevisions, name, ...(namespace === undefined ? {} : { namespace }) };
      const { data } = await client.get(ref, { signal: scope.signal });
      return templateIn(data);
    } catch (error) {
      signal?.throwIfAborted();
      // Gone, or not for us to read: nobody can tell what the pod differs in.
      return error instanceof ApiError && (error.status === 404 || error.status === 403) ? undefined : 'unread';
    } finally {
      cancel();
      scope.dispose();
    }
  }

  return {
    async tell(children, options) {
      forgetOld(templates, keptMs);
      forgetOld(refusals, refusalMs);
      const outdated = children.pods.flatMap((pod): [Pod, StatefulSet][] => {
        const set = children.statefulSet(setOf(pod.metadata.name));
        return set !== undefined && outdatedPods(set, [pod]).length > 0 ? [[pod, set]] : [];
      });
      if (outdated.length === 0) return children;
      const { namespace } = outdated[0]?.[0].metadata ?? {};
      const revisions = new Set(
        outdated.flatMap(([pod, { status }]) => formerRevisions(pod, status?.updateRevision ?? '')),
      );
      const read = new Map(
        await Promise.all(
          [...revisions].map(async (name) => [name, await templateOf(namespace, name, options)] as const),
        ),
      );
      const told = new Map(
        outdated.flatMap(([pod, set]): [object, Pod][] => {
          const refusal = (containers: readonly ResizedContainer[]) =>
            refusals.get(changeOf(pod.metadata.uid, containers))?.value;
          const resize = resizeOf(pod, set, { template: (revision) => read.get(revision), refusal, now: now() });
          return resize === undefined ? [] : [[pod, { ...pod, resize }]];
        }),
      );
      if (told.size === 0) return children;
      return childrenOf(children.objects.map((object) => told.get(object) ?? object));
    },
    refused({ ref, containers }, words) {
      keep(refusals, changeOf(ref.uid, containers), words);
    },
  };
}

function changeOf(uid: string | undefined, containers: readonly ResizedContainer[]): string {
  return `${uid} ${JSON.stringify(containers)}`;
}

/** What others may have written there is no template. */
function templateIn(data: unknown): Template | undefined {
  const { template } = ((data ?? {}) as { readonly spec?: { readonly template?: Template } }).spec ?? {};
  return Array.isArray(template?.spec?.containers) ? template : undefined;
}
