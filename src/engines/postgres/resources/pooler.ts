/** The pooler's objects: pods that keep nothing, and a Service. */
import type { Cluster } from '../../../api/cluster.ts';
import type { Desired } from '../../../plan/objects.ts';
import { computeResources } from '../../../resources/compute.ts';
import { configMap } from '../../../resources/configmap.ts';
import { disruptionBudget } from '../../../resources/disruptionbudget.ts';
import { imageOf } from '../../../resources/image.ts';
import { ownedMetadata, type Part, selectorLabels, unownedMetadata } from '../../../resources/metadata.ts';
import type { ContainerSpec, PodSpec, Volume } from '../../../resources/plain.ts';
import { podBase } from '../../../resources/pod-base.ts';
import { containerSecurityContext } from '../../../resources/podsecurity.ts';
import { schedulingFields } from '../../../resources/scheduling.ts';
import { generatedSecret } from '../../../resources/secret.ts';
import { clusterIPService } from '../../../resources/service.ts';
import { statefulSet } from '../../../resources/statefulset.ts';
import { hasSource, serverCaSecret } from '../client/server-ca.ts';
import { poolerImage } from '../kind/released-image.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { poolerComponent, poolerPaths, poolerPort, postgresNames, roles, sqlPort } from '../names.ts';
import { iniKey, type PoolerSpec, pgbouncerFiles, serverCaName } from './pgbouncer-config.ts';
import { texts } from './shell/texts.ts';

const passwordLength = 32;
/** Clients that are connected when a pod stops may end what they do; new ones reach another pod. */
const graceSeconds = 60;
/** After which the guard ends a pause, in seconds. */
export const pauseLimit = 30;

function poolerImageOf(cluster: Cluster<PostgresSpec>): string {
  return imageOf(cluster, cluster.spec.pooler?.image, poolerImage);
}

function poolerPart(image: string): Part {
  const version = /:([\w.-]{1,63})(@|$)/.exec(image)?.[1] ?? 'digest';
  return { engine: 'postgres', component: poolerComponent, version };
}

/** The password of the pooler's role, also in the form that PgBouncer reads. The operator has no password, and needs its name to be known. */
export function poolerSecret(cluster: Cluster<PostgresSpec>): Desired {
  const { name } = cluster.metadata;
  const part = poolerPart(poolerImageOf(cluster));
  const userlist = `"${roles.pooler}" "{password}"\n"${roles.operator}" ""\n`;
  return {
    object: generatedSecret(unownedMetadata(cluster, postgresNames(name).poolerLogin, part), {
      username: roles.pooler,
      'userlist.txt': userlist,
    }),
    generate: [{ key: 'password', length: passwordLength }],
  };
}

function containers(image: string, ini: string, { resources, tls }: PoolerSpec): PodSpec['containers'] {
  const common: Partial<ContainerSpec> = {
    image,
    imagePullPolicy: 'IfNotPresent',
    securityContext: containerSecurityContext,
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: [
      { name: 'config', mountPath: poolerPaths.config, readOnly: true },
      { name: 'socket', mountPath: poolerPaths.socket },
      ...(tls === undefined ? [] : [{ name: 'tls', mountPath: poolerPaths.tls, readOnly: true }]),
    ],
  };
  return [
    {
      ...common,
      name: 'pgbouncer',
      command: ['/usr/sbin/pgbouncer', `${poolerPaths.config}/${ini}`],
      ports: [{ name: 'postgres', containerPort: poolerPort, protocol: 'TCP' }],
      // From SIGTERM on it refuses clients. Until then the Service has to forget it.
      lifecycle: { preStop: { exec: { command: ['sleep', '5'] } } },
      resources: computeResources(resources),
      readinessProbe: { tcpSocket: { port: 'postgres' }, periodSeconds: 3 },
      livenessProbe: { tcpSocket: { port: 'postgres' }, periodSeconds: 10, failureThreshold: 6 },
    },
    {
      ...common,
      name: 'guard',
      command: ['/bin/sh', `${poolerPaths.config}/pooler-guard.sh`],
      env: [
        { name: 'SOCKET', value: poolerPaths.socket },
        { name: 'CONSOLE_PORT', value: String(poolerPort) },
        { name: 'CONFIG', value: poolerPaths.config },
        ...(tls === undefined ? [] : [{ name: 'SHOWN', value: poolerPaths.tls }]),
        { name: 'PAUSE_LIMIT', value: String(pauseLimit) },
      ],
      resources: computeResources({ requests: { cpu: '10m', memory: '16Mi' }, limits: { memory: '32Mi' } }),
    },
  ];
}

/** A volume of its own: before a pod is stopped, the Secrets are looked for that it mounts in this way. */
function shown({ tls }: PoolerSpec): Volume[] {
  if (tls === undefined) return [];
  const items = ['tls.crt', 'tls.key'].map((key) => ({ key, path: key }));
  return [{ name: 'tls', secret: { secretName: tls.secretRef.name, defaultMode: 0o440, items } }];
}

/** None where there is no pooler. */
export function poolerChildren(cluster: Cluster<PostgresSpec>): Desired[] {
  const { metadata, spec } = cluster;
  const { pooler } = spec;
  if (pooler === undefined) return [];
  const image = poolerImageOf(cluster);
  const part = poolerPart(image);
  const names = postgresNames(metadata.name);
  const selector = selectorLabels(cluster, part);
  const owned = ownedMetadata(cluster, names.pooler, part);
  const ports = [{ name: 'postgres', port: sqlPort, targetPort: 'postgres', protocol: 'TCP' }];
  const sources = [
    { configMap: { name: names.pooler } },
    { secret: { name: names.poolerLogin, items: [{ key: 'userlist.txt', path: 'userlist.txt' }] } },
    { secret: { name: names.certificates.pooler } },
    ...(hasSource(cluster)
      ? [{ secret: { name: serverCaSecret(cluster), items: [{ key: 'ca.crt', path: serverCaName }] } }]
      : []),
  ];
  const set = statefulSet({
    metadata: owned,
    selector,
    serviceName: names.pooler,
    replicas: spec.instances === 0 ? 0 : pooler.instances,
    pods: spec.pods,
    podSpec: {
      ...podBase(spec.pods),
      terminationGracePeriodSeconds: graceSeconds,
      ...schedulingFields(spec.scheduling, selector),
      containers: containers(image, iniKey(cluster), pooler),
      volumes: [
        { name: 'config', projected: { defaultMode: 0o440, sources } },
        { name: 'socket', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
        ...shown(pooler),
      ],
    },
    claims: [],
  });
  const files = { ...pgbouncerFiles(cluster, pooler), 'pooler-guard.sh': texts['pooler-guard.sh'] };
  return [
    poolerSecret(cluster),
    { object: configMap(owned, files) },
    { object: clusterIPService({ metadata: owned, selector, ports }) },
    { object: disruptionBudget(owned, selector, 'AlwaysAllow') },
    { object: set },
  ];
}
