/** Whether a request is what a plan shows: the same verb on the same object, with the same content. */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject, ObjectRef } from '../../../src/api/object.ts';
import { resourceOf } from '../../../src/api/resource.ts';
import type { Plan, Step } from '../../../src/plan/plan.ts';
import { resizePatch } from '../../../src/runtime/resize.ts';
import { collectionPath, objectPath } from '../../../src/runtime/resource-path.ts';
import type { TransportRequest } from '../../../src/runtime/transport.ts';

type Fields = Readonly<Record<string, unknown>>;

/** As it goes over the wire. */
const wired = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const same = (some: unknown, other: unknown): boolean => isDeepStrictEqual(wired(some), wired(other));

export function isPlanned(plan: Plan, request: TransportRequest): boolean {
  return plan.steps.some((step) => isShownBy(step, request));
}

export function isShownBy(step: Step, request: TransportRequest): boolean {
  const body: unknown = request.body === undefined ? {} : JSON.parse(request.body);
  return isOf(step, request, body);
}

function isOf(step: Step, request: TransportRequest, body: unknown): boolean {
  const { method, path, headers = {} } = request;
  const type = headers['content-type'] ?? '';
  switch (step.type) {
    case 'create':
      if (method === 'POST') return path === collectionOf(step.object) && isMade(body, step.object, 'stringData');
      return (
        path === pathOf(step.object) &&
        (isApplied(unmade(step.object), type, unmade(body)) || isRelabelled(step.object, type, body))
      );
    case 'apply':
      return path === pathOf(step.object) && method === 'PATCH' && isApplied(step.object, type, body);
    case 'patch':
      return path === objectPath(step.ref) && type.includes('merge-patch') && isPatched(step, body as Fields);
    case 'resize':
      return path === objectPath(step.ref, 'resize') && type.includes('json-patch') && same(body, resizePatch(step));
    case 'delete':
      return method === 'DELETE' && path === objectPath(step.ref) && uidIn(body, 'preconditions') === step.ref.uid;
    case 'issue':
      if (method === 'POST') return path === collectionOf(step.object) && isMade(body, step.object, 'data');
      return path === pathOf(step.object) && type.includes('merge-patch') && Object.keys(body as Fields).length === 2;
    case 'act':
      return false;
    default:
      return step satisfies never;
  }
}

function refTo(object: KubeObject): ObjectRef {
  const { name, namespace } = object.metadata;
  return { resource: resourceOf(object), name, ...(namespace === undefined ? {} : { namespace }) };
}

const pathOf = (object: KubeObject): string => objectPath(refTo(object));
const collectionOf = (object: KubeObject): string => collectionPath(resourceOf(object), object.metadata.namespace);

/** `generated`: where the text is that stands in no plan. */
function isMade(body: unknown, object: KubeObject, generated: string): boolean {
  const without = ({ [generated]: _, ...rest }: Fields): Fields => rest;
  return same(without(body as Fields), without(object as unknown as Fields));
}

/** What was there already is made what it should be, and before that its fields become ours to take away. */
function isApplied(object: KubeObject, type: string, body: unknown): boolean {
  if (type.includes('json-patch')) return isTakeOver(body as readonly { readonly path: string }[]);
  return type.includes('apply-patch') && same(body, object);
}

/** What is there already has a UID that no plan for making it can know, and a StatefulSet the claim templates that it was made with. */
function unmade<Body>(body: Body): Body {
  const { kind, metadata, spec } = body as Fields;
  if (metadata === undefined) return body;
  const { uid: _, ...known } = metadata as Fields;
  if (kind !== 'StatefulSet') return { ...body, metadata: known };
  const { volumeClaimTemplates: _kept, ...rest } = spec as Fields;
  return { ...body, metadata: known, spec: rest };
}

function isTakeOver(operations: readonly { readonly path: string }[]): boolean {
  return operations.every(({ path }) => ['/metadata/resourceVersion', '/metadata/managedFields'].includes(path));
}

/** A Job that is there already is only found again. */
function isRelabelled({ kind, metadata }: KubeObject, type: string, body: unknown): boolean {
  const { labels, uid: _, ...rest } = ((body as Fields).metadata ?? {}) as Fields;
  return kind === 'Job' && type.includes('merge-patch') && same(labels, metadata.labels) && same(rest, {});
}

/** A mark with the time at which it is written: a plan has that at which the plan is made. */
const timeless = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'TIME'));

/** The version of the custom resource moves with every status that is written. */
function isPatched(step: Extract<Step, { type: 'patch' }>, body: Fields): boolean {
  const versionless = (patch: Fields): Fields => {
    const { resourceVersion: _, ...metadata } = (patch.metadata ?? {}) as Fields;
    return { ...patch, metadata };
  };
  const uid = { ...(step.patch.metadata as object | undefined), uid: step.ref.uid };
  return same(timeless(versionless(body)), timeless(versionless({ ...step.patch, metadata: uid })));
}

function uidIn(body: unknown, field: string): unknown {
  return (((body as Fields)[field] ?? {}) as Fields).uid;
}
