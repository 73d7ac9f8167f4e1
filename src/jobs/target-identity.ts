/**
 * The identity of the pod that reaches a target without a Secret: that of a ServiceAccount, as the platform or a token of
 * Kubernetes tells it to the server.
 *
 * Who may make a Backup may not make pods, so a name in a Backup must not be enough to run as anybody of the namespace.
 * The ServiceAccount itself says that backups may. A token is sent to a security token service, and who has it is the
 * ServiceAccount there: so it goes to that of AWS, or to the one that the ServiceAccount names, and to no other. Nor is it good
 * elsewhere: one for the audience of the API server would be the ServiceAccount in Kubernetes, too.
 */
import type { BackupTarget } from '../api/backup-target.ts';
import type { KubeObject } from '../api/object.ts';
import type { ContainerSpec, PodSpec, Volume } from '../resources/plain.ts';
import { forBackupsAnnotation } from './for-backups.ts';

/** On a ServiceAccount: the URL of the security token service that its tokens may be sent to. */
export const stsEndpointAnnotation = 'clusterwright.dev/sts-endpoint';

/** On a ServiceAccount: the audience that its tokens may be made for. */
export const stsAudienceAnnotation = 'clusterwright.dev/sts-audience';

/** On a pod, for the webhook of EKS: containers that are not told what the ServiceAccount may. */
export const skipContainersAnnotation = 'eks.amazonaws.com/skip-containers';

const tokenDirectory = '/var/run/secrets/clusterwright/identity';
const tokenFile = 'token';
/** The kubelet renews it long before. */
const tokenSeconds = 3600;
const volume = 'identity';

const endpointVariable = 'AWS_ENDPOINT_URL_STS';
const audienceOfAws = 'sts.amazonaws.com';
const ofAws = /^https:\/\/sts(\.[a-z0-9-]+)?\.amazonaws\.com(\.cn)?$/;

export interface TargetIdentity {
  readonly serviceAccountName: string;
  readonly env: NonNullable<ContainerSpec['env']>;
  readonly volumes: readonly Volume[];
  readonly mounts: NonNullable<ContainerSpec['volumeMounts']>;
}

type S3 = NonNullable<BackupTarget['s3']>;

/** Undefined where the target needs none. */
export function identityOf({ s3 }: BackupTarget): TargetIdentity | undefined {
  if (s3?.serviceAccountName === undefined) return undefined;
  const { serviceAccountName, region, webIdentity } = s3;
  if (webIdentity === undefined) return { serviceAccountName, env: [], volumes: [], mounts: [] };
  const { roleArn, audience } = webIdentity;
  const token = { audience, expirationSeconds: tokenSeconds, path: tokenFile };
  return {
    serviceAccountName,
    env: [
      { name: 'AWS_WEB_IDENTITY_TOKEN_FILE', value: `${tokenDirectory}/${tokenFile}` },
      ...(roleArn === undefined ? [] : [{ name: 'AWS_ROLE_ARN', value: roleArn }]),
      { name: endpointVariable, value: webIdentity.endpoint ?? stsOf(s3) },
      { name: 'AWS_REGION', value: region },
    ],
    volumes: [{ name: volume, projected: { sources: [{ serviceAccountToken: token }] } }],
    mounts: [{ name: volume, mountPath: tokenDirectory, readOnly: true }],
  };
}

/** MinIO and Ceph have it at the same address. */
function stsOf({ endpoint, region }: S3): string {
  const ofS3 = /^https:\/\/[^/:]+\.amazonaws\.com(\.cn)?$/.exec(endpoint);
  return ofS3 === null ? endpoint : `https://sts.${region}.amazonaws.com${ofS3[1] ?? ''}`;
}

/** Why no pod of backups may be made as it, in words; undefined where it may. */
export function whyNotAs(account: KubeObject, pod: PodSpec): string | undefined {
  const { annotations = {} } = account.metadata;
  if (annotations[forBackupsAnnotation] !== 'true') {
    return `does not say that backups may run as it: who may answer for it annotates it with ${forBackupsAnnotation}=true`;
  }
  const named = annotations[stsEndpointAnnotation];
  const other = endpointsIn(pod).find((url) => (named === undefined ? !ofAws.test(url) : url !== named));
  if (other !== undefined) {
    const allowed = named === undefined ? 'AWS alone' : named;
    return `lets its tokens be sent to ${allowed}, and not to ${other}: who may answer for it annotates it with ${stsEndpointAnnotation}=${other}`;
  }
  const audience = annotations[stsAudienceAnnotation] ?? audienceOfAws;
  const stranger = audiencesIn(pod).find((each) => each !== audience);
  if (stranger === undefined) return undefined;
  return `lets its tokens be for ${audience}, and not for ${stranger}: who may answer for it annotates it with ${stsAudienceAnnotation}=${stranger}`;
}

/** Without one a token is for the API server. */
function audiencesIn({ volumes = [] }: PodSpec): readonly string[] {
  return volumes
    .flatMap(({ projected }) => projected?.sources ?? [])
    .flatMap(({ serviceAccountToken: token }) => (token === undefined ? [] : [token.audience ?? 'the API server']));
}

function endpointsIn({ containers = [], initContainers = [] }: PodSpec): readonly string[] {
  return [...containers, ...initContainers]
    .flatMap(({ env = [] }) => env)
    .flatMap(({ name, value }) => (name === endpointVariable && value !== undefined ? [value] : []));
}
