/** A Kubernetes that stands still, as the CLI reads it: these objects and no others. */
import type { KubeObject, ObjectRef } from '../../../src/api/object.ts';
import { ApiError } from '../../../src/runtime/api-error.ts';
import type { KubeClient } from '../../../src/runtime/client.ts';
import { objectPath } from '../../../src/runtime/resource-path.ts';

const never = (): never => {
  throw new Error('a plan writes nothing');
};

/** `before` holds a read up until its answer had come. `judge` answers dry runs: it throws, or returns the pod. */
export function frozenClient(
  objects: readonly KubeObject[],
  before: (path: string) => Promise<void> = async () => undefined,
  judge: (pod: KubeObject) => KubeObject = (pod) => pod,
): KubeClient {
  const isOf = ({ kind, metadata }: KubeObject, wanted: string, namespace: string | undefined): boolean =>
    kind === wanted && (namespace === undefined || metadata.namespace === namespace);
  async function get(ref: ObjectRef): Promise<KubeObject> {
    const { resource, name, namespace } = ref;
    await before(objectPath(ref));
    const found = objects.find((one) => isOf(one, resource.kind, namespace) && one.metadata.name === name);
    if (found !== undefined) return found;
    throw new ApiError({
      method: 'GET',
      path: objectPath(ref),
      status: 404,
      reason: 'NotFound',
      message: `${name} not found`,
    });
  }

  return {
    get,
    async list(resource, { namespace, labelSelector } = {}) {
      const labels = labelSelector?.split(',').map((pair) => pair.split('=')) ?? [];
      const items = objects.filter(
        (one) =>
          isOf(one, resource.kind, namespace) &&
          labels.every(([label = '', value]) => one.metadata.labels?.[label] === value),
      );
      return { items, resourceVersion: '' };
    },
    create: async (object, { dryRun } = {}) => (dryRun === true ? judge(object) : never()),
    apply: never,
    applyStatus: never,
    mergePatch: never,
    // Whether a resize is taken is asked beforehand by the CLI alone.
    jsonPatch: async (ref, _, { dryRun } = {}) => (dryRun === true ? get(ref) : never()),
    replace: never,
    replaceStatus: never,
    remove: never,
    watch: never,
    getText: never,
  };
}
