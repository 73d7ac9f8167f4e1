/** The request by which a running pod gets other CPU and memory, and what the API server's answer to it means. */
import type { KubeObject } from '../api/object.ts';
import type { ObjectStep } from '../plan/plan.ts';
import { ApiError } from './api-error.ts';
import type { KubeClient, PatchOptions } from './client.ts';
import type { JsonPatchOperation } from './ownership.ts';
import { refusedBy } from './refused-by.ts';
import { notYet } from './template-verdict.ts';

export type ResizeStep = Extract<ObjectStep, { type: 'resize' }>;
type PatchStep = Extract<ObjectStep, { type: 'patch' }>;

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

export interface Refusal {
  readonly words: string;
  /** The answer of the API server. Absent where it has taken the change, and somebody has undone it. */
  readonly error?: ApiError;
}

/** Resolves with a refusal; undefined where it is taken, and `onTaken` has the pod. Rejects where there is no clear answer. */
export async function resize(
  client: Pick<KubeClient, 'jsonPatch'>,
  step: ResizeStep,
  options: PatchOptions,
  onTaken: (pod: KubeObject) => void = () => undefined,
): Promise<Refusal | undefined> {
  try {
    onTaken(await client.jsonPatch(step.ref, resizePatch(step), { ...options, subresource: 'resize' }));
    return undefined;
  } catch (error) {
    if (error instanceof ApiError && isRefusal(error)) return { words: error.words, error };
    throw error;
  }
}

/** Resolves with why what the pod is to say of its resize does not stand on it. Rejects where there is no clear answer. */
export async function markRefusal(step: PatchStep, write: () => Promise<KubeObject>): Promise<Refusal | undefined> {
  try {
    const { metadata } = await write();
    return hasWritten(metadata, step) ? undefined : { words: 'somebody undoes what the operator writes on the pod' };
  } catch (error) {
    if (error instanceof ApiError && isRefusal(error)) return { words: error.words, error };
    throw error;
  }
}

type Notes = Readonly<Record<string, string | null>>;

function hasWritten({ labels = {}, annotations = {} }: KubeObject['metadata'], { patch }: PatchStep): boolean {
  const wanted = (patch.metadata ?? {}) as { readonly labels?: Notes; readonly annotations?: Notes };
  const stand = (notes: Notes = {}, has: Readonly<Record<string, string>>): boolean =>
    Object.entries(notes).every(([name, value]) => has[name] === (value ?? undefined));
  return stand(wanted.labels, labels) && stand(wanted.annotations, annotations);
}

/**
 * No such right, no such subresource on this Kubernetes, not allowed by its rules, by a quota, a LimitRange, a policy or a webhook. What
 * would be answered otherwise a moment later is none.
 */
const refusing: ReadonlySet<number> = new Set([400, 403, 404, 405, 415, 422]);

export function isRefusal(error: ApiError): boolean {
  return !notYet.test(error.words) && (refusing.has(error.status) || refusedBy(error) === 'admission');
}
