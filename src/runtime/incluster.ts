/** Credentials of a process that runs in a pod: the service account that the kubelet mounts and keeps fresh. */
import { join } from 'node:path';
import type { Clock } from '../system/clock.ts';
import { type Credentials, CredentialsError, type FileReader, fileReader, fileText } from './credentials.ts';

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

export interface InClusterOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Default `/var/run/secrets/kubernetes.io/serviceaccount`. */
  readonly directory?: string | undefined;
  readonly files?: FileReader | undefined;
}

/** Whether this process runs in a pod, as far as its environment tells. */
export function isInCluster(env: Readonly<Record<string, string | undefined>>): boolean {
  return Boolean(env.KUBERNETES_SERVICE_HOST && env.KUBERNETES_SERVICE_PORT);
}

/** Throws `CredentialsError` outside a pod. The token and the CA are read again when their files change. */
export function inClusterCredentials(options: InClusterOptions): Credentials {
  const { env, clock, files = fileReader, directory = SERVICE_ACCOUNT } = options;
  const host = env.KUBERNETES_SERVICE_HOST;
  const port = env.KUBERNETES_SERVICE_PORT;
  if (!host || !port) {
    throw new CredentialsError(
      'environment',
      'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: not in a pod',
    );
  }
  const token = fileText(join(directory, 'token'), clock, files);
  const ca = fileText(join(directory, 'ca.crt'), clock, files);
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    async identity() {
      return { tls: { ca: await ca.read() }, authorization: `Bearer ${(await token.read()).trim()}` };
    },
    invalidate() {
      token.invalidate();
      ca.invalidate();
    },
  };
}

/** The namespace of this pod. */
export async function inClusterNamespace(options: Omit<InClusterOptions, 'env'>): Promise<string> {
  const { clock, files = fileReader, directory = SERVICE_ACCOUNT } = options;
  return (await fileText(join(directory, 'namespace'), clock, files).read()).trim();
}
