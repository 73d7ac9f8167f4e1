/**
 * Credentials from kubeconfig files, read as kubectl reads them.
 *
 * Several files make one configuration: of two entries with one name the first file's counts, whole; relative paths
 * start at the file that names them. What this client cannot do (passwords, auth providers, SOCKS proxies) is refused by
 * name instead of being left out, because a request as somebody else is worse than no request.
 */
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import type { Clock } from '../system/clock.ts';
import {
  type Credentials,
  CredentialsError,
  type FileReader,
  type FileText,
  fileReader,
  fileText,
  type Identity,
  type Impersonation,
  type Tls,
} from './credentials.ts';
import { createExecPlugin, type ExecPlugin, type RunCommand } from './execplugin.ts';
import { type ConfigNode, type MergedKubeconfig, mergeKubeconfigs, parseKubeconfig } from './kubeconfig-file.ts';
import { type Tunnel, tunnelThrough } from './proxy-tunnel.ts';

export interface KubeconfigOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** One file that must exist. Default: the files of `KUBECONFIG`, else `~/.kube/config`. */
  readonly path?: string | undefined;
  /** Default: the configuration's current context. */
  readonly context?: string | undefined;
  readonly files?: FileReader | undefined;
  readonly runCommand?: RunCommand | undefined;
}

export interface KubeconfigContext {
  readonly context: string;
  readonly cluster: string;
  /** Default `default`. */
  readonly namespace: string;
  readonly credentials: Credentials;
}

/** Throws `CredentialsError` naming the file and the path inside it. */
export async function loadKubeconfig(options: KubeconfigOptions): Promise<KubeconfigContext> {
  const { files = fileReader, clock } = options;
  const merged = mergeKubeconfigs(await readAll(options, files));
  const context = contextOf(merged, options.context);
  const cluster = referenced(merged, 'clusters', context, 'cluster');
  const user = context.child('user').optionalString() ? referenced(merged, 'users', context, 'user') : undefined;

  const server = serverOf(cluster);
  const tunnel = tunnelOf(cluster, server);
  const trust = trustOf(cluster, clock, files);
  const proof = user === undefined ? undefined : proofOf(user, cluster, server, options, files);
  return {
    context: context.name,
    cluster: cluster.name,
    namespace: context.child('namespace').optionalString() ?? 'default',
    credentials: {
      server,
      ...(tunnel === undefined ? {} : { tunnel }),
      async identity() {
        const { tls, ...proven } = (await proof?.read()) ?? { tls: {} };
        return { tls: { ...(await trust.read()), ...tls }, ...proven };
      },
      invalidate() {
        trust.invalidate();
        proof?.invalidate();
      },
    },
  };
}

/** Something that is read before a request and forgotten after a 401. */
interface Source<Value> {
  read(): Promise<Value>;
  invalidate(): void;
}

async function readAll(options: KubeconfigOptions, files: FileReader) {
  const { env, path } = options;
  const listed = (env.KUBECONFIG ?? '').split(delimiter).filter((entry) => entry !== '');
  const home = env.HOME ?? env.USERPROFILE ?? '';
  const paths = path !== undefined ? [path] : listed.length > 0 ? listed : [join(home, '.kube', 'config')];
  const found = [];
  for (const candidate of paths) {
    let text: string;
    try {
      text = await files.readText(candidate);
    } catch (cause) {
      const missing = (cause as { readonly code?: unknown }).code === 'ENOENT';
      // As for kubectl: an entry of the list may be missing, a file that was named may not.
      if (missing && path === undefined && paths.length > 1) continue;
      const hint = missing && path === undefined && listed.length === 0 ? ' (KUBECONFIG is not set)' : '';
      throw new CredentialsError(candidate, `cannot be read${hint}: ${(cause as Error).message}`, { cause });
    }
    found.push(await parseKubeconfig(text, resolve(candidate)));
  }
  if (found.length === 0) throw new CredentialsError(paths.join(delimiter), 'none of these files exists');
  return found;
}

