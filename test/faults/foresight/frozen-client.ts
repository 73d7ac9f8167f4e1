/** A Kubernetes that stands still, as the CLI reads it: these objects and no others. */
import type { KubeObject, ObjectRef } from '../../../src/api/object.ts';
import { ApiError } from '../../../src/runtime/api-error.ts';
import type { KubeClient } from '../../../src/runtime/client.ts';
import { objectPath } from '../../../src/runtime/resource-path.ts';

const never = (): never => {
  throw new Error('a plan writes nothing');
};

/**
 * `before` holds a read up until its answer had come. `judge` answers dry runs of a new pod: it throws, or returns the pod. `judgePatch` throws
 * what a patch of a pod is refused with.
 */
export function frozenClient(
  objects: readonly KubeObject[],
  before: (path: string) => Promise<void> = async () => undefined,
  judge: (pod: KubeObject) => KubeObject = (pod) => pod,
  judgePatch: (ref: ObjectRef, subresource?: string) => void = () => undefined,
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

  /** Whether a resize is taken is asked beforehand by the CLI alone. */
  async function asked(ref: ObjectRef, subresource?: string): Promise<KubeObject> {
    judgePatch(ref, subresource);
    return get(ref);
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
    mergePatch: async (ref, body, { dryRun } = {}) => (dryRun === true ? merged(await asked(ref), body) : never()),
    jsonPatch: async (ref, _, { dryRun, subresource } = {}) => (dryRun === true ? asked(ref, subresource) : never()),
    replace: never,
    replaceStatus: never,
    remove: never,
    watch: never,
    getText: never,
  };
}

/** What a patch says of labels and annotations is there then. */
function merged(object: KubeObject, body: object): KubeObject {
  const { annotations = {}, labels = {} } = (body as Partial<KubeObject>).metadata ?? {};
  const { metadata } = object;
  return {
    ...object,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...labels },
      annotations: { ...metadata.annotations, ...annotations },
    },
  };
}
