/**
 * Objects as they come back from an API server: with a UID, versions, and the defaults of Kubernetes in every field that
 * is left out. What the controller compares its wishes with looks like this.
 */
import type { KubeObject } from '../api/object.ts';
import { tidied, withDefaults } from './defaults.ts';
import { fieldsIn } from './fields.ts';

/** `uid-KIND-NAME`, unless the object has one. The generation is 1. */
export function stored(object: KubeObject): KubeObject {
  const metadata = {
    uid: `uid-${object.kind}-${object.metadata.name}`,
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: '2030-01-01T00:00:00Z',
    ...object.metadata,
  };
  const address = object.kind === 'Service' ? { spec: { clusterIP: '10.96.0.1', ...fieldsIn(object.spec) } } : {};
  return withDefaults(tidied({ ...object, ...address, metadata }) as KubeObject, undefined);
}
