/**
 * The pods in which the agent works, whatever started them: restricted like all of ours, without a token, with what they
 * need to know in one mounted file and what they must not tell in mounted Secrets.
 */
import type { BackupEncryption, BackupTarget } from '../api/backup-target.ts';
import type { PodAdditions } from '../api/pods.ts';
import { type AgentTask, agentCommand } from '../backup/agent-task.ts';
import type { Place } from '../backup/place.ts';
import type { MountedSecret } from '../engine/backup-support.ts';
import type { ContainerSpec, PodSpec, Volume } from '../resources/plain.ts';
import { podAccount, podBase } from '../resources/pod-base.ts';
import { containerSecurityContext } from '../resources/podsecurity.ts';
import { identityOf } from './target-identity.ts';

/** The operator's own image holds the agent. */
export const defaultAgentImage = 'clusterwright:0.1.0';

const paths = {
  task: '/etc/clusterwright/task',
  credentials: '/etc/clusterwright/credentials',
  session: '/etc/clusterwright/session',
  authorities: '/etc/clusterwright/authorities',
  encryption: '/etc/clusterwright/encryption',
  target: '/backups',
  scratch: '/scratch',
} as const;

export const taskFile = 'task.json';

export const agentContainerName = 'agent';

type Mounts = NonNullable<ContainerSpec['volumeMounts']>;

/** A target and its key as the agent is told of them, and what has to be mounted for that. */
export interface Store {
  readonly task: Pick<AgentTask, 'target' | 'encryptionKeyFile'>;
  readonly volumes: readonly Volume[];
  readonly mounts: Mounts;
  /** Of the agent's container, where the pod has an identity of its own. */
  readonly env?: NonNullable<ContainerSpec['env']>;
  readonly serviceAccountName?: string;
}

/** The volume of a target that is a claim: what mounts it is checked before it is made, see `target-claim.ts`. */
export const targetVolume = 'target';

/** `access`: whoever only reads a claim cannot write to it. */
export function storeOf(
  target: BackupTarget,
  encryption: BackupEncryption | undefined,
  access: 'read' | 'write' = 'write',
): Store {
  const secrets = secretsOf(target, encryption);
  const claim = target.claim === undefined ? [] : [target.claim];
  const identity = identityOf(target);
  return {
    task: {
      target: placeOf(target),
      ...(encryption === undefined ? {} : { encryptionKeyFile: `${paths.encryption}/key` }),
    },
    volumes: [
      ...secrets.map(secretVolume),
      ...claim.map(({ name }) => ({ name: targetVolume, persistentVolumeClaim: { claimName: name } })),
      ...(identity?.volumes ?? []),
    ],
    mounts: [
      ...secrets.map(secretMount),
      ...claim.map(() => ({
        name: targetVolume,
        mountPath: paths.target,
        ...(access === 'read' ? { readOnly: true } : {}),
      })),
      ...(identity?.mounts ?? []),
    ],
    ...(identity === undefined ? {} : { env: identity.env, serviceAccountName: identity.serviceAccountName }),
  };
}

/** For the container of the agent; it has none where there is nothing to be told. */
export function envOf({ env = [] }: Pick<Store, 'env'>): Pick<AgentContainerOptions, 'env'> {
  return env.length === 0 ? {} : { env };
}

function placeOf({ s3, claim }: BackupTarget): Place {
  if (s3 === undefined) return { type: 'claim', directory: paths.target, prefix: claim?.path ?? '' };
  const { endpoint, bucket, prefix = '', region, pathStyle, credentials, ca, serverSideEncryption } = s3;
  return {
    type: 's3',
    endpoint,
    region,
    bucket,
    prefix,
    pathStyle,
    ...(credentials === undefined
      ? {}
      : {
          accessKeyIdFile: `${paths.credentials}/accessKeyId`,
          secretAccessKeyFile: `${paths.credentials}/secretAccessKey`,
          sessionTokenFile: `${paths.session}/sessionToken`,
        }),
    ...(serverSideEncryption === undefined ? {} : { serverSideEncryption }),
    ...(ca === undefined ? {} : { caFile: `${paths.authorities}/ca.crt` }),
  };
}

