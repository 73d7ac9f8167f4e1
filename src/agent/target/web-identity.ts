/**
 * Credentials for a token that the platform has mounted: AssumeRoleWithWebIdentity, as the security token services of AWS,
 * MinIO and Ceph speak it. The request is not signed; the token is what it is believed for.
 */

import type { AgentContext } from '../../engine/driver/agent-context.ts';
import { Failure } from '../../engine/driver/failure.ts';
import { type TemporaryCredentials, temporaryCredentials } from './credentials.ts';
import { askPlatform } from './platform-request.ts';

export interface WebIdentity {
  readonly endpoint: string;
  /** Read anew each time: the kubelet renews what is in the file. */
  readonly token: () => Promise<string>;
  readonly roleArn?: string | undefined;
  readonly sessionName: string;
  /** PEM, instead of the public authorities. */
  readonly ca?: string | undefined;
}

/** Refusals that pass without anybody's doing. */
const passing: ReadonlySet<string> = new Set([
  'IDPCommunicationError',
  'Throttling',
  'ThrottlingException',
  'RequestExpired',
]);

/** @throws Failure TargetUnreachable, TargetRefused, SecretUnusable */
export async function assumeRole(
  { endpoint, token, roleArn, sessionName, ca }: WebIdentity,
  context: AgentContext,
): Promise<TemporaryCredentials> {
  const url = new URL(endpoint);
  const body = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleSessionName: sessionName,
    ...(roleArn === undefined ? {} : { RoleArn: roleArn }),
    WebIdentityToken: await token(),
  }).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/xml' };
  const answer = await askPlatform({ url, method: 'POST', headers, body, ca }, context);
  if (answer.status !== 200) throw refusalOf(answer, url);
  const found = temporaryCredentials({
    accessKeyId: element(answer.body, 'AccessKeyId'),
    secretAccessKey: element(answer.body, 'SecretAccessKey'),
    sessionToken: element(answer.body, 'SessionToken'),
    expiration: element(answer.body, 'Expiration'),
  });
  for (const secret of [found.secretAccessKey, found.sessionToken ?? '']) context.protect(secret);
  return found;
}

function refusalOf({ status, body }: { readonly status: number; readonly body: string }, { origin }: URL): Failure {
  const code =
    element(body, 'Code')
      ?.replace(/[^A-Za-z0-9.]/g, '')
      .slice(0, 64) ?? '';
  const message = element(body, 'Message')
    ?.replace(/\p{Cc}+/gu, ' ')
    .slice(0, 300);
  const words = [code, message, `status ${status}`].filter((word) => word !== undefined && word !== '').join(', ');
  const isPassing = status >= 500 || status === 408 || status === 429 || passing.has(code);
  return new Failure(isPassing ? 'TargetUnreachable' : 'TargetRefused', `${origin} gives no credentials: ${words}`);
}

/** What is in the first element of the name; it is text alone in the answers that are looked at here. */
function element(body: string, name: string): string | undefined {
  const start = body.indexOf(`<${name}>`);
  const end = start === -1 ? -1 : body.indexOf(`</${name}>`, start);
  return end === -1 ? undefined : unescaped(body.slice(start + name.length + 2, end).trim());
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

function unescaped(text: string): string {
  return text.replace(/&(lt|gt|quot|apos|amp);/g, (_, name: string) => entities[name] ?? '');
}
