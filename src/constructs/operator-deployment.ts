/** The operator's pods: an ordinary process under the restricted Pod Security Standard, one port, nothing on disk. */
import { k8s } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import { operatorLabels, operatorName } from './operator-identity.ts';

/** Quantities as Kubernetes writes them. */
export interface OperatorResources {
  /** Requested, not limited: a stalled controller would lose its lease. Default `50m`. */
  readonly cpu?: string;
  /** Requested. Default `96Mi`. */
  readonly memory?: string;
  /** Default `256Mi`: a thousand clusters took up to 166 MB, and 191 MB with very large answers; see docs/performance.md. */
  readonly memoryLimit?: string;
}

export const defaultResources = {
  cpu: '50m',
  memory: '96Mi',
  memoryLimit: '256Mi',
} as const satisfies OperatorResources;

/** What the pods of the operator and of its check have in common. */
export interface PodOptions {
  readonly image: string;
  readonly imagePullPolicy: string;
  readonly imagePullSecrets: readonly Readonly<k8s.LocalObjectReference>[];
  readonly nodeSelector: Readonly<Record<string, string>>;
  readonly tolerations: readonly Readonly<k8s.Toleration>[];
  readonly priorityClassName: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface DeploymentOptions extends PodOptions {
  /** Of images that no resource names. */
  readonly imageRegistry: string | undefined;
  readonly namespace: string;
  readonly replicas: number;
  /** Empty for all. */
  readonly namespaces: readonly string[];
  /** Undefined: all resources. */
  readonly resourceSelector: string | undefined;
  readonly logLevel: string;
  readonly dryRuns: boolean;
  readonly resources: OperatorResources;
}

/** `/healthz`, `/readyz` and `/metrics`. */
export const operatorPort = 8080;

export function operatorDeployment(scope: Construct, options: DeploymentOptions): void {
  const { namespace, replicas, labels, annotations } = options;
  const metadata = { name: operatorName, namespace, labels: operatorLabels };
  const selector = { matchLabels: operatorLabels };

  new k8s.KubeDeployment(scope, 'deployment', {
    metadata,
    spec: {
      replicas,
      selector,
      revisionHistoryLimit: 3,
      // The old pods stay until a new one is ready: an image that does not start stops nothing.
      strategy: {
        type: 'RollingUpdate',
        rollingUpdate: { maxSurge: k8s.IntOrString.fromNumber(1), maxUnavailable: k8s.IntOrString.fromNumber(0) },
      },
      template: {
        metadata: { labels: { ...labels, ...operatorLabels }, ...(isEmpty(annotations) ? {} : { annotations }) },
        spec: podSpec(options),
      },
    },
  });
  new k8s.KubePodDisruptionBudget(scope, 'budget', {
    metadata,
    // A pod that is not ready leads nothing: it must not hold up a drain.
    spec: {
      maxUnavailable: k8s.IntOrString.fromNumber(1),
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector,
    },
  });
  new k8s.KubeService(scope, 'metrics', {
    metadata: { ...metadata, name: `${operatorName}-metrics` },
    spec: {
      selector: operatorLabels,
      ports: [{ name: 'metrics', port: operatorPort, targetPort: k8s.IntOrString.fromString('http') }],
    },
  });
}

export const containerSecurityContext: k8s.SecurityContext = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

/** Where the pods run and as whom. What is not set is absent. */
export function commonPodSpec(options: PodOptions) {
  const { imagePullSecrets, nodeSelector, tolerations, priorityClassName } = options;
  return {
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 65_532,
      runAsGroup: 65_532,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    ...(imagePullSecrets.length === 0 ? {} : { imagePullSecrets: [...imagePullSecrets] }),
    ...(isEmpty(nodeSelector) ? {} : { nodeSelector }),
    ...(tolerations.length === 0 ? {} : { tolerations: [...tolerations] }),
    ...(priorityClassName === undefined ? {} : { priorityClassName }),
  } satisfies Partial<k8s.PodSpec>;
}

function isEmpty(map: Readonly<Record<string, string>>): boolean {
  return Object.keys(map).length === 0;
}

function podSpec(options: DeploymentOptions): k8s.PodSpec {
  const fallback = defaultResources;
  const { cpu = fallback.cpu, memory = fallback.memory, memoryLimit = fallback.memoryLimit } = options.resources;
  const probe = (path: string): k8s.HttpGetAction => ({ path, port: k8s.IntOrString.fromString('http') });
  const fromField = (name: string, fieldPath: string): k8s.EnvVar => ({ name, valueFrom: { fieldRef: { fieldPath } } });
  return {
    serviceAccountName: operatorName,
    automountServiceAccountToken: true,
    enableServiceLinks: false,
    // Long enough to finish the passes that have begun (`drainMs`), record the events and release the lease.
    terminationGracePeriodSeconds: 30,
    ...commonPodSpec(options),
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'kubernetes.io/hostname',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: operatorLabels },
      },
    ],
    containers: [
      {
        name: 'controller',
        image: options.image,
        imagePullPolicy: options.imagePullPolicy,
        ports: [{ name: 'http', containerPort: operatorPort }],
        env: [
          // Absent for all namespaces: the API server would drop an empty value, and a diff would never end.
          ...(options.namespaces.length === 0
            ? []
            : [{ name: 'CLUSTERWRIGHT_NAMESPACES', value: options.namespaces.join(',') }]),
          ...(options.resourceSelector === undefined
            ? []
            : [{ name: 'CLUSTERWRIGHT_RESOURCE_SELECTOR', value: options.resourceSelector }]),
          // The agent of backups is in the same image.
          { name: 'CLUSTERWRIGHT_AGENT_IMAGE', value: options.image },
          ...(options.imageRegistry === undefined
            ? []
            : [{ name: 'CLUSTERWRIGHT_IMAGE_REGISTRY', value: options.imageRegistry }]),
          { name: 'CLUSTERWRIGHT_PORT', value: String(operatorPort) },
          { name: 'CLUSTERWRIGHT_LOG_LEVEL', value: options.logLevel },
          ...(options.dryRuns ? [] : [{ name: 'CLUSTERWRIGHT_DRY_RUNS', value: 'false' }]),
          fromField('POD_NAME', 'metadata.name'),
          fromField('POD_NAMESPACE', 'metadata.namespace'),
        ],
        // One process serves every cluster, and a stuck one is replaced; a slow start is not a stuck one.
        startupProbe: { httpGet: probe('/healthz'), periodSeconds: 1, failureThreshold: 60 },
        livenessProbe: { httpGet: probe('/healthz'), periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 },
        readinessProbe: { httpGet: probe('/readyz'), periodSeconds: 2, timeoutSeconds: 2, failureThreshold: 3 },
        resources: {
          requests: { cpu: k8s.Quantity.fromString(cpu), memory: k8s.Quantity.fromString(memory) },
          limits: { memory: k8s.Quantity.fromString(memoryLimit) },
        },
        securityContext: containerSecurityContext,
      },
    ],
  };
}
