/** The resource of an object of ours, or of a built-in one. */
import type { KubeObject, Resource } from '../../api/object.ts';
import { resourceOf } from '../../api/resource.ts';
import type { KindHandler } from '../../engine/engine.ts';

export function resourceOfOwn(engines: readonly KindHandler[], object: KubeObject): Resource {
  return engines.find(({ kind }) => kind.resource.kind === object.kind)?.kind.resource ?? resourceOf(object);
}
