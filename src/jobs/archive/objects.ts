/**
 * The pod that archives the log of a cluster: one, in a StatefulSet, so that there are never two of them. It is the only one that has
 * the credentials of the store. It goes on without the operator.
 */
import { createHash } from 'node:crypto';
import { type BackupPlace, type Cluster, podsOf } from '../../api/cluster.ts';
import type { KubeObject } from '../../api/object.ts';
import type { ArchiveTask } from '../../backup/agent-task.ts';
import { archiveReportPath, archiveReportPort } from '../../backup/archive-report.ts';
import type { BackupSource } from '../../engine/backup-support.ts';
import { configMap } from '../../resources/configmap.ts';
import { archiveComponent, ownedMetadata, selectorLabels } from '../../resources/metadata.ts';
import type { PodSpec } from '../../resources/plain.ts';
import { statefulSet } from '../../resources/statefulset.ts';
import { configName } from '../agent-job.ts';
import { agentContainer, agentPodSpec, envOf, secretMount, secretVolume, storeOf, taskFile } from '../agent-pod.ts';

/** Name of the StatefulSet. */
export function archiveName(cluster: string): string {
  return `${cluster}-archive`;
}

/** The next byte of the database or the store; a dead node is noticed by it. */
const idleSeconds = 20;

export interface ArchiveOptions {
  readonly engine: string;
  /** Holds the agent. */
  readonly image: string;
  readonly place: BackupPlace;
  readonly from: BackupSource;
  /** 0 where the cluster is parked. */
  readonly replicas: 0 | 1;
}

/** The task and the StatefulSet, in the order in which they are made. */
export function archiveObjects(cluster: Cluster, options: ArchiveOptions): readonly [KubeObject, KubeObject] {
  const { engine, image, place, from, replicas } = options;
  const { kind, metadata } = cluster;
  const pods = podsOf(cluster);
  const name = archiveName(metadata.name);
  const part = { engine, component: archiveComponent, version: 'v1' };
  const store = storeOf(place.target, place.encryption);
  const task: ArchiveTask = {
    task: 'archive',
    cluster: { namespace: metadata.namespace, kind, name: metadata.name, uid: metadata.uid ?? 'unknown' },
    source: from.source,
    port: archiveReportPort,
    idleTimeoutSeconds: idleSeconds,
    ...store.task,
  };
  const text = `${JSON.stringify(task, undefined, 2)}\n`;
  const config = configMap(ownedMetadata(cluster, configName({ name }), part), { [taskFile]: text });
  const agent = agentContainer({ image, mounts: [...store.mounts, ...from.secrets.map(secretMount)], ...envOf(store) });
  const podSpec: PodSpec = agentPodSpec({
    config: configName({ name }),
    volumes: [...store.volumes, ...from.secrets.map(secretVolume)],
    containers: [
      {
        ...agent,
        // Files of the log are held whole, beside a base backup.
        resources: { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '512Mi' } },
        ports: [{ name: 'report', containerPort: archiveReportPort, protocol: 'TCP' }],
        readinessProbe: {
          httpGet: { path: archiveReportPath, port: 'report', scheme: 'HTTP' },
          periodSeconds: 5,
          timeoutSeconds: 3,
          failureThreshold: 1,
        },
      },
    ],
    serviceAccountName: store.serviceAccountName,
    pods,
  });
  const set = statefulSet({
    metadata: ownedMetadata(cluster, name, part),
    selector: selectorLabels(cluster, part),
    serviceName: name,
    replicas,
    podAnnotations: { [taskAnnotation]: createHash('sha256').update(text).digest('hex').slice(0, 16) },
    pods,
    podSpec,
    claims: [],
  });
  return [config, set];
}

/** On the pod: a digest of its task, which it reads once. */
const taskAnnotation = 'clusterwright.dev/task';
