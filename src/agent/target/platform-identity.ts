/**
 * The identity that the platform gives the process, by the variables that every client of AWS knows: a token for
 * AssumeRoleWithWebIdentity (IRSA, and our own pods), else an agent of the node (EKS Pod Identity).
 */
import type { S3Place } from '../../backup/place.ts';
import type { AgentContext } from '../../engine/driver/agent-context.ts';
import { Failure } from '../../engine/driver/failure.ts';
import { containerCredentials } from './container-credentials.ts';
import { type CredentialSource, renewed } from './credentials.ts';
import { assumeRole } from './web-identity.ts';

const regionName = /^[a-z0-9-]{1,64}$/;

/** `read` gives the first line of a file, which is a secret. @throws Failure SecretUnusable */
export function platformIdentity(
  place: Pick<S3Place, 'region'>,
  ca: string | undefined,
  read: (path: string) => Promise<string>,
  context: AgentContext,
): CredentialSource {
  const { environment: env } = context;
  const tokenFile = env.AWS_WEB_IDENTITY_TOKEN_FILE;
  if (isSet(tokenFile)) {
    const identity = {
      ...tokenService(env, place.region, ca),
      token: () => read(tokenFile),
      roleArn: isSet(env.AWS_ROLE_ARN) ? env.AWS_ROLE_ARN : undefined,
      sessionName: isSet(env.AWS_ROLE_SESSION_NAME) ? env.AWS_ROLE_SESSION_NAME : 'clusterwright',
    };
    return renewed(() => assumeRole(identity, context), context);
  }
  const url = env.AWS_CONTAINER_CREDENTIALS_FULL_URI;
  if (isSet(url)) {
    const authorization = env.AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE;
    const token = async () => (isSet(authorization) ? await read(authorization) : undefined);
    return renewed(() => containerCredentials({ url, token }, context), context);
  }
  const words =
    'the target names no credentials, and the platform gives this pod none: neither AWS_WEB_IDENTITY_TOKEN_FILE nor AWS_CONTAINER_CREDENTIALS_FULL_URI is set';
  throw new Failure('SecretUnusable', `${words}; name webIdentity, or see to it that the ServiceAccount has a role`);
}

/** Who changes tokens into credentials, and by whose authority it is believed: that of the target is not that of AWS. */
export function tokenService(
  env: AgentContext['environment'],
  ofTarget: string,
  ca: string | undefined,
): { readonly endpoint: string; readonly ca: string | undefined } {
  const region = isSet(env.AWS_REGION) ? env.AWS_REGION : ofTarget;
  const endpoint = isSet(env.AWS_ENDPOINT_URL_STS) ? env.AWS_ENDPOINT_URL_STS : stsOfAws(region);
  if (!URL.canParse(endpoint)) throw new Failure('SecretUnusable', 'AWS_ENDPOINT_URL_STS is no URL');
  return { endpoint, ca: /\.amazonaws\.com(\.cn)?$/.test(new URL(endpoint).hostname) ? undefined : ca };
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}

function stsOfAws(name: string): string {
  const known = regionName.test(name) ? name : 'us-east-1';
  return `https://sts.${known}.amazonaws.com${known.startsWith('cn-') ? '.cn' : ''}`;
}
