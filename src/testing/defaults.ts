/**
 * What the API server makes of an object of its own kinds before it stores it: empty fields go, quantities are written
 * in one way, and fields that are left out get the defaults of Kubernetes 1.35.
 */
import type { KubeObject } from '../api/object.ts';
import { canonicalQuantity } from '../api/quantity.ts';
import { type Fields, fieldsIn, itemsIn } from './fields.ts';

const maps: ReadonlySet<string> = new Set([
  'labels',
  'annotations',
  'matchLabels',
  'nodeSelector',
  'requests',
  'limits',
  'data',
  'binaryData',
  'selector',
]);

const amounts: ReadonlySet<string> = new Set(['requests', 'limits', 'capacity']);

/** Lists and maps that are empty are not stored, nor are nulls; an empty structure is. */
export function tidied(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => tidied(item));
  if (typeof value !== 'object' || value === null) return value;
  const result: Record<string, unknown> = {};
  for (const key in value) {
    const child = (value as Fields)[key];
    if (child === null || child === undefined) continue;
    if (typeof child !== 'object') {
      result[key] = amounts.has(name) ? canonicalQuantity(child as string | number) : child;
      continue;
    }
    if (Array.isArray(child) ? child.length === 0 : maps.has(key) && Object.keys(child).length === 0) continue;
    result[key] = tidied(child, key);
  }
  return result;
}

/** Defaults go first where the order of fields is of no matter, so that what is written wins. */
function probe(value: unknown): Fields | undefined {
  if (value === undefined) return undefined;
  return { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3, ...fieldsIn(value) };
}

function environment(variable: Fields): Fields {
  const from = fieldsIn(variable.valueFrom);
  if (from.fieldRef === undefined) return variable;
  return { ...variable, valueFrom: { ...from, fieldRef: { apiVersion: 'v1', ...fieldsIn(from.fieldRef) } } };
}

const probes = ['startupProbe', 'readinessProbe', 'livenessProbe'];

function container(value: Fields): Fields {
  const tag = /:([^/:]+)$/.exec(String(value.image))?.[1] ?? 'latest';
  const result: Record<string, unknown> = {
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: tag === 'latest' ? 'Always' : 'IfNotPresent',
    ...value,
    resources: fieldsIn(value.resources),
  };
  for (const name of probes) if (value[name] !== undefined) result[name] = probe(value[name]);
  if (value.env !== undefined) result.env = itemsIn(value.env).map(environment);
  if (value.ports !== undefined) result.ports = itemsIn(value.ports).map((port) => ({ protocol: 'TCP', ...port }));
  return result;
}

function volume(value: Fields): Fields {
  for (const source of ['configMap', 'secret', 'projected']) {
    if (value[source] !== undefined) return { ...value, [source]: { defaultMode: 420, ...fieldsIn(value[source]) } };
  }
  return value;
}

function podSpec(value: Fields): Fields {
  const containers = (name: string): Fields =>
    value[name] === undefined ? {} : { [name]: itemsIn(value[name]).map(container) };
  return {
    restartPolicy: 'Always',
    dnsPolicy: 'ClusterFirst',
    schedulerName: 'default-scheduler',
    terminationGracePeriodSeconds: 30,
    ...value,
    securityContext: fieldsIn(value.securityContext),
    ...containers('containers'),
    ...containers('initContainers'),
    ...(value.volumes === undefined ? {} : { volumes: itemsIn(value.volumes).map(volume) }),
  };
}

