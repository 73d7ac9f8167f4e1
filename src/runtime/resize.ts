/** The request by which a running pod gets other CPU and memory, and what the API server's answer to it means. */
import type { KubeObject } from '../api/object.ts';
import type { ObjectStep } from '../plan/plan.ts';
import { ApiError } from './api-error.ts';
import type { KubeClient, PatchOptions } from './client.ts';
import type { JsonPatchOperation } from './ownership.ts';
import { refusedBy } from './refused-by.ts';
import { notYet } from './template-verdict.ts';

export type ResizeStep = Extract<ObjectStep, { type: 'resize' }>;

/** Of that very pod, and of the containers that the plan has seen in these places. */
export function resizePatch({ ref, containers }: ResizeStep): readonly JsonPatchOperation[] {
  return [
    { op: 'test', path: '/metadata/uid', value: ref.uid },
    ...containers.flatMap(({ list, index, name, resources }): JsonPatchOperation[] => [
      { op: 'test', path: `/spec/${list}/${index}/name`, value: name },
      { op: 'add', path: `/spec/${list}/${index}/resources`, value: resources },
    ]),
  ];
}

/** Resolves with a refusal; undefined where it is taken, and `onTaken` has the pod. Rejects where there is no clear answer. */
export async function resize(
  client: Pick<KubeClient, 'jsonPatch'>,
  step: ResizeStep,
  options: PatchOptions,
  onTaken: (pod: KubeObject) => void = () => undefined,
): Promise<ApiError | undefined> {
  try {
    onTaken(await client.jsonPatch(step.ref, resizePatch(step), { ...options, subresource: 'resize' }));
    return undefined;
  } catch (error) {
    if (error instanceof ApiError && isRefusal(error)) return error;
    throw error;
  }
}

/**
 * No such right, no such subresource on this Kubernetes, not allowed by its rules, by a quota, a LimitRange, a policy or a webhook. What
 * would be answered otherwise a moment later is none.
 */
const refusing: ReadonlySet<number> = new Set([400, 403, 404, 405, 415, 422]);

function isRefusal(error: ApiError): boolean {
  return !notYet.test(error.words) && (refusing.has(error.status) || refusedBy(error) === 'admission');
}
