/** Objects that somebody has copied from ours under another name, with all that they say. */
import type { KubeObject } from '../../src/api/object.ts';

/** Nobody of ours reads it: it tells the harness apart what the operator cannot. */
const label = 'example.com/copied-from';

/** As tools that copy volumes and restore namespaces make it: every label and annotation, no owner, and nothing that the server gave. */
export function copyOf(object: KubeObject): KubeObject {
  const { name, namespace, labels, annotations } = object.metadata;
  const metadata = { name: `${name}-20261123`, namespace, labels: { ...labels, [label]: name }, annotations };
  const { status: _, ...rest } = object;
  const { volumeName: __, ...spec } = (object.spec ?? {}) as { readonly volumeName?: string };
  return {
    ...rest,
    metadata,
    ...(object.spec === undefined ? {} : { spec: { ...spec, ...idle(object) } }),
  } as KubeObject;
}

/** It has no pods; one that is a pod itself finds no node. */
const idle = ({ kind }: KubeObject): object =>
  kind === 'StatefulSet'
    ? { replicas: 0 }
    : kind === 'Pod'
      ? { nodeName: undefined, nodeSelector: { 'example.com/none': '' } }
      : {};

export function isCopy({ metadata }: KubeObject): boolean {
  return metadata.labels?.[label] !== undefined;
}
