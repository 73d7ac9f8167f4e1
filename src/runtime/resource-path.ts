/** Request paths, built from the static part of a resource and encoded names. */
import { apiVersionOf, type ObjectRef, type Resource } from '../api/object.ts';

/** The collection: of one namespace, or of all when none is given. */
export function collectionPath(resource: Resource, namespace?: string): string {
  const root = resource.group === '' ? '/api' : '/apis';
  const scope = resource.namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}/${apiVersionOf(resource)}${scope}/${resource.plural}`;
}

/** One object, or a subresource of it. Throws if a namespaced object comes without its namespace, or any without a name. */
export function objectPath(ref: ObjectRef, subresource?: string): string {
  if (ref.name === '') throw new Error(`a ${ref.resource.kind} without a name has no path`);
  if (ref.resource.namespaced && (ref.namespace === undefined || ref.namespace === '')) {
    throw new Error(`${ref.resource.kind}/${ref.name} needs a namespace`);
  }
  const path = `${collectionPath(ref.resource, ref.namespace)}/${encodeURIComponent(ref.name)}`;
  return subresource === undefined ? path : `${path}/${encodeURIComponent(subresource)}`;
}
