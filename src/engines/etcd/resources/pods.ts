/**
 * The pod of one member, in a StatefulSet of its own: Kubernetes starts it again while nobody else is there, and each
 * member can be removed whatever its number is. The image has no shell, and none is needed: etcd takes everything from
 * its environment.
 *
 * The template decides about restarts, so nothing in here may depend on who else is a member.
 */
import type { Cluster } from '../../../api/cluster.ts';
import type { KubeObject } from '../../../api/object.ts';
import { canonicalQuantity } from '../../../api/quantity.ts';
import { computeResources } from '../../../resources/compute.ts';
import { imageOf } from '../../../resources/image.ts';
import { memberLabel, ownedMetadata, type Part, selectorLabels } from '../../../resources/metadata.ts';
import type { ContainerSpec, Probe, Volume } from '../../../resources/plain.ts';
import { podAccount, podBase } from '../../../resources/pod-base.ts';
import { containerSecurityContext } from '../../../resources/podsecurity.ts';
import { schedulingFields } from '../../../resources/scheduling.ts';
import { statefulSet } from '../../../resources/statefulset.ts';
import { releasedImage } from '../kind/released-image.ts';
import type { EtcdSpec } from '../kind/schema.ts';
import {
  authoritiesAnnotation,
  casAnnotation,
  certificateSecret,
  claimTemplate,
  clientPort,
  clientUrl,
  etcdNames,
  hostOf,
  memberName,
  metricsPort,
  paths,
  peerPort,
  peerUrl,
  program,
} from '../names.ts';
import { rosterKeys } from './roster.ts';
import { settings, tlsSettings } from './settings.ts';

/** A member that loads a large database listens late; the kubelet must not give up on it. One try a second. */
const startTries = 86_400;

/**
 * Whether the process serves at all. `/livez` alone reads a key, which waits as long as a defragmentation lasts: 37 s to
 * 88 s for 3.5 GiB, measured with 3.6.16 and 3.5.35, and a kubelet would end it in the middle of a larger one. Without
 * that read it answered within 0.6 s.
 */
export const livenessPath = '/livez?exclude=serializable_read';

/** A leader that is stopped hands over first, which takes about one election. */
const graceSeconds = 30;

/** That of the release unless the resource names another. */
export function etcdImage(cluster: Cluster<EtcdSpec>): string {
  const { image, version } = cluster.spec;
  return imageOf(cluster, image, releasedImage(version));
}

type Variable = NonNullable<ContainerSpec['env']>[number];

/** How to start comes from the roster, anew at each start of the process. */
function environment(cluster: Cluster<EtcdSpec>, index: number, quota?: number): Variable[] {
  const { metadata, spec } = cluster;
  const { peer, client } = spec.tls;
  const everyInterface = (port: number, isSecured = false): string =>
    `${isSecured ? 'https' : 'http'}://0.0.0.0:${port}`;
  const fixed: Readonly<Record<string, string>> = {
    ETCD_NAME: memberName(metadata.name, index),
    ETCD_DATA_DIR: paths.data,
    ETCD_LISTEN_PEER_URLS: everyInterface(peerPort, peer !== undefined),
    ETCD_LISTEN_CLIENT_URLS: everyInterface(clientPort, client !== undefined),
    ETCD_LISTEN_METRICS_URLS: everyInterface(metricsPort),
    ETCD_INITIAL_ADVERTISE_PEER_URLS: peerUrl(cluster, index),
    ETCD_ADVERTISE_CLIENT_URLS: clientUrl(cluster, index),
    // Two clusters of one name, one after the other, never take each other for the same.
    ETCD_INITIAL_CLUSTER_TOKEN: metadata.uid ?? metadata.name,
    ...tlsSettings(spec, hostOf(cluster, index)),
    ...settings(spec, quota),
  };
  const keys = rosterKeys(cluster, index);
  const fromRoster = (name: string, key: string, more: { readonly optional?: true } = {}): Variable => ({
    name,
    valueFrom: { configMapKeyRef: { name: etcdNames(metadata.name).roster, key, ...more } },
  });
  return [
    ...Object.entries(fixed).map(([name, value]): Variable => ({ name, value })),
    fromRoster('ETCD_INITIAL_CLUSTER_STATE', keys.state),
    fromRoster('ETCD_INITIAL_CLUSTER', keys.cluster),
    fromRoster('ETCD_FORCE_NEW_CLUSTER', keys.forceNewCluster, { optional: true }),
  ];
}