function secretsOf({ s3 }: BackupTarget, encryption: BackupEncryption | undefined): MountedSecret[] {
  const mounted = (volume: string, name: string | undefined, directory: string, ...keys: string[]): MountedSecret[] =>
    name === undefined ? [] : [{ name, volume, directory, files: Object.fromEntries(keys.map((key) => [key, key])) }];
  return [
    ...mounted('credentials', s3?.credentials, paths.credentials, 'accessKeyId', 'secretAccessKey'),
    // Most credentials have none: the pod starts without it.
    ...mounted('session', s3?.credentials, paths.session, 'sessionToken').map(
      (secret): MountedSecret => ({ ...secret, optional: true }),
    ),
    ...mounted('authorities', s3?.ca, paths.authorities, 'ca.crt'),
    ...mounted('encryption', encryption?.secret, paths.encryption, 'key'),
  ];
}

export function secretVolume({ name, volume, files, optional }: MountedSecret): Volume {
  const items = Object.entries(files).map(([key, path]) => ({ key, path }));
  return { name: volume, secret: { secretName: name, items, ...(optional === undefined ? {} : { optional }) } };
}

export function secretMount({ volume, directory }: MountedSecret): Mounts[number] {
  return { name: volume, mountPath: directory, readOnly: true };
}

/** Room of the pod's own, on the node's disk; whoever needs more is evicted. `sizeLimit`: a quantity. */
export function scratchOf(sizeLimit: string | undefined): {
  readonly task: { readonly scratchDirectory?: string };
  readonly volumes: readonly Volume[];
  readonly mounts: Mounts;
} {
  if (sizeLimit === undefined) return { task: {}, volumes: [], mounts: [] };
  return {
    task: { scratchDirectory: paths.scratch },
    volumes: [{ name: 'scratch', emptyDir: { sizeLimit } }],
    mounts: [{ name: 'scratch', mountPath: paths.scratch }],
  };
}

export interface AgentContainerOptions {
  readonly image: string;
  readonly mounts: Mounts;
  readonly env?: ContainerSpec['env'];
}

export function agentContainer({ image, mounts, env }: AgentContainerOptions): ContainerSpec {
  return {
    ...helperContainer(agentContainerName, image),
    command: [...agentCommand, `${paths.task}/${taskFile}`],
    ...(env === undefined ? {} : { env }),
    volumeMounts: [{ name: 'task', mountPath: paths.task, readOnly: true }, ...mounts],
  };
}

/** Data flows through it in pieces, so it needs the same for every size. */
export function helperContainer(
  name: string,
  image: string,
): Pick<ContainerSpec, 'name' | 'image' | 'imagePullPolicy' | 'resources' | 'securityContext'> {
  return {
    name,
    image,
    imagePullPolicy: 'IfNotPresent',
    resources: { requests: { cpu: '50m', memory: '64Mi' }, limits: { memory: '256Mi' } },
    securityContext: containerSecurityContext,
  };
}

export interface AgentPodOptions {
  /** ConfigMap with the task. */
  readonly config: string;
  readonly volumes: readonly Volume[];
  readonly containers: readonly ContainerSpec[];
  readonly initContainers?: readonly ContainerSpec[];
  /** Whose identity the pod has. Never for the API of Kubernetes: no token for that is mounted. */
  readonly serviceAccountName?: string | undefined;
  /** What the spec of the cluster adds to its pods. */
  readonly pods: PodAdditions | undefined;
}

export function agentPodSpec(options: AgentPodOptions): Omit<PodSpec, 'restartPolicy'> {
  const { config, volumes, containers, initContainers = [], serviceAccountName, pods } = options;
  return {
    ...podAccount({ serviceAccountName }),
    ...podBase(pods),
    // Time to say why it ends.
    terminationGracePeriodSeconds: 10,
    ...(initContainers.length === 0 ? {} : { initContainers }),
    containers,
    volumes: [{ name: 'task', configMap: { name: config } }, ...volumes],
  };
}
