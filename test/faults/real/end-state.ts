/**
 * The state of a namespace as it should be after any history: objects without identities, times, addresses and places,
 * flattened to one line a field, so that two of them can be compared and what differs be named.
 */
import type { KubeObject } from '../../../src/api/object.ts';
import type { ClusterStatus } from '../../../src/api/status.ts';

/** `StatefulSet/r.spec.replicas` to its value as JSON. */
export type EndState = Readonly<Record<string, string>>;

/** Of any object. */
const fleeting = new Set([
  'uid',
  'resourceVersion',
  'generation',
  'observedGeneration',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
  'generateName',
  'status',
  'nodeName',
  'volumeName',
  'clusterIP',
  'clusterIPs',
  'pod-template-hash',
  'controller-revision-hash',
  // Holds the identity of the owner.
  'clusterwright.dev/desired',
  // By the harness, as somebody else.
  'example.com/touched',
  // Of the node.
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
  // Who is primary, and how often that changed, is history.
  'clusterwright.dev/role',
  'clusterwright.dev/primary-term',
  'clusterwright.dev/address',
]);
const placed = /^(volume(\.beta)?|pv)\.kubernetes\.io\//;

export function endStateOf(objects: readonly KubeObject[]): EndState {
  const lines: Record<string, string> = {};
  const kept = objects.filter(({ kind, metadata }) => kind !== 'ConfigMap' || metadata.name !== 'kube-root-ca.crt');
  const podCounts = new Map<string, number>();
  const described = kept.map((original): [string, unknown] => {
    const object = withoutNamespace(original);
    const content = object.kind === 'Pod' ? withoutOrdinal(object) : object;
    const status = object.kind === 'RedisCluster' ? { claims: claimsOf((object.status ?? {}) as ClusterStatus) } : {};
    return [`${object.kind}/${content.metadata.name}`, { ...withoutFleeting(content), ...status }];
  });
  // Pods of one set are interchangeable: equal ones are told apart by a number alone.
  for (const [name, content] of described.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))) {
    const count = podCounts.get(name) ?? 0;
    podCounts.set(name, count + 1);
    flatten(name.startsWith('Pod/') ? `${name}#${count}` : name, content, lines);
  }
  return lines;
}

/** Every run has a namespace of its own, which is part of many names. */
function withoutNamespace(object: KubeObject): KubeObject {
  const { namespace } = object.metadata;
  if (namespace === undefined) return object;
  return JSON.parse(JSON.stringify(object).replaceAll(namespace, 'NAMESPACE')) as KubeObject;
}

/** `r-3` and `r-sentinel-0` as `r-N` and `r-sentinel-N`, in every field. */
function withoutOrdinal(pod: KubeObject): KubeObject {
  const own = pod.metadata.name;
  const set = own.replace(/-\d+$/, '');
  const { 'apps.kubernetes.io/pod-index': _, ...labels } = pod.metadata.labels ?? {};
  const { annotations: __, ...metadata } = pod.metadata;
  return JSON.parse(JSON.stringify({ ...pod, metadata: { ...metadata, labels } }).replaceAll(own, `${set}-N`));
}

function isFleeting(key: string): boolean {
  return fleeting.has(key) || placed.test(key);
}

function withoutFleeting(value: unknown): object {
  return JSON.parse(
    JSON.stringify(value, (key, inner: unknown) => {
      if (key === 'clusterIP' && inner === 'None') return inner;
      if (key === 'annotations' && Object.keys(inner ?? {}).every(isFleeting)) return undefined;
      return isFleeting(key) ? undefined : inner;
    }),
  ) as object;
}

function claimsOf(status: ClusterStatus): object {
  const { phase, replicas, readyReplicas, version, initialized, connection, conditions = [], members = [] } = status;
  const roles = members.map(({ role, ready }) => `${role} ${ready ? 'ready' : 'not ready'}`).sort();
  const claims = conditions.map(({ type, status: state, reason }) => `${type} ${state} ${reason}`);
  return { phase, replicas, readyReplicas, version, initialized, connection, roles, conditions: claims };
}

function flatten(path: string, value: unknown, lines: Record<string, string>): void {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) {
    lines[path] = JSON.stringify(value) ?? 'undefined';
    return;
  }
  for (const [key, inner] of Object.entries(value)) flatten(`${path}.${key}`, inner, lines);
}

/** Fields in which the two differ, with both values. */
export function differences(found: EndState, expected: EndState): readonly string[] {
  const paths = new Set([...Object.keys(expected), ...Object.keys(found)]);
  return [...paths]
    .filter((path) => found[path] !== expected[path])
    .map((path) => `${path}: ${found[path] ?? 'nothing'} instead of ${expected[path] ?? 'nothing'}`);
}

/** What two undisturbed runs agree upon. */
export function agreed(
  one: EndState,
  other: EndState,
): { readonly state: EndState; readonly masked: readonly string[] } {
  const masked = [...new Set([...Object.keys(one), ...Object.keys(other)])].filter((path) => one[path] !== other[path]);
  const state = Object.fromEntries(Object.entries(one).filter(([path]) => !masked.includes(path)));
  return { state, masked };
}
