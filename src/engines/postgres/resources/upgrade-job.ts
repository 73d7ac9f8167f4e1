/**
 * Jobs of a major upgrade: each runs one mode of `upgrade.sh` in an image that has both versions of PostgreSQL.
 *
 * A Job that mounts a member's volume is made only while no member runs on it. The rehearsal has a volume of its own, which goes with its pod.
 */
import type { Cluster } from '../../../api/cluster.ts';
import type { KubeObject } from '../../../api/object.ts';
import { canonicalQuantity } from '../../../api/quantity.ts';
import { computeResources } from '../../../resources/compute.ts';
import { job } from '../../../resources/job.ts';
import { agentComponent, ownedMetadata } from '../../../resources/metadata.ts';
import type { ContainerSpec, Volume } from '../../../resources/plain.ts';
import { podBase } from '../../../resources/pod-base.ts';
import { containerSecurityContext } from '../../../resources/podsecurity.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { claimName, paths, postgresNames, roles, sqlPort, walClaimName, walClaimTemplate } from '../names.ts';
import { afterVariables, operatorCertificate } from './after-upgrade.ts';
import { parameterNames } from './parameters.ts';
import { isStrict, serverCaFile } from './patroni-config.ts';
import { certificates, type Mounted, scratch, users } from './pods.ts';

/** Of the container whose termination message is the result. */
export const upgradeContainer = 'upgrade';

/** On a Job: from which version to which, and for which generation of the spec. A Job for something else is not taken for it. */
export const upgradeAnnotation = 'clusterwright.dev/upgrade';

export type UpgradeTask =
  /** Copies from a member that runs. */
  | { readonly mode: 'rehearse' }
  /** What the control file of a member's volume says. */
  | { readonly mode: 'checkpoint'; readonly index: number }
  | { readonly mode: 'upgrade'; readonly index: number }
  /** Puts a volume back on which `upgrade` was begun. */
  | { readonly mode: 'undo'; readonly index: number }
  /** What follows while the new version serves. */
  | { readonly mode: 'after' };

export interface Versions {
  readonly from: string;
  readonly to: string;
}

/** Exit code of the script: it would fail again, and the old data is as it was. */
const refusedCode = 3;
const retries = 3;
/** A copy of a large database takes hours. */
const deadlineSeconds = 12 * 60 * 60;

export function upgradeJobName(cluster: string, task: UpgradeTask): string {
  switch (task.mode) {
    case 'rehearse':
      return `${cluster}-rehearsal`;
    case 'checkpoint':
      return `${cluster}-checkpoint-${task.index}`;
    case 'upgrade':
      return `${cluster}-upgrade`;
    case 'undo':
      return `${cluster}-undo-upgrade`;
    case 'after':
      return `${cluster}-after-upgrade`;
    default:
      return task satisfies never;
  }
}

/** `image` has both versions. `purpose` is the value of the annotation. */
export function upgradeJob(
  cluster: Cluster<PostgresSpec>,
  image: string,
  versions: Versions,
  task: UpgradeTask,
  purpose: string,
): KubeObject {
  const { metadata, spec } = cluster;
  const mounted = [
    users(metadata.name),
    scripts(metadata.name),
    ...scratch(),
    ...dataOf(cluster, task),
    ...certificatesFor(cluster, task),
  ];
  const container: ContainerSpec = {
    name: upgradeContainer,
    image,
    imagePullPolicy: 'IfNotPresent',
    command: [...locked(task), '/bin/sh', `${scriptDirectory}/upgrade.sh`, task.mode],
    env: [
      ...Object.entries(environment(cluster, versions, task)).map(([name, value]) => ({ name, value })),
      ...(task.mode === 'after' ? afterVariables(cluster) : []),
    ],
    resources: computeResources(spec.resources),
    securityContext: containerSecurityContext,
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: mounted.flatMap(({ mounts }) => mounts),
  };
  const { nodeSelector, tolerations, affinity, priorityClassName } = spec.scheduling;
  const owned = ownedMetadata(cluster, upgradeJobName(metadata.name, task), {
    engine: 'postgres',
    component: agentComponent,
    version: versions.to,
  });
  return job({
    metadata: { ...owned, annotations: { [upgradeAnnotation]: purpose } },
    retries,
    deadlineSeconds,
    permanentCodes: [refusedCode],
    pods: spec.pods,
    podSpec: {
      ...podBase(spec.pods),
      // A server that is stopped writes a checkpoint.
      terminationGracePeriodSeconds: 60,
      ...(nodeSelector === undefined ? {} : { nodeSelector }),
      ...(tolerations === undefined ? {} : { tolerations: tolerations as never }),
      ...(affinity === undefined ? {} : { affinity: affinity as never }),
      ...(priorityClassName === undefined ? {} : { priorityClassName }),
      containers: [container],
      volumes: mounted.map(({ volume }) => volume),
    },
  });
}

