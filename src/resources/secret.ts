import type { KubeObject, ObjectMeta } from '../api/object.ts';

/** A Secret without values: the executor fills it with fresh random text when it creates it, and only then. */
export function generatedSecret(metadata: ObjectMeta): KubeObject {
  return { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque' };
}
