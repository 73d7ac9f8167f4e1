/** Credentials from the agent of the node that EKS Pod Identity, and ECS before it, tell a container of. */

import type { AgentContext } from '../../engine/driver/agent-context.ts';
import { Failure } from '../../engine/driver/failure.ts';
import { type TemporaryCredentials, temporaryCredentials } from './credentials.ts';
import { askPlatform } from './platform-request.ts';

export interface ContainerCredentials {
  readonly url: string;
  /** Read anew each time. */
  readonly token: () => Promise<string | undefined>;
}

/** Without TLS, nobody else is asked than the node itself. */
const ofTheNode = /^(localhost|127(\.\d{1,3}){3}|\[::1\]|169\.254\.170\.(2|23)|\[fd00:ec2::23\])$/;

/** @throws Failure TargetUnreachable, TargetRefused, SecretUnusable */
export async function containerCredentials(
  { url: given, token }: ContainerCredentials,
  context: AgentContext,
): Promise<TemporaryCredentials> {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || !(url.protocol === 'https:' || (url.protocol === 'http:' && ofTheNode.test(url.hostname)))) {
    throw new Failure('SecretUnusable', 'AWS_CONTAINER_CREDENTIALS_FULL_URI names nobody that may be asked');
  }
  const authorization = await token();
  const headers = { accept: 'application/json', ...(authorization === undefined ? {} : { authorization }) };
  const { status, body } = await askPlatform({ url, method: 'GET', headers }, context);
  if (status !== 200) {
    const isPassing = status >= 500 || status === 408 || status === 429;
    const words = `${url.origin} gives no credentials: status ${status}`;
    throw new Failure(isPassing ? 'TargetUnreachable' : 'TargetRefused', words);
  }
  const { AccessKeyId, SecretAccessKey, Token, Expiration } = fieldsOf(body);
  const found = temporaryCredentials({
    accessKeyId: AccessKeyId,
    secretAccessKey: SecretAccessKey,
    sessionToken: Token,
    expiration: Expiration,
  });
  for (const secret of [found.secretAccessKey, found.sessionToken ?? '']) context.protect(secret);
  return found;
}

function fieldsOf(body: string): Readonly<Record<string, unknown>> {
  try {
    return (JSON.parse(body) ?? {}) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}
