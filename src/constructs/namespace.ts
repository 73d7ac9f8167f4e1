import type { KubeObject } from '../api/object.ts';

/** A namespace in which no pod runs that asks for more than an ordinary process needs. */
export function restrictedNamespace(name: string, annotations: Readonly<Record<string, string>> = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name,
      annotations,
      labels: {
        'app.kubernetes.io/part-of': 'clusterwright',
        'pod-security.kubernetes.io/enforce': 'restricted',
        'pod-security.kubernetes.io/warn': 'restricted',
        'pod-security.kubernetes.io/audit': 'restricted',
      },
    },
  };
}
