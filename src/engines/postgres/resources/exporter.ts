/**
 * An exporter for each member, in a pod of its own: one that fails must not make its member unready, and another image or query must not
 * restart a database.
 */
import { createHash } from 'node:crypto';
import type { Cluster } from '../../../api/cluster.ts';
import type { KubeObject } from '../../../api/object.ts';
import type { Desired } from '../../../plan/objects.ts';
import { computeResources } from '../../../resources/compute.ts';
import { configMap } from '../../../resources/configmap.ts';
import { imageOf } from '../../../resources/image.ts';
import { memberLabel, ownedMetadata, type Part, selectorLabels, unownedMetadata } from '../../../resources/metadata.ts';
import type { ContainerSpec } from '../../../resources/plain.ts';
import { podBase } from '../../../resources/pod-base.ts';
import { containerSecurityContext } from '../../../resources/podsecurity.ts';
import { schedulingFields } from '../../../resources/scheduling.ts';
import { generatedSecret } from '../../../resources/secret.ts';
import { headlessService } from '../../../resources/service.ts';
import { statefulSet } from '../../../resources/statefulset.ts';
import { serverCaSecret, sslMode } from '../client/server-ca.ts';
import { exporterImage } from '../kind/released-image.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import {
  configAnnotation,
  exporterComponent,
  exporterName,
  exporterPort,
  memberName,
  podName,
  postgresNames,
  roles,
  sqlPort,
} from '../names.ts';
import type { Roster } from './roster.ts';
import { texts } from './shell/texts.ts';

const passwordLength = 32;
const directory = '/etc/exporter';
/** Rows of a query that become metrics. */
const mostRows = 1000;

function exporterImageOf(cluster: Cluster<PostgresSpec>): string {
  return imageOf(cluster, cluster.spec.monitoring?.image, exporterImage);
}

function exporterPart(cluster: Cluster<PostgresSpec>): Part {
  const version = /:([\w.-]{1,63})(@|$)/.exec(exporterImageOf(cluster))?.[1] ?? 'digest';
  return { engine: 'postgres', component: exporterComponent, version };
}

export function exporterSecret(cluster: Cluster<PostgresSpec>): Desired {
  const name = postgresNames(cluster.metadata.name).exporterLogin;
  return {
    object: generatedSecret(unownedMetadata(cluster, name, exporterPart(cluster)), { username: roles.monitor }),
    generate: [{ key: 'password', length: passwordLength }],
  };
}

/** In the form of postgres_exporter; JSON is YAML. */
export function queriesFile({ monitoring }: PostgresSpec): string {
  const queries = (monitoring?.queries ?? []).map(({ name, sql, metrics }) => [
    name,
    {
      query: `SELECT * FROM (${sql}\n) AS query LIMIT ${mostRows}`,
      metrics: metrics.map(({ column, type, description }) => ({
        [column]: { usage: type.toUpperCase(), description },
      })),
    },
  ]);
  return `${JSON.stringify(Object.fromEntries(queries), undefined, 1)}\n`;
}

/** None where nobody monitors. */
export function exporterChildren(cluster: Cluster<PostgresSpec>, roster: Roster): Desired[] {
  const { metadata, spec } = cluster;
  const { monitoring } = spec;
  if (monitoring === undefined) return [];
  const part = exporterPart(cluster);
  const owned = ownedMetadata(cluster, postgresNames(metadata.name).exporter, part);
  const files = {
    'queries.yaml': queriesFile(spec),
    'exporter.sh': texts['exporter.sh'].replace('verify-full', sslMode(cluster)),
  };
  const digest = createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 16);
  const ports = [{ name: 'metrics', port: exporterPort, targetPort: 'metrics', protocol: 'TCP' }];
  return [
    exporterSecret(cluster),
    { object: configMap(owned, files) },
    { object: headlessService({ metadata: owned, selector: selectorLabels(cluster, part), ports }) },
    ...[...roster.keys()].map((index) => ({ object: exporterOf(cluster, index, monitoring, digest) })),
  ];
}

/** With the label of its member, by which Prometheus tells members apart. */
function exporterOf(
  cluster: Cluster<PostgresSpec>,
  index: number,
  monitoring: NonNullable<PostgresSpec['monitoring']>,
  digest: string,
): KubeObject {
  const { metadata, spec } = cluster;
  const part = exporterPart(cluster);
  const names = postgresNames(metadata.name);
  const own = { [memberLabel]: memberName(metadata.name, index) };
  const selector = { ...selectorLabels(cluster, part), ...own };
  const owned = ownedMetadata(cluster, exporterName(metadata.name, index), part);
  const sources = [
    { configMap: { name: names.exporter } },
    { secret: { name: names.exporterLogin, items: [{ key: 'password', path: 'password' }] } },
    { secret: { name: serverCaSecret(cluster), items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
  ];
  return statefulSet({
    metadata: { ...owned, labels: { ...owned.labels, ...own } },
    selector,
    serviceName: names.exporter,
    replicas: spec.instances === 0 ? 0 : 1,
    podAnnotations: { [configAnnotation]: digest },
    pods: spec.pods,
    podSpec: {
      ...podBase(spec.pods),
      ...schedulingFields(spec.scheduling, selectorLabels(cluster, part)),
      containers: [container(cluster, index, monitoring)],
      volumes: [{ name: 'config', projected: { defaultMode: 0o440, sources } }],
    },
    claims: [],
  });
}

function container(
  cluster: Cluster<PostgresSpec>,
  index: number,
  { resources }: NonNullable<PostgresSpec['monitoring']>,
): ContainerSpec {
  const { metadata, spec } = cluster;
  const { members } = postgresNames(metadata.name);
  const environment: Readonly<Record<string, string>> = {
    CONFIG: directory,
    HOST: `${podName(metadata.name, index)}.${members}.${metadata.namespace}.svc`,
    PORT: String(sqlPort),
    DATABASE: spec.initial.database,
    METRICS_PORT: String(exporterPort),
    DATA_SOURCE_USER: roles.monitor,
  };
  return {
    name: 'exporter',
    image: exporterImageOf(cluster),
    imagePullPolicy: 'IfNotPresent',
    command: ['/bin/sh', `${directory}/exporter.sh`],
    env: Object.entries(environment).map(([name, value]) => ({ name, value })),
    ports: [{ name: 'metrics', containerPort: exporterPort, protocol: 'TCP' }],
    resources: computeResources(resources),
    // Not `/metrics`, which asks the database.
    readinessProbe: { httpGet: { path: '/', port: 'metrics' }, periodSeconds: 10 },
    securityContext: containerSecurityContext,
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: [{ name: 'config', mountPath: directory, readOnly: true }],
  };
}