function contextOf(merged: MergedKubeconfig, wanted: string | undefined): ConfigNode {
  const name = wanted ?? merged.currentContext;
  const known = `contexts are: ${[...merged.contexts.keys()].join(', ') || 'none'}`;
  if (name === undefined) throw new CredentialsError(merged.place, `current-context is not set; ${known}`);
  const context = merged.contexts.get(name);
  if (context === undefined) throw new CredentialsError(merged.place, `there is no context ${name}; ${known}`);
  return context.child('context');
}

function referenced(
  merged: MergedKubeconfig,
  list: 'clusters' | 'users',
  context: ConfigNode,
  field: 'cluster' | 'user',
) {
  const name = context.child(field).string();
  const entry = merged[list].get(name);
  if (entry === undefined) throw context.child(field).error(`there is no ${field} ${name}`);
  return entry.child(field);
}

function serverOf(cluster: ConfigNode): string {
  const field = cluster.child('server');
  const url = URL.canParse(field.string()) ? new URL(field.string()) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw field.error(`not an http or https URL: ${field.string()}`);
  }
  return field.string().replace(/\/+$/, '');
}

/** The URL may hold a password: it is in no message. */
function tunnelOf(cluster: ConfigNode, server: string): Tunnel | undefined {
  const field = cluster.child('proxy-url');
  const text = field.optionalString();
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw field.error('not an http or https URL: other proxies, such as socks5, are not supported');
  }
  if (!server.startsWith('https:')) throw field.error('only an https server is reached through a proxy');
  return tunnelThrough(url);
}

function trustOf(cluster: ConfigNode, clock: Clock, files: FileReader): Source<Tls> {
  const ca = pem(cluster, 'certificate-authority', clock, files);
  const insecure = cluster.child('insecure-skip-tls-verify').optionalBoolean() ?? false;
  const servername = cluster.child('tls-server-name').optionalString();
  if (insecure && ca !== undefined) {
    throw cluster.child('insecure-skip-tls-verify').error('may not be true beside a certificate authority');
  }
  return {
    async read() {
      return {
        ...(ca === undefined ? {} : { ca: await ca.read() }),
        ...(servername === undefined ? {} : { servername }),
        ...(insecure ? { insecure } : {}),
      };
    },
    invalidate: () => ca?.invalidate(),
  };
}

const refused: Readonly<Record<string, string>> = {
  username: 'basic authentication is not supported by Kubernetes since 1.19: use a token, a client certificate or exec',
  password: 'basic authentication is not supported by Kubernetes since 1.19: use a token, a client certificate or exec',
  'auth-provider': 'auth providers were removed from Kubernetes in 1.26: use exec',
};

/** Undefined where nobody is named. */
function impersonationOf(user: ConfigNode): Impersonation | undefined {
  const name = user.child('as').optionalString();
  const uid = user.child('as-uid').optionalString();
  const groups = user.child('as-groups').strings();
  const extra = user.child('as-user-extra').entries();
  if (name === undefined) {
    const without = ['as-uid', 'as-groups', 'as-user-extra'].find((field) => user.child(field).isSet);
    if (without !== undefined) throw user.child(without).error('takes effect only beside as, which names the user');
    return undefined;
  }
  return {
    'impersonate-user': name,
    ...(uid === undefined ? {} : { 'impersonate-uid': uid }),
    ...(groups.length === 0 ? {} : { 'impersonate-group': groups }),
    ...Object.fromEntries(extra.map(([key, values]) => [extraHeader(key), values.strings()])),
  };
}

/** A key may have any letters, and a header's name may not. The API server decodes it. */
const extraHeader = (key: string): string => `impersonate-extra-${encodeURIComponent(key).toLowerCase()}`;

