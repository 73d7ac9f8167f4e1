/**
 * The pods of a Redis cluster. Their templates decide about restarts, so nothing in here may depend on a number that
 * changes while the cluster runs (how many sentinels, which address): that comes in by mounted files.
 */
import type { Cluster } from '../../../api/cluster.ts';
import type { KubeObject } from '../../../api/object.ts';
import { canonicalQuantity } from '../../../api/quantity.ts';
import { computeResources } from '../../../resources/compute.ts';
import { imageOf } from '../../../resources/image.ts';
import { ownedMetadata, type Part, selectorLabels } from '../../../resources/metadata.ts';
import type { ContainerSpec, PodSpec, Probe, Volume } from '../../../resources/plain.ts';
import { podAccount, podBase } from '../../../resources/pod-base.ts';
import { containerSecurityContext } from '../../../resources/podsecurity.ts';
import { schedulingFields } from '../../../resources/scheduling.ts';
import { statefulSet } from '../../../resources/statefulset.ts';
import { identityKey } from '../client/identity.ts';
import { passwordSecret } from '../client/password.ts';
import { releasedImage } from '../kind/released-image.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { releases } from '../kind/server.ts';
import { dataPort, identityVolume, paths, redisNames, sentinelPort } from '../names.ts';
import { exporterSidecar, exporterVolumes } from './exporter.ts';
import type { ScriptName } from './scripts.ts';
import { restartSettings } from './settings.ts';
import type { ShardScriptName } from './shards/scripts.ts';

/** What changes in it restarts the pods: see `config.ts`. */
const configHashAnnotation = 'clusterwright.dev/restart-hash';

/** Names in the templates that `held-template.ts` looks for. */
export const authVolume = 'auth';
export const identityEnv = 'IDENTITY_FILE';

/** A node may load or copy for hours before it is admitted; the kubelet must not give up on it. One try a second. */
const admissionTries = 86_400;

/** At most about 10 s for the hand-over, 20 s for a copy that is being written, 10 s for the server's own shutdown. */
const dataGraceSeconds = 45;

function script(name: ScriptName | ShardScriptName): string[] {
  return ['/bin/sh', `${paths.config}/${name}`];
}

function probe(name: ScriptName | ShardScriptName, timing: Omit<Probe, 'exec'>): Probe {
  return { exec: { command: script(name) }, timeoutSeconds: 5, ...timing };
}

function fromField(name: string, fieldPath: string): { name: string; valueFrom: { fieldRef: { fieldPath: string } } } {
  return { name, valueFrom: { fieldRef: { fieldPath } } };
}

/** That of the release unless the resource names another. */
export function redisImage(cluster: Cluster<RedisSpec>): string {
  const { engine, image, version } = cluster.spec;
  return imageOf(cluster, image, releasedImage(version, engine));
}

/** The scripts take redis where they are not told, so that the templates of clusters of before stay as they are. */
function programEnv({ spec }: Cluster<RedisSpec>): { name: string; value: string }[] {
  return spec.engine === 'Redis' ? [] : [{ name: 'SERVER', value: releases[spec.engine].program }];
}

function container(
  cluster: Cluster<RedisSpec>,
  name: string,
): Pick<ContainerSpec, 'name' | 'image' | 'imagePullPolicy' | 'env' | 'securityContext' | 'volumeMounts'> {
  return {
    name,
    image: redisImage(cluster),
    imagePullPolicy: 'IfNotPresent',
    env: [
      { name: 'CLUSTER_NAME', value: cluster.metadata.name },
      { name: 'CONFIG_DIR', value: paths.config },
      { name: 'AUTH_FILE', value: `${paths.auth}/password` },
      { name: identityEnv, value: `${paths.internal}/${identityKey}` },
      fromField('POD_NAME', 'metadata.name'),
      fromField('POD_NAMESPACE', 'metadata.namespace'),
      fromField('POD_IP', 'status.podIP'),
      ...programEnv(cluster),
    ],
    securityContext: containerSecurityContext,
    volumeMounts: [
      { name: 'config', mountPath: paths.config, readOnly: true },
      { name: authVolume, mountPath: paths.auth, readOnly: true },
      { name: identityVolume, mountPath: paths.internal, readOnly: true },
      { name: 'run', mountPath: paths.run },
      { name: 'tmp', mountPath: '/tmp' },
    ],
  };
}

export function passwordVolume({ name, key }: { readonly name: string; readonly key: string }): Volume {
  return { name: authVolume, secret: { secretName: name, items: [{ key, path: 'password' }] } };
}

