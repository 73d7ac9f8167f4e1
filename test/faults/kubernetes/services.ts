/**
 * EndpointSlices of Services with a selector, and the names by which the cluster's DNS knows them: of a headless Service
 * and its pods, and of a Service with an address, behind which one of its ready pods answers.
 */
import type { KubeObject } from '../../../src/api/object.ts';
import { type ClusterState, handOf, keyOf, splitKey } from './cluster-state.ts';
import { equal, type Fields, fieldsIn, itemsIn, textIn } from './fields.ts';
import { isReady, isTerminating, nodeNameOf, phaseOf, podIpOf } from './pod.ts';
import { workQueue } from './work-queue.ts';

const serviceLabel = 'kubernetes.io/service-name';

export function runServices(state: ClusterState): { readonly resolve: (host: string) => string | undefined } {
  const { store, random } = state;
  const hand = handOf(state, 'endpointslice-controller');
  const queue = workQueue(state, [5, 40], reconcile);

  store.onCommit(({ resource, before, after, last }) => {
    if (resource === 'services') queue.add(keyOf(last));
    if (resource === 'endpointslices' && after === undefined) {
      queue.add(`${last.metadata.namespace ?? ''}/${last.metadata.labels?.[serviceLabel] ?? ''}`);
    }
    if (resource !== 'pods') return;
    for (const service of store.all('services')) {
      if (service.metadata.namespace !== last.metadata.namespace) continue;
      const selector = fieldsIn(fieldsIn(service.spec).selector);
      if ([before, after].some((pod) => pod !== undefined && selects(selector, pod))) queue.add(keyOf(service));
    }
  });

  function reconcile(key: string): void {
    const [namespace, name] = splitKey(key);
    const service = store.get('services', namespace, name);
    // Slices of a Service that is gone are its dependents: the garbage collector takes them.
    if (service === undefined || service.metadata.deletionTimestamp !== undefined) return;
    const spec = fieldsIn(service.spec);
    const selector = fieldsIn(spec.selector);
    if (Object.keys(selector).length === 0) return;
    const pods = [...store.all('pods')].filter((pod) => pod.metadata.namespace === namespace && selects(selector, pod));
    const endpoints = pods.flatMap((pod) => endpointOf(pod, service));
    for (const slice of slicesNamed(name, namespace)) if (!isOf(slice, service)) hand.remove(slice);
    const held = sliceOf(service);
    const content = { addressType: 'IPv4', endpoints, ports: portsOf(spec, pods) };
    if (held === undefined) hand.create(newSlice(service, content));
    else if (!equal(content, { addressType: held.addressType, endpoints: held.endpoints, ports: held.ports })) {
      hand.update(held, { ...held, ...content });
    }
  }

  /** Of every Service that has had the name: those of an earlier one stay until somebody takes them. */
  function slicesNamed(service: string, namespace: string | undefined): KubeObject[] {
    return [...store.all('endpointslices')].filter(
      ({ metadata }) => metadata.namespace === namespace && metadata.labels?.[serviceLabel] === service,
    );
  }

  const sliceOf = (service: KubeObject): KubeObject | undefined =>
    store.get('endpointslices', service.metadata.namespace, sliceName(service));

  function sliceNamed(service: string, namespace: string | undefined): readonly [KubeObject, KubeObject] | undefined {
    for (const object of store.all('services')) {
      if (object.metadata.name !== service) continue;
      if (namespace !== undefined && object.metadata.namespace !== namespace) continue;
      const slice = sliceOf(object);
      if (slice !== undefined) return [object, slice];
    }
    return undefined;
  }

  function anyReady(slice: KubeObject): string | undefined {
    const ready = itemsIn(slice.endpoints).filter(({ conditions }) => fieldsIn(conditions).ready === true);
    return addressOf(ready[Math.floor(random() * ready.length)]);
  }

  return {
    resolve(host) {
      if (/^10\.96\./.test(host)) {
        for (const service of store.all('services')) {
          if (fieldsIn(service.spec).clusterIP !== host) continue;
          const slice = sliceOf(service);
          return slice === undefined ? undefined : anyReady(slice);
        }
      }
      const parts = host.replace(/\.svc(\.cluster\.local)?\.?$/, '').split('.');
      const [first = '', second, third] = parts;
      if (second !== undefined) {
        const [, slice] = sliceNamed(second, third) ?? [];
        const endpoint = itemsIn(slice?.endpoints).find(({ hostname }) => hostname === first);
        if (endpoint !== undefined) return addressOf(endpoint);
      }
      const [, slice] = third === undefined ? (sliceNamed(first, second) ?? []) : [];
      return slice === undefined ? undefined : anyReady(slice);
    },
  };
}

/** A Service's selector is a plain map. */
function selects(selector: Fields, pod: KubeObject): boolean {
  let has = false;
  for (const key in selector) {
    has = true;
    if (pod.metadata.labels?.[key] !== selector[key]) return false;
  }
  return has;
}

const addressOf = (endpoint: Fields | undefined): string | undefined => {
  const { addresses } = endpoint ?? {};
  return Array.isArray(addresses) ? textIn(addresses[0]) : undefined;
};

function endpointOf(pod: KubeObject, service: KubeObject): Fields[] {
  const ip = podIpOf(pod);
  const phase = phaseOf(pod);
  if (ip === undefined || phase === 'Succeeded' || phase === 'Failed') return [];
  const serving = isReady(pod);
  const terminating = isTerminating(pod);
  const always = fieldsIn(service.spec).publishNotReadyAddresses === true;
  const { name, namespace, uid } = pod.metadata;
  const { hostname, subdomain } = fieldsIn(pod.spec);
  return [
    {
      addresses: [ip],
      conditions: { ready: always || (serving && !terminating), serving, terminating },
      ...(hostname !== undefined && subdomain === service.metadata.name ? { hostname } : {}),
      nodeName: nodeNameOf(pod),
      targetRef: { kind: 'Pod', name, namespace, uid },
    },
  ];
}

function portsOf(spec: Fields, pods: readonly KubeObject[]): Fields[] {
  const containers = pods.flatMap((pod) => itemsIn(fieldsIn(pod.spec).containers));
  const named = (target: unknown): unknown =>
    containers.flatMap(({ ports }) => itemsIn(ports)).find(({ name }) => name === target)?.containerPort;
  return itemsIn(spec.ports).map(({ name = '', protocol, port, targetPort }) => ({
    name,
    protocol,
    port: typeof targetPort === 'string' ? (named(targetPort) ?? port) : (targetPort ?? port),
  }));
}

/** Its own for each Service that ever was: one made again under the name begins with a new slice. */
const sliceName = ({ metadata }: KubeObject): string => `${metadata.name}-${metadata.uid?.slice(0, 8) ?? ''}`;

const isOf = (slice: KubeObject, service: KubeObject): boolean =>
  slice.metadata.ownerReferences?.some(({ uid }) => uid === service.metadata.uid) === true;

function newSlice(service: KubeObject, content: Fields): KubeObject {
  const { name, namespace = '', uid = '', labels } = service.metadata;
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: sliceName(service),
      namespace,
      labels: {
        ...labels,
        [serviceLabel]: name,
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name, uid, controller: true, blockOwnerDeletion: true }],
    },
    ...content,
  };
}