function probe(path: string, timing: Partial<Probe>): Probe {
  return { httpGet: { path, port: 'metrics', scheme: 'HTTP' }, timeoutSeconds: 5, ...timing };
}

interface Mounted {
  readonly volume: Volume;
  readonly mount: NonNullable<ContainerSpec['volumeMounts']>[number];
}

function certificatesOf(cluster: Cluster<EtcdSpec>): Mounted[] {
  const mounted = (name: string, secretName: string | undefined, mountPath: string): Mounted[] =>
    secretName === undefined
      ? []
      : [{ volume: { name, secret: { secretName } }, mount: { name, mountPath, readOnly: true } }];
  return [
    ...mounted('client-tls', certificateSecret(cluster, 'client'), paths.clientTls),
    ...mounted('peer-tls', certificateSecret(cluster, 'peer'), paths.peerTls),
  ];
}

/** What the template rests on besides the spec. */
export interface MemberFacts {
  /** Whom the member is to trust: see `certificates.ts`, and `replaced-ca.ts` for `cas`. */
  readonly authorities?: string | undefined;
  readonly cas?: string | undefined;
  /** Bytes: see `given-quota.ts`. */
  readonly quota?: number | undefined;
}

/** `replicas`: 0 where the cluster is parked. */
export function memberStatefulSet(
  cluster: Cluster<EtcdSpec>,
  index: number,
  part: Part,
  replicas: 0 | 1,
  { authorities, cas, quota }: MemberFacts = {},
): KubeObject {
  const { metadata, spec } = cluster;
  const name = memberName(metadata.name, index);
  const own = { [memberLabel]: name };
  const everyMember = selectorLabels(cluster, part);
  const owned = ownedMetadata(cluster, name, part);
  const certificates = certificatesOf(cluster);
  const etcd: ContainerSpec = {
    name: 'etcd',
    image: etcdImage(cluster),
    imagePullPolicy: 'IfNotPresent',
    command: [program],
    env: environment(cluster, index, quota),
    ports: [
      { name: 'client', containerPort: clientPort, protocol: 'TCP' },
      { name: 'peer', containerPort: peerPort, protocol: 'TCP' },
      { name: 'metrics', containerPort: metricsPort, protocol: 'TCP' },
    ],
    resources: computeResources(spec.resources),
    startupProbe: probe('/livez', { periodSeconds: 1, failureThreshold: startTries }),
    readinessProbe: probe('/readyz', { periodSeconds: 2, failureThreshold: 2 }),
    livenessProbe: probe(livenessPath, { periodSeconds: 10, failureThreshold: 6 }),
    securityContext: containerSecurityContext,
    // Why a process has ended, which its pod's status then tells: see `failed-member.ts`.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: [{ name: claimTemplate, mountPath: paths.volume }, ...certificates.map(({ mount }) => mount)],
  };
  const { size, storageClassName } = spec.storage;
  return statefulSet({
    metadata: {
      ...owned,
      labels: { ...owned.labels, ...own },
      ...(cas === undefined ? {} : { annotations: { ...owned.annotations, [casAnnotation]: cas } }),
    },
    selector: { ...everyMember, ...own },
    serviceName: etcdNames(metadata.name).peers,
    replicas,
    ...(authorities === undefined ? {} : { podAnnotations: { [authoritiesAnnotation]: authorities } }),
    pods: spec.pods,
    podSpec: {
      ...podAccount(spec.pods),
      ...podBase(spec.pods),
      terminationGracePeriodSeconds: graceSeconds,
      ...schedulingFields(spec.scheduling, everyMember),
      containers: [etcd],
      ...(certificates.length === 0 ? {} : { volumes: certificates.map(({ volume }) => volume) }),
    },
    claims: [
      {
        name: claimTemplate,
        labels: { ...everyMember, ...own },
        size: canonicalQuantity(size),
        ...(storageClassName === undefined ? {} : { storageClassName }),
      },
    ],
  });
}