const noExecute = (reason: string): Fields => ({
  key: `node.kubernetes.io/${reason}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
});

/** In a pod, and not in a template: what is not asked for is the limit. */
function withRequests(value: Fields): Fields {
  const resources = fieldsIn(value.resources);
  const requests = { ...fieldsIn(resources.limits), ...fieldsIn(resources.requests) };
  return Object.keys(requests).length === 0 ? value : { ...value, resources: { ...resources, requests } };
}

/** Of a pod itself, beyond what a template gets. */
function runningPodSpec(value: Fields): Fields {
  const own = itemsIn(value.tolerations);
  const spec = podSpec(value);
  const containers = (name: string): Fields =>
    spec[name] === undefined ? {} : { [name]: itemsIn(spec[name]).map(withRequests) };
  const missing = ['not-ready', 'unreachable'].map(noExecute).filter((one) => !own.some(({ key }) => key === one.key));
  return {
    enableServiceLinks: true,
    preemptionPolicy: 'PreemptLowerPriority',
    priority: 0,
    serviceAccount: 'default',
    serviceAccountName: 'default',
    ...spec,
    ...containers('containers'),
    ...containers('initContainers'),
    tolerations: [...own, ...missing],
  };
}

function claimSpec(value: unknown): Fields {
  return { volumeMode: 'Filesystem', ...fieldsIn(value) };
}

function claimTemplate(claim: Fields): Fields {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    ...claim,
    spec: claimSpec(claim.spec),
    status: { phase: 'Pending' },
  };
}

function statefulSet(spec: Fields): Fields {
  const template = fieldsIn(spec.template);
  const strategy = fieldsIn(spec.updateStrategy);
  const isRolling = (strategy.type ?? 'RollingUpdate') === 'RollingUpdate';
  return {
    replicas: 1,
    podManagementPolicy: 'OrderedReady',
    revisionHistoryLimit: 10,
    ...spec,
    persistentVolumeClaimRetentionPolicy: {
      whenDeleted: 'Retain',
      whenScaled: 'Retain',
      ...fieldsIn(spec.persistentVolumeClaimRetentionPolicy),
    },
    updateStrategy: isRolling
      ? { ...strategy, type: 'RollingUpdate', rollingUpdate: { partition: 0, ...fieldsIn(strategy.rollingUpdate) } }
      : strategy,
    template: { ...template, spec: podSpec(fieldsIn(template.spec)) },
    ...(spec.volumeClaimTemplates === undefined
      ? {}
      : { volumeClaimTemplates: itemsIn(spec.volumeClaimTemplates).map(claimTemplate) }),
  };
}

function withTemplate(spec: Fields): Fields {
  const template = fieldsIn(spec.template);
  return { ...spec, template: { ...template, spec: podSpec(fieldsIn(template.spec)) } };
}

function job(spec: Fields): Fields {
  return withTemplate({
    completions: 1,
    parallelism: 1,
    backoffLimit: 6,
    completionMode: 'NonIndexed',
    suspend: false,
    podReplacementPolicy: spec.podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed',
    ...spec,
  });
}

function cronJob(spec: Fields): Fields {
  const template = fieldsIn(spec.jobTemplate);
  return {
    concurrencyPolicy: 'Allow',
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
    ...spec,
    // What is a Job's own default is not filled in before there is one.
    jobTemplate: { ...template, spec: withTemplate(fieldsIn(template.spec)) },
  };
}

function service(spec: Fields): Fields {
  return {
    type: 'ClusterIP',
    sessionAffinity: 'None',
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    internalTrafficPolicy: 'Cluster',
    ...spec,
    ...(spec.clusterIP === undefined ? {} : { clusterIPs: [spec.clusterIP] }),
    ports: itemsIn(spec.ports).map((port) => ({ protocol: 'TCP', targetPort: port.port, ...port })),
  };
}

function withSpec(object: KubeObject, before: KubeObject | undefined, defaults: (spec: Fields) => Fields): KubeObject {
  if (before !== undefined && object.spec === before.spec) return object;
  return { ...object, spec: defaults(fieldsIn(tidied(object.spec))) };
}

function secret(object: KubeObject): KubeObject {
  const { stringData, ...rest } = object;
  const entries = Object.entries(fieldsIn(stringData)).map(([key, text]) => [
    key,
    Buffer.from(String(text)).toString('base64'),
  ]);
  const data = { ...fieldsIn(rest.data), ...Object.fromEntries(entries) };
  return { type: 'Opaque', ...rest, ...(Object.keys(data).length === 0 ? {} : { data }) };
}

/** Of a built-in kind. A spec that is the very one of `before` is in order already. */
export function withDefaults(object: KubeObject, before: KubeObject | undefined): KubeObject {
  switch (object.kind) {
    case 'StatefulSet':
      return withSpec(object, before, statefulSet);
    case 'Job':
      return withSpec(object, before, job);
    case 'CronJob':
      return withSpec(object, before, cronJob);
    case 'Service':
      return withSpec(object, before, service);
    case 'Pod':
      return withSpec(object, before, runningPodSpec);
    case 'PersistentVolumeClaim':
      return withSpec(object, before, claimSpec);
    case 'NetworkPolicy':
    case 'PodDisruptionBudget':
    case 'Lease':
      return withSpec(object, before, (spec) => spec);
    case 'Secret':
      return secret(object);
    default:
      return object;
  }
}
