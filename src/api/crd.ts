/** The CustomResourceDefinition of a kind: its schema as it was written, nothing added to it or taken away. */
import type { KindDefinition } from './kind.ts';
import type { KubeObject } from './object.ts';

export function customResourceDefinition(kind: KindDefinition): KubeObject {
  const { resource } = kind;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${resource.plural}.${resource.group}`,
      labels: {
        'app.kubernetes.io/name': 'clusterwright',
        'app.kubernetes.io/component': 'crd',
        'app.kubernetes.io/part-of': 'clusterwright',
      },
      annotations: {
        // Before everything else, and by server-side apply: the schema outgrows the annotation of a client-side one.
        'argocd.argoproj.io/sync-wave': '-5',
        'argocd.argoproj.io/sync-options': 'ServerSideApply=true',
      },
    },
    spec: {
      group: resource.group,
      scope: resource.namespaced ? 'Namespaced' : 'Cluster',
      names: {
        kind: resource.kind,
        listKind: `${resource.kind}List`,
        plural: resource.plural,
        singular: kind.singular,
        shortNames: kind.shortNames,
        categories: ['clusterwright'],
      },
      versions: [
        {
          name: resource.version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: kind.schema },
          subresources: { status: {}, ...(kind.scale === undefined ? {} : { scale: kind.scale }) },
          additionalPrinterColumns: kind.printerColumns,
          ...(kind.selectableFields === undefined
            ? {}
            : { selectableFields: kind.selectableFields.map((jsonPath) => ({ jsonPath })) }),
        },
      ],
    },
  };
}
