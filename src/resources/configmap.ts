import type { KubeObject, ObjectMeta } from '../api/object.ts';

export function configMap(metadata: ObjectMeta, data: Readonly<Record<string, string>>): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
}
