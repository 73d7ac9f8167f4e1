/** The way from an object that was read to a step on that very object, and on no later one of its name. */
import type { KubeObject, ObjectRef, Resource } from '../api/object.ts';
import { statefulSets } from '../api/resource.ts';

export type ExactRef = ObjectRef & { readonly uid: string };

/** Undefined for an object that has not been stored: there is nothing to change. */
export function refOf(object: KubeObject, resource: Resource): ExactRef | undefined {
  const { uid, namespace, name } = object.metadata;
  if (uid === undefined) return undefined;
  return { resource, name, uid, ...(namespace === undefined ? {} : { namespace }) };
}

/** The StatefulSet that a pod belongs to, also where its labels have changed and no watch shows it. */
export function statefulSetOf({ metadata }: KubeObject): ExactRef | undefined {
  const { namespace, ownerReferences = [] } = metadata;
  const owner = ownerReferences.find(({ controller, kind }) => controller === true && kind === 'StatefulSet');
  return owner === undefined || namespace === undefined
    ? undefined
    : { resource: statefulSets, namespace, name: owner.name, uid: owner.uid };
}
