/**
 * The pod of one member, in a StatefulSet of its own: Kubernetes starts it again while nobody else is there, and each member can be
 * removed whatever its number is.
 *
 * The template decides about restarts, so nothing in here may depend on who else is a member.
 */
import type { Cluster } from '../../../api/cluster.ts';
import { restartAnnotation } from '../../../api/maintenance.ts';
import type { KubeObject } from '../../../api/object.ts';
import { canonicalQuantity } from '../../../api/quantity.ts';
import { computeResources } from '../../../resources/compute.ts';
import { imageOf } from '../../../resources/image.ts';
import { memberLabel, ownedMetadata, type Part, selectorLabels } from '../../../resources/metadata.ts';
import type { ContainerSpec, Probe, Volume } from '../../../resources/plain.ts';
import { podBase } from '../../../resources/pod-base.ts';
import { containerSecurityContext } from '../../../resources/podsecurity.ts';
import { schedulingFields } from '../../../resources/scheduling.ts';
import { statefulSet } from '../../../resources/statefulset.ts';
import { hasSource } from '../client/server-ca.ts';
import { releasedImage } from '../kind/released-image.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import {
  authoritiesAnnotation,
  claimTemplate,
  configAnnotation,
  memberName,
  paths,
  patroniPort,
  postgresNames,
  programs,
  roleLabel,
  roles,
  serverCasAnnotation,
  sqlPort,
  walClaimTemplate,
} from '../names.ts';
import { importScripts } from './import-source.ts';
import { configKey, memberConfigDigest, serverCaFile } from './patroni-config.ts';
import { bootstrapKey, startKey } from './roster.ts';

/** A first copy of a large database takes hours. One try a second. */
const startTries = 86_400;
/** A primary that is stopped writes a checkpoint, and hands over. */
const graceSeconds = 120;

export function postgresImage(cluster: Cluster<PostgresSpec>): string {
  const { image, version } = cluster.spec;
  return imageOf(cluster, image, releasedImage(version));
}

const probe = (path: string, timing: Partial<Probe>): Probe => ({
  httpGet: { path, port: 'patroni', scheme: 'HTTPS' },
  timeoutSeconds: 3,
  ...timing,
});

type Mount = NonNullable<ContainerSpec['volumeMounts']>[number];
export interface Mounted {
  readonly volume: Volume;
  readonly mounts: readonly Mount[];
}

/**
 * Files of Secrets under names of their own. PostgreSQL takes a key only where nobody else can read it. `ca.crt` says who may log in by
 * certificate, and is never that of somebody else.
 */
