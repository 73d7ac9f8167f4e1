/** The operator's pods: an ordinary process under the restricted Pod Security Standard, one port, nothing on disk. */
import { ApiObject, Duration, JsonPatch } from 'cdk8s';
import {
  type ContainerProps,
  Deployment,
  DeploymentStrategy,
  EnvFieldPaths,
  EnvValue,
  type ImagePullPolicy,
  type IServiceAccount,
  k8s,
  LabelSelector,
  PercentOrAbsolute,
  Pod,
  Pods,
  Probe,
  Service,
} from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import { operatorLabels, operatorName } from './operator-identity.ts';
import { setFields } from './set-fields.ts';

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
  readonly account: IServiceAccount;
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
  readonly maxConcurrentRollouts: number;
  readonly resources: OperatorResources;
}

/** `/healthz`, `/readyz` and `/metrics`. */
export const operatorPort = 8080;

export function operatorDeployment(scope: Construct, options: DeploymentOptions): void {
  const { namespace, labels, annotations } = options;
  const metadata = { name: operatorName, namespace, labels: operatorLabels };

  const deployment = new Deployment(scope, 'deployment', {
    metadata,
    replicas: options.replicas,
    // The old pods stay until a new one is ready: an image that does not start stops nothing.
    strategy: DeploymentStrategy.rollingUpdate({
      maxSurge: PercentOrAbsolute.absolute(1),
      maxUnavailable: PercentOrAbsolute.absolute(0),
    }),
    podMetadata: { labels: { ...labels, ...operatorLabels }, annotations },
    // A selector of cdk8s-plus depends on the place of the construct in the app. Ours can never change.
    select: false,
    serviceAccount: options.account,
    automountServiceAccountToken: true,
    // Long enough to finish the passes that have begun (`drainMs`), record the events and release the lease.
    terminationGracePeriod: Duration.seconds(30),
    containers: [container(options)],
  });
  deployment.select(LabelSelector.of({ labels: operatorLabels }));
  setFields<k8s.DeploymentSpec>(deployment, '/spec', { revisionHistoryLimit: 3 });
  // The same is true of the label that cdk8s-plus adds to pods: in another place of the app, they would restart.
  const added = `/spec/template/metadata/labels/${Pod.ADDRESS_LABEL.replace('/', '~1')}`;
  ApiObject.of(deployment).addJsonPatch(JsonPatch.remove(added));
  setFields<k8s.PodSpec>(deployment, '/spec/template/spec', {
    ...commonPodSpec(options),
    enableServiceLinks: false,
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'kubernetes.io/hostname',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: operatorLabels },
      },
    ],
  });
  setFields<k8s.Container>(deployment, '/spec/template/spec/containers/0', {
    // As text, which is what people write and what the values of the Helm chart are.
    resources: resourcesOf(options.resources),
    securityContext: containerSecurityContext,
  });

  // cdk8s-plus has no construct for it.
  new k8s.KubePodDisruptionBudget(scope, 'budget', {
    metadata,
    // A pod that is not ready leads nothing: it must not hold up a drain.
    spec: {
      maxUnavailable: k8s.IntOrString.fromNumber(1),
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector: { matchLabels: operatorLabels },
    },
  });
  new Service(scope, 'metrics', {
    metadata: { ...metadata, name: `${operatorName}-metrics` },
    selector: Pods.select(scope, 'replicas', { labels: operatorLabels }),
    ports: [{ name: 'metrics', port: operatorPort, targetPort: operatorPort }],
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

function container(options: DeploymentOptions): ContainerProps {
  const text = EnvValue.fromValue;
  const seconds = Duration.seconds;
  const port = operatorPort;
  return {
    name: 'controller',
    image: options.image,
    imagePullPolicy: options.imagePullPolicy as ImagePullPolicy,
    ports: [{ name: 'http', number: port }],
    envVariables: {
      // Absent for all namespaces: the API server would drop an empty value, and a diff would never end.
      ...(options.namespaces.length === 0 ? {} : { CLUSTERWRIGHT_NAMESPACES: text(options.namespaces.join(',')) }),
      ...(options.resourceSelector === undefined
        ? {}
        : { CLUSTERWRIGHT_RESOURCE_SELECTOR: text(options.resourceSelector) }),
      // The agent of backups is in the same image.
      CLUSTERWRIGHT_AGENT_IMAGE: text(options.image),
      ...(options.imageRegistry === undefined ? {} : { CLUSTERWRIGHT_IMAGE_REGISTRY: text(options.imageRegistry) }),
      CLUSTERWRIGHT_PORT: text(String(port)),
      CLUSTERWRIGHT_LOG_LEVEL: text(options.logLevel),
      CLUSTERWRIGHT_MAX_CONCURRENT_ROLLOUTS: text(String(options.maxConcurrentRollouts)),
      ...(options.dryRuns ? {} : { CLUSTERWRIGHT_DRY_RUNS: text('false') }),
      POD_NAME: EnvValue.fromFieldRef(EnvFieldPaths.POD_NAME),
      POD_NAMESPACE: EnvValue.fromFieldRef(EnvFieldPaths.POD_NAMESPACE),
    },
    // One process serves every cluster, and a stuck one is replaced; a slow start is not a stuck one.
    startup: Probe.fromHttpGet('/healthz', { port, periodSeconds: seconds(1), failureThreshold: 60 }),
    liveness: Probe.fromHttpGet('/healthz', {
      ...{ port, periodSeconds: seconds(10), timeoutSeconds: seconds(5), failureThreshold: 3 },
    }),
    readiness: Probe.fromHttpGet('/readyz', {
      ...{ port, periodSeconds: seconds(2), timeoutSeconds: seconds(2), failureThreshold: 3 },
    }),
  };
}

function resourcesOf(resources: OperatorResources): k8s.ResourceRequirements {
  const fallback = defaultResources;
  const { cpu = fallback.cpu, memory = fallback.memory, memoryLimit = fallback.memoryLimit } = resources;
  const quantity = k8s.Quantity.fromString;
  return {
    requests: { cpu: quantity(cpu), memory: quantity(memory) },
    limits: { memory: quantity(memoryLimit) },
  };
}