const scriptDirectory = '/etc/upgrade';

/** One at a time on a volume. */
function locked({ mode }: UpgradeTask): string[] {
  return mode === 'after' ? [] : ['python3', '-IS', `${scriptDirectory}/locked.py`, paths.volume];
}

function scripts(cluster: string) {
  return {
    volume: {
      name: 'scripts',
      configMap: {
        name: postgresNames(cluster).patroni,
        items: ['upgrade.sh', 'locked.py'].map((key) => ({ key, path: key })),
      },
    },
    mounts: [{ name: 'scripts', mountPath: scriptDirectory, readOnly: true }],
  };
}

function certificatesFor(cluster: Cluster<PostgresSpec>, { mode }: UpgradeTask): Mounted[] {
  if (mode === 'after') return [operatorCertificate(cluster)];
  return mode === 'rehearse' ? [certificates(cluster)] : [];
}

function dataOf(cluster: Cluster<PostgresSpec>, task: UpgradeTask): Mounted[] {
  const volume = volumeOf(cluster, task);
  if (volume === undefined) return [];
  const data = { volume, mounts: [{ name: volume.name, mountPath: paths.volume }] };
  // The copy of a rehearsal has its log in itself.
  if (cluster.spec.walStorage === undefined || task.mode === 'after' || task.mode === 'rehearse') return [data];
  const claim = walClaimName(cluster.metadata.name, task.index);
  const wal = {
    volume: { name: walClaimTemplate, persistentVolumeClaim: { claimName: claim } },
    mounts: [{ name: walClaimTemplate, mountPath: paths.walVolume }],
  };
  return [data, wal];
}

function volumeOf({ metadata, spec }: Cluster<PostgresSpec>, task: UpgradeTask): Volume | undefined {
  if (task.mode === 'after') return undefined;
  if (task.mode !== 'rehearse')
    return { name: 'data', persistentVolumeClaim: { claimName: claimName(metadata.name, task.index) } };
  const { size, storageClassName } = spec.storage;
  const claim = {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: canonicalQuantity(size) } },
    ...(storageClassName === undefined ? {} : { storageClassName }),
  };
  return { name: 'copy', ephemeral: { volumeClaimTemplate: { spec: claim as never } } };
}

function environment(
  cluster: Cluster<PostgresSpec>,
  { from, to }: Versions,
  task: UpgradeTask,
): Readonly<Record<string, string>> {
  const {
    metadata: { name },
    spec,
  } = cluster;
  const both = { OLD: from, NEW: to, LC_ALL: 'C.UTF-8', SUPERUSER: roles.superuser, OPERATOR_ROLE: roles.operator };
  if (task.mode !== 'rehearse') return spec.walStorage === undefined ? both : { ...both, WAL_DIRECTORY: paths.wal };
  const { primary, replicas } = postgresNames(name);
  const file = (at: string): string => `${paths.tls}/${at}`;
  const source = {
    // A standby, if there is one that answers.
    host: `${replicas},${primary}`,
    port: `${sqlPort},${sqlPort}`,
    user: roles.replication,
    sslmode: 'verify-ca',
    sslrootcert: serverCaFile(cluster),
    sslcert: file('replication.crt'),
    sslkey: file('replication.key'),
    connect_timeout: '5',
  };
  const words = Object.entries(source).map(([key, value]) => `${key}=${value}`);
  const named = parameterNames(spec).join(' ');
  return {
    ...both,
    SOURCE: words.join(' '),
    ...(isStrict(spec) ? { NO_SLOT: 'yes' } : {}),
    ...(named === '' ? {} : { PARAMETERS: named }),
  };
}