function volumes(cluster: Cluster<RedisSpec>): Volume[] {
  const names = redisNames(cluster.metadata.name);
  const identity = [{ key: identityKey, path: identityKey }];
  return [
    { name: 'config', configMap: { name: names.config } },
    passwordVolume(passwordSecret(cluster)),
    { name: identityVolume, secret: { secretName: names.internal, items: identity } },
    { name: 'run', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
    { name: 'tmp', emptyDir: { sizeLimit: '16Mi' } },
  ];
}

function podSpec(
  cluster: Cluster<RedisSpec>,
  scheduling: Partial<PodSpec>,
  spec: Pick<PodSpec, 'initContainers' | 'containers' | 'volumes' | 'terminationGracePeriodSeconds'>,
): PodSpec {
  return {
    ...podAccount(cluster.spec.pods),
    ...podBase(cluster.spec.pods),
    ...scheduling,
    ...spec,
  };
}

/** What its scripts are called: who decides the role of a node depends on the mode. */
export interface DataScripts {
  readonly start: ScriptName | ShardScriptName;
  readonly startup: ScriptName | ShardScriptName;
  readonly ready: ScriptName | ShardScriptName;
  readonly preStop: ScriptName | ShardScriptName;
}

const ownScripts: DataScripts = {
  start: 'start-data.sh',
  startup: 'admit.sh',
  ready: 'ping.sh',
  preStop: 'hand-over.sh',
};

export function dataStatefulSet(cluster: Cluster<RedisSpec>, part: Part, restartHash: string): KubeObject {
  const metadata = ownedMetadata(cluster, redisNames(cluster.metadata.name).data, part);
  const scheduling = schedulingFields(cluster.spec.scheduling, selectorLabels(cluster, part));
  return dataSet(cluster, {
    metadata,
    selector: selectorLabels(cluster, part),
    replicas: cluster.spec.replicas,
    restartHash,
    scripts: ownScripts,
    ports: [redisPort],
    scheduling,
  });
}

export const redisPort = { name: 'redis', containerPort: dataPort, protocol: 'TCP' };

export interface DataSetOptions {
  readonly metadata: KubeObject['metadata'];
  readonly selector: Readonly<Record<string, string>>;
  readonly replicas: number;
  readonly restartHash: string;
  readonly scripts: DataScripts;
  readonly ports: NonNullable<ContainerSpec['ports']>;
  readonly scheduling: Partial<PodSpec>;
}

/** Of nodes that keep data, in every mode. */
export function dataSet(cluster: Cluster<RedisSpec>, options: DataSetOptions): KubeObject {
  const { spec } = cluster;
  const { metadata, selector, replicas, restartHash, scripts, ports, scheduling } = options;
  const base = container(cluster, 'redis');
  const redis: ContainerSpec = {
    ...base,
    command: script(scripts.start),
    // Not from the ConfigMap, which somebody may cut short: data in a database that is not there would go astray.
    env: [
      ...(base.env ?? []),
      { name: 'DATABASES', value: restartSettings(cluster).databases ?? '' },
      ...(spec.modules === 'None' ? [] : [{ name: 'MODULES', value: spec.modules }]),
    ],
    ports,
    resources: computeResources(spec.resources),
    startupProbe: probe(scripts.startup, { periodSeconds: 1, failureThreshold: admissionTries }),
    readinessProbe: probe(scripts.ready, { periodSeconds: 5, failureThreshold: 2 }),
    livenessProbe: probe('alive.sh', { periodSeconds: 10, failureThreshold: 6 }),
    lifecycle: { preStop: { exec: { command: script(scripts.preStop) } } },
    volumeMounts: [...(base.volumeMounts ?? []), { name: 'data', mountPath: paths.data }],
  };
  const { size, storageClassName, ephemeral } = spec.storage;
  return statefulSet({
    metadata,
    selector,
    serviceName: redisNames(cluster.metadata.name).data,
    replicas,
    podAnnotations: { [configHashAnnotation]: restartHash },
    pods: cluster.spec.pods,
    podSpec: podSpec(cluster, scheduling, {
      terminationGracePeriodSeconds: dataGraceSeconds,
      ...exporterSidecar(cluster, dataPort),
      containers: [redis],
      volumes: [
        ...volumes(cluster),
        ...exporterVolumes(cluster),
        ...(ephemeral ? [{ name: 'data', emptyDir: { sizeLimit: canonicalQuantity(size) } }] : []),
      ],
    }),
    claims: ephemeral
      ? []
      : [
          {
            name: 'data',
            labels: { ...selector },
            size: canonicalQuantity(size),
            ...(storageClassName === undefined ? {} : { storageClassName }),
          },
        ],
  });
}

export function sentinelStatefulSet(cluster: Cluster<RedisSpec>, part: Part): KubeObject {
  const names = redisNames(cluster.metadata.name);
  const sentinel: ContainerSpec = {
    ...container(cluster, 'sentinel'),
    command: script('start-sentinel.sh'),
    ports: [{ name: 'sentinel', containerPort: sentinelPort, protocol: 'TCP' }],
    resources: computeResources(cluster.spec.sentinel.resources),
    startupProbe: probe('watching.sh', { periodSeconds: 1, failureThreshold: admissionTries }),
    readinessProbe: probe('watching.sh', { periodSeconds: 10, failureThreshold: 2 }),
    livenessProbe: probe('sentinel-alive.sh', { periodSeconds: 10, failureThreshold: 6 }),
  };
  return statefulSet({
    metadata: ownedMetadata(cluster, names.sentinel, part),
    selector: selectorLabels(cluster, part),
    serviceName: names.sentinel,
    replicas: cluster.spec.sentinel.replicas,
    pods: cluster.spec.pods,
    podSpec: podSpec(cluster, schedulingFields(cluster.spec.scheduling, selectorLabels(cluster, part)), {
      terminationGracePeriodSeconds: 10,
      ...exporterSidecar(cluster, sentinelPort),
      containers: [sentinel],
      volumes: [...volumes(cluster), ...exporterVolumes(cluster)],
    }),
    claims: [],
  });
}