export function certificates(cluster: Cluster<PostgresSpec>): Mounted {
  const { certificates: secrets } = postgresNames(cluster.metadata.name);
  const pair = (secret: string, name: string, ca?: string) => ({
    secret: {
      name: secret,
      items: [
        { key: 'tls.crt', path: `${name}.crt` },
        { key: 'tls.key', path: `${name}.key` },
        ...(ca === undefined ? [] : [{ key: 'ca.crt', path: `${ca}.crt` }]),
      ],
    },
  });
  const servers = hasSource(cluster)
    ? [
        { secret: { name: secrets.server, items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        pair(secrets.shown, 'server', 'server-ca'),
      ]
    : [pair(secrets.server, 'server', 'ca')];
  const sources = [
    ...servers,
    pair(secrets.replication, 'replication'),
    pair(secrets.rewind, 'rewind'),
    pair(secrets.patroni, 'patroni', 'patroni-ca'),
  ];
  return {
    volume: { name: 'tls', projected: { defaultMode: 0o440, sources } },
    mounts: [{ name: 'tls', mountPath: paths.tls, readOnly: true }],
  };
}

/** Patroni's configuration. What only a member that forms reads is there as long as the roster has it. */
function configuration(cluster: Cluster<PostgresSpec>, index: number): Mounted {
  const { metadata, spec } = cluster;
  const { patroni, roster } = postgresNames(metadata.name);
  const key = bootstrapKey(metadata.name, index);
  const items = [
    { key: configKey(cluster), path: 'patroni.yml' },
    { key: 'relabel.py', path: 'relabel.py' },
    { key: 'post-init.sh', path: 'post-init.sh' },
    { key: 'pre-stop.py', path: 'pre-stop.py' },
    { key: 'start.sh', path: 'start.sh' },
    ...Object.keys(importScripts(spec)).map((name) => ({ key: name, path: name })),
  ];
  const sources = [
    { configMap: { name: patroni, items } },
    { configMap: { name: roster, items: [{ key, path: 'bootstrap.yml' }], optional: true } },
    { configMap: { name: roster, items: [{ key: startKey(metadata.name, index), path: 'start' }], optional: true } },
  ];
  return {
    volume: { name: 'patroni', projected: { defaultMode: 0o555, sources } },
    mounts: [{ name: 'patroni', mountPath: paths.patroni, readOnly: true }],
  };
}

/** The user that the container runs as has no name in any image, and PostgreSQL asks for one. */
export function users(cluster: string): Mounted {
  return {
    volume: {
      name: 'users',
      configMap: { name: postgresNames(cluster).patroni, items: [{ key: 'passwd', path: 'passwd' }] },
    },
    mounts: [{ name: 'users', mountPath: '/etc/passwd', subPath: 'passwd', readOnly: true }],
  };
}

/** How long a token counts. The kubelet asks for another one before. */
export const tokenSeconds = 3600;

/** A token that ends within the hour, in this container alone. */
function token(): Mounted {
  const sources = [
    { serviceAccountToken: { path: 'token', expirationSeconds: tokenSeconds } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
  ];
  return {
    volume: { name: 'token', projected: { defaultMode: 0o440, sources } },
    mounts: [{ name: 'token', mountPath: paths.account, readOnly: true }],
  };
}

/** Nothing is written to the image. What is in memory counts towards the limit of the container. */
export function scratch(): Mounted[] {
  const inMemory = (name: string, mountPath: string, sizeLimit: string): Mounted => ({
    volume: { name, emptyDir: { medium: 'Memory', sizeLimit } },
    mounts: [{ name, mountPath }],
  });
  return [
    inMemory('tmp', '/tmp', '16Mi'),
    inMemory('socket', paths.socket, '1Mi'),
    // Workers of one query share memory here.
    inMemory('shm', '/dev/shm', '256Mi'),
  ];
}

type Variable = NonNullable<ContainerSpec['env']>[number];

function environment(cluster: Cluster<PostgresSpec>, everyMember: Readonly<Record<string, string>>): Variable[] {
  const field = (name: string, fieldPath: string): Variable => ({ name, valueFrom: { fieldRef: { fieldPath } } });
  const selector = Object.entries(everyMember).map((pair) => pair.join('='));
  const fixed: Readonly<Record<string, string>> = {
    // Patroni takes what begins with PATRONI_ away from its callbacks.
    PATRONI_NAME: '$(POD_NAME)',
    PATRONI_KUBERNETES_POD_IP: '$(POD_IP)',
    PATRONI_POSTGRESQL_CONNECT_ADDRESS: `$(POD_IP):${sqlPort}`,
    PATRONI_RESTAPI_CONNECT_ADDRESS: `$(POD_IP):${patroniPort}`,
    ROLE_LABEL: roleLabel,
    MEMBER_SELECTOR: selector.join(','),
    OPERATOR_ROLE: roles.operator,
    REST_PORT: String(patroniPort),
    CONFIG_DIRECTORY: paths.patroni,
    DATA_DIRECTORY: paths.data,
    ...(cluster.spec.walStorage === undefined ? {} : { WAL_DIRECTORY: paths.wal }),
    ...(hasSource(cluster)
      ? { SERVER_CA_FILE: serverCaFile(cluster), SERVER_CAS_ANNOTATION: serverCasAnnotation }
      : {}),
    PGBIN: programs(cluster.spec.version),
    // For people who enter the pod: Debian has no `psql` in the usual path.
    PATH: `${programs(cluster.spec.version)}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
    PYTHONUNBUFFERED: '1',
    LC_ALL: 'C.UTF-8',
  };
  return [
    field('POD_NAME', 'metadata.name'),
    field('POD_IP', 'status.podIP'),
    ...Object.entries(fixed).map(([name, value]): Variable => ({ name, value })),
  ];
}

/** What is on the pod besides: another value has it restart. */
export interface Noted {
  /** Whom the member is to trust. */
  readonly authorities?: string | undefined;
  readonly restart?: string | undefined;
}

/** `replicas`: 0 where the cluster is parked. */
export function memberStatefulSet(
  cluster: Cluster<PostgresSpec>,
  index: number,
  part: Part,
  replicas: 0 | 1,
  { authorities, restart }: Noted = {},
): KubeObject {
  const { metadata, spec } = cluster;
  const name = memberName(metadata.name, index);
  const own = { [memberLabel]: name };
  const everyMember = selectorLabels(cluster, part);
  const owned = ownedMetadata(cluster, name, part);
  const names = postgresNames(metadata.name);
  const mounted = [configuration(cluster, index), users(metadata.name), certificates(cluster), token(), ...scratch()];
  const postgres: ContainerSpec = {
    name: 'postgres',
    image: postgresImage(cluster),
    imagePullPolicy: 'IfNotPresent',
    command: ['/bin/sh', `${paths.patroni}/start.sh`],
    env: environment(cluster, everyMember),
    ports: [
      { name: 'postgres', containerPort: sqlPort, protocol: 'TCP' },
      { name: 'patroni', containerPort: patroniPort, protocol: 'TCP' },
    ],
    resources: computeResources(spec.resources),
    startupProbe: probe('/liveness', { periodSeconds: 1, failureThreshold: startTries }),
    readinessProbe: probe('/readiness', { periodSeconds: 2, failureThreshold: 3 }),
    // A Patroni that hangs cannot give up the lock, which ends 15 to 20 s after with the least ttl. The kubelet notices within 15 s: up to
    // 4 s until the next probe, two more of them, and the 3 s of the last. Then the hook stops PostgreSQL; what is left ends 5 s later.
    livenessProbe: probe('/liveness', { periodSeconds: 4, failureThreshold: 3, terminationGracePeriodSeconds: 5 }),
    lifecycle: { preStop: { exec: { command: ['python3', '-IS', `${paths.patroni}/pre-stop.py`] } } },
    securityContext: containerSecurityContext,
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: [
      { name: claimTemplate, mountPath: paths.volume },
      ...(spec.walStorage === undefined ? [] : [{ name: walClaimTemplate, mountPath: paths.walVolume }]),
      ...mounted.flatMap(({ mounts }) => mounts),
    ],
  };
  return statefulSet({
    metadata: { ...owned, labels: { ...owned.labels, ...own } },
    selector: { ...everyMember, ...own },
    serviceName: names.members,
    replicas,
    podAnnotations: {
      [configAnnotation]: memberConfigDigest(cluster),
      ...(authorities === undefined ? {} : { [authoritiesAnnotation]: authorities }),
      ...(restart === undefined ? {} : { [restartAnnotation]: restart }),
    },
    pods: spec.pods,
    podSpec: {
      serviceAccountName: names.account,
      ...podBase(spec.pods),
      terminationGracePeriodSeconds: graceSeconds,
      ...schedulingFields(spec.scheduling, everyMember),
      containers: [postgres],
      volumes: mounted.map(({ volume }) => volume),
    },
    claims: volumes(spec).map(({ name, size, storageClassName }) => ({
      name,
      labels: { ...everyMember, ...own },
      size: canonicalQuantity(size),
      ...(storageClassName === undefined ? {} : { storageClassName }),
    })),
  });
}

function volumes({ storage, walStorage }: PostgresSpec) {
  const data = { name: claimTemplate, ...storage } as const;
  return walStorage === undefined ? [data] : [data, { name: walClaimTemplate, ...walStorage } as const];
}
