/** What the operator makes of custom resources, and what that asks of a namespace. */
import type { Cluster } from '../../src/api/cluster.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { thousandths } from '../../src/api/quantity.ts';
import { validateCluster } from '../../src/api/validate.ts';
import { handlers } from './handlers.ts';

/** Of the custom resources among `objects`, which may refer to each other. */
export function managedResources(objects: readonly KubeObject[]): readonly KubeObject[] {
  const understood = objects.flatMap((object) => {
    const handler = handlers.find(({ kind }) => kind.resource.kind === object.kind);
    if (handler === undefined) return [];
    const verdict = validateCluster(handler.kind, object);
    if (!verdict.ok) throw new Error(`${object.kind}: ${verdict.violations[0]?.message}`);
    return [{ handler, resource: verdict.cluster }];
  });
  const find = (kind: string, name: string): Cluster | undefined =>
    understood.find(({ handler, resource }) => handler.kind.resource.kind === kind && resource.metadata.name === name)
      ?.resource;
  return understood.flatMap(({ handler, resource }) => {
    const reference = handler.targetRef?.(resource);
    const target = reference === undefined ? undefined : find(reference.kind, reference.name);
    return handler.resources(resource, target).map(({ object }) => object);
  });
}

interface PodSpec {
  readonly containers: readonly { readonly resources?: { readonly requests?: Amounts; readonly limits?: Amounts } }[];
}
type Amounts = Readonly<Record<string, string | number>>;

interface Workload {
  readonly replicas?: number;
  readonly template?: { readonly spec: PodSpec };
  readonly jobTemplate?: { readonly spec: { readonly template: { readonly spec: PodSpec } } };
  readonly volumeClaimTemplates?: readonly { readonly spec: { readonly resources: { readonly requests: Amounts } } }[];
}

/** In thousandths, by the names that a ResourceQuota has for them: `requests.cpu`, `limits.memory`, `requests.storage`. */
export type Usage = Readonly<Record<string, bigint>>;

/**
 * Of each pod of StatefulSets, Deployments and Jobs, with its volumes, in the resources that a quota counts. A pod that does not say
 * how much it takes of one is refused by Kubernetes, and so it is here.
 */
export function usageOfPods(managed: readonly KubeObject[], counted: readonly string[]): readonly Usage[] {
  return managed.flatMap(({ kind, metadata, spec }) => {
    const { replicas = 1, template, jobTemplate, volumeClaimTemplates = [] } = (spec ?? {}) as Workload;
    const pod = template?.spec ?? jobTemplate?.spec.template.spec;
    if (pod === undefined) return [];
    const amounts = (resource: string): readonly (string | number)[] => {
      if (resource === 'requests.storage') {
        return volumeClaimTemplates.map((claim) => claim.spec.resources.requests.storage ?? 0);
      }
      const [of, name = ''] = resource.split('.');
      return pod.containers.map(({ resources: { requests, limits } = {} }) => {
        // Kubernetes takes the limit for a request that is absent.
        const amount = of === 'limits' ? limits?.[name] : (requests?.[name] ?? limits?.[name]);
        if (amount === undefined) throw new Error(`${kind} ${metadata.name}: a container without ${resource}`);
        return amount;
      });
    };
    const usage = counted.map((resource) => [
      resource,
      amounts(resource)
        .map(thousandths)
        .reduce((a, b) => a + b, 0n),
    ]);
    return Array.from({ length: replicas }, () => Object.fromEntries(usage) as Usage);
  });
}

/** Names of the Secrets that the containers and volumes of `objects` read, sorted. */
export function secretsReadBy(objects: readonly KubeObject[]): readonly string[] {
  const text = JSON.stringify(objects);
  const found = [
    ...text.matchAll(/"secretKeyRef":\{[^}]*"name":"([^"]+)"/g),
    ...text.matchAll(/"secretName":"([^"]+)"/g),
  ];
  return [...new Set(found.map(([, name = '']) => name))].sort();
}
