/**
 * Objects as they come back from an API server: with a UID, versions, and the defaults of Kubernetes 1.34 in every field
 * that is left out. What the controller compares its wishes with looks like this.
 */
import type { KubeObject } from '../../src/api/object.ts';

type Fields = Readonly<Record<string, unknown>>;

const record = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});
const list = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value : []);

const maps: ReadonlySet<string> = new Set([
  'labels',
  'annotations',
  'matchLabels',
  'nodeSelector',
  'requests',
  'limits',
]);

/** Lists and maps that are empty are not stored; an empty structure is. */
function withoutEmpties(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpties);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, child]) => {
      const isEmpty = Array.isArray(child)
        ? child.length === 0
        : maps.has(key) && Object.keys(record(child)).length === 0;
      return isEmpty ? [] : [[key, withoutEmpties(child)]];
    }),
  );
}

function probe(value: unknown): Fields | undefined {
  if (value === undefined) return undefined;
  return { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3, ...record(value) };
}

function environment(variable: Fields): Fields {
  const from = record(variable.valueFrom);
  if (from.fieldRef === undefined) return variable;
  return { ...variable, valueFrom: { fieldRef: { apiVersion: 'v1', ...record(from.fieldRef) } } };
}

function container(value: Fields): Fields {
  const limits = record(record(value.resources).limits);
  const resources = {
    ...record(value.resources),
    requests: { ...limits, ...record(record(value.resources).requests) },
  };
  const probes = Object.fromEntries(
    ['startupProbe', 'readinessProbe', 'livenessProbe'].flatMap((name) =>
      value[name] === undefined ? [] : [[name, probe(value[name])]],
    ),
  );
  return {
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    ...value,
    ...probes,
    env: list(value.env).map(environment),
    ports: list(value.ports).map((port) => ({ protocol: 'TCP', ...port })),
    resources,
  };
}

function volume(value: Fields): Fields {
  const mode = { defaultMode: 420 };
  if (value.configMap !== undefined) return { ...value, configMap: { ...mode, ...record(value.configMap) } };
  if (value.secret !== undefined) return { ...value, secret: { ...mode, ...record(value.secret) } };
  return value;
}

function podSpec(value: Fields): Fields {
  return {
    restartPolicy: 'Always',
    dnsPolicy: 'ClusterFirst',
    schedulerName: 'default-scheduler',
    terminationGracePeriodSeconds: 30,
    ...value,
    securityContext: record(value.securityContext),
    containers: list(value.containers).map(container),
    volumes: list(value.volumes).map(volume),
  };
}

function statefulSet(spec: Fields): Fields {
  const template = record(spec.template);
  const claims = list(spec.volumeClaimTemplates).map((claim) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    ...claim,
    spec: { volumeMode: 'Filesystem', ...record(claim.spec) },
    status: { phase: 'Pending' },
  }));
  return {
    revisionHistoryLimit: 10,
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
    ...spec,
    template: { ...template, spec: podSpec(record(template.spec)) },
    ...(claims.length === 0 ? {} : { volumeClaimTemplates: claims }),
  };
}

function service(spec: Fields): Fields {
  const headless = spec.clusterIP === 'None';
  return {
    type: 'ClusterIP',
    clusterIP: '10.96.0.1',
    clusterIPs: [headless ? 'None' : '10.96.0.1'],
    sessionAffinity: 'None',
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    internalTrafficPolicy: 'Cluster',
    ...spec,
    ports: list(spec.ports).map((port) => ({ protocol: 'TCP', ...port })),
  };
}

function defaulted(object: KubeObject): KubeObject {
  switch (object.kind) {
    case 'StatefulSet':
      return { ...object, spec: statefulSet(record(object.spec)) };
    case 'Service':
      return { ...object, spec: service(record(object.spec)) };
    default:
      return object;
  }
}

/** `uid-KIND-NAME`, unless the object has one. The generation is 1. */
export function stored(object: KubeObject): KubeObject {
  const metadata = {
    uid: `uid-${object.kind}-${object.metadata.name}`,
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: '2030-01-01T00:00:00Z',
    ...object.metadata,
  };
  return defaulted(withoutEmpties(JSON.parse(JSON.stringify({ ...object, metadata }))) as KubeObject);
}