function proofOf(
  user: ConfigNode,
  cluster: ConfigNode,
  server: string,
  options: KubeconfigOptions,
  files: FileReader,
): Source<Identity> {
  const { clock } = options;
  for (const [field, why] of Object.entries(refused)) user.child(field).refuse(why);
  const impersonation = impersonationOf(user);
  const cert = pem(user, 'client-certificate', clock, files);
  const key = pem(user, 'client-key', clock, files);
  if ((cert === undefined) !== (key === undefined)) throw user.error('a client certificate and its key go together');
  const tokenFile = user.child('tokenFile').optionalString();
  const inline = user.child('token').optionalString();
  const token: FileText | undefined =
    tokenFile === undefined
      ? inline === undefined
        ? undefined
        : fixedText(inline)
      : fileText(beside(user.file, tokenFile), clock, files);
  const exec = user.child('exec').isSet ? execOf(user.child('exec'), cluster, server, options) : undefined;

  return {
    async read() {
      const issued = (await exec?.credential()) ?? {};
      const bearer = issued.token ?? (await token?.read())?.trim();
      const pair =
        issued.cert !== undefined && issued.key !== undefined
          ? { cert: issued.cert, key: issued.key }
          : cert !== undefined && key !== undefined
            ? { cert: await cert.read(), key: await key.read() }
            : {};
      return {
        tls: pair,
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        ...(impersonation === undefined ? {} : { impersonation }),
      };
    },
    invalidate() {
      for (const source of [cert, key, token, exec]) source?.invalidate();
    },
  };
}

function execOf(exec: ConfigNode, cluster: ConfigNode, server: string, options: KubeconfigOptions): ExecPlugin {
  const apiVersion = exec.child('apiVersion').string();
  if (!/^client\.authentication\.k8s\.io\/v1(beta1)?$/.test(apiVersion)) {
    throw exec
      .child('apiVersion')
      .error(`${apiVersion} is not supported: only client.authentication.k8s.io/v1 and v1beta1`);
  }
  if (exec.child('interactiveMode').optionalString() === 'Always') {
    throw exec.child('interactiveMode').error('commands that must ask at a terminal are not supported');
  }
  const command = exec.child('command').string();
  const hasPath = command.includes('/') || command.includes('\\');
  const provide = exec.child('provideClusterInfo').optionalBoolean() === true;
  const spec = {
    apiVersion,
    command: hasPath ? beside(exec.file, command) : command,
    args: exec.child('args').strings(),
    env: Object.fromEntries(
      exec
        .child('env')
        .items()
        .map((item) => [item.child('name').string(), item.child('value').string()]),
    ),
    installHint: exec.child('installHint').optionalString(),
    cluster: provide
      ? {
          server,
          'certificate-authority-data': cluster.child('certificate-authority-data').optionalString(),
          'tls-server-name': cluster.child('tls-server-name').optionalString(),
          'insecure-skip-tls-verify': cluster.child('insecure-skip-tls-verify').optionalBoolean(),
        }
      : undefined,
  };
  return createExecPlugin(spec, exec.place, options.clock, options.runCommand);
}

/** A PEM text given as base64 (`<field>-data`, which counts first) or as a file. */
function pem(node: ConfigNode, field: string, clock: Clock, files: FileReader): FileText | undefined {
  const data = node.child(`${field}-data`);
  const encoded = data.optionalString();
  if (encoded !== undefined) {
    if (!/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(encoded)) throw data.error('not base64');
    const text = Buffer.from(encoded, 'base64').toString('utf8');
    if (!text.includes('-----BEGIN')) throw data.error('the decoded text is not PEM');
    return fixedText(text);
  }
  const file = node.child(field).optionalString();
  return file === undefined ? undefined : fileText(beside(node.file, file), clock, files);
}

function fixedText(text: string): FileText {
  return { read: () => Promise.resolve(text), invalidate: () => undefined };
}

function beside(file: string, path: string): string {
  return isAbsolute(path) ? path : resolve(dirname(file), path);
}
