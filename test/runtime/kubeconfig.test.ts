import { describe, expect, it } from 'vitest';
import { type FileReader, fileText } from '../../src/runtime/credentials.ts';
import type { RunCommand } from '../../src/runtime/execplugin.ts';
import { inClusterCredentials, inClusterNamespace } from '../../src/runtime/incluster.ts';
import { loadKubeconfig } from '../../src/runtime/kubeconfig.ts';
import * as pem from '../support/tls.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Files in memory that change their version when they are written. */
class Files implements FileReader {
  readonly #files = new Map<string, { text: string; version: number }>();
  reads = 0;

  constructor(files: Readonly<Record<string, string>> = {}) {
    for (const [path, text] of Object.entries(files)) this.write(path, text);
  }

  write(path: string, text: string): void {
    this.#files.set(path, { text, version: (this.#files.get(path)?.version ?? 0) + 1 });
  }

  remove(path: string): void {
    this.#files.delete(path);
  }

  async readText(path: string): Promise<string> {
    this.reads++;
    return this.#find(path).text;
  }

  async version(path: string): Promise<string> {
    return String(this.#find(path).version);
  }

  #find(path: string): { readonly text: string; readonly version: number } {
    const found = this.#files.get(path);
    if (found === undefined) throw Object.assign(new Error(`no such file: ${path}`), { code: 'ENOENT' });
    return found;
  }
}

const clusterOf = (name: string, fields: object = {}) => ({
  name,
  cluster: { server: `https://${name}:6443`, ...fields },
});
const userOf = (name: string, user: object) => ({ name, user });
const contextOf = (name: string, cluster: string, user: string, more: object = {}) => ({
  name,
  context: { cluster, user, ...more },
});

/** JSON is YAML. */
const config = (fields: object): string => JSON.stringify({ apiVersion: 'v1', kind: 'Config', ...fields });

const simple = (user: object, cluster: object = {}, more: object = {}): string =>
  config({
    'current-context': 'c',
    contexts: [contextOf('c', 'k', 'u')],
    clusters: [clusterOf('k', cluster)],
    users: [userOf('u', user)],
    ...more,
  });

const at = '/home/me/.kube/config';
const env = { HOME: '/home/me' };
const load = (files: Files | string, options: object = {}) =>
  loadKubeconfig({
    env,
    clock: new VirtualClock(),
    files: typeof files === 'string' ? new Files({ [at]: files }) : files,
    ...options,
  });

describe('a kubeconfig', () => {
  it('written as YAML, with everything inline', async () => {
    const loaded = await load(`
apiVersion: v1
kind: Config
current-context: dev
contexts:
- name: dev
  context: {cluster: k, user: u, namespace: apps}
clusters:
- name: k
  cluster:
    server: https://10.0.0.1:6443/
    certificate-authority-data: ${base64(pem.caCertificate)}
    tls-server-name: kubernetes
users:
- name: u
  user:
    client-certificate-data: ${base64(pem.clientCertificate)}
    client-key-data: ${base64(pem.clientKey)}
    token: abc
`);
    expect(loaded).toMatchObject({ context: 'dev', cluster: 'k', namespace: 'apps' });
    expect(loaded.credentials.server).toBe('https://10.0.0.1:6443');
    expect(await loaded.credentials.identity()).toEqual({
      tls: { ca: pem.caCertificate, servername: 'kubernetes', cert: pem.clientCertificate, key: pem.clientKey },
      authorization: 'Bearer abc',
    });
  });

  it('with files beside it, which are read again when they change', async () => {
    const clock = new VirtualClock();
    const files = new Files({
      [at]: simple({ tokenFile: 'token', token: 'ignored' }, { 'certificate-authority': '../ca.crt' }),
      '/home/me/.kube/token': 'first\n',
      '/home/me/ca.crt': pem.caCertificate,
    });
    const { credentials } = await load(files, { clock });
    expect(await credentials.identity()).toEqual({ tls: { ca: pem.caCertificate }, authorization: 'Bearer first' });
    files.write('/home/me/.kube/token', 'second');
    expect((await credentials.identity()).authorization).toBe('Bearer first');
    await clock.advance(1000);
    expect((await credentials.identity()).authorization).toBe('Bearer second');
    files.write('/home/me/.kube/token', 'third');
    credentials.invalidate();
    expect((await credentials.identity()).authorization).toBe('Bearer third');
  });

  it('without TLS verification, or without a user', async () => {
    const insecure = await load(simple({}, { 'insecure-skip-tls-verify': true }));
    expect(await insecure.credentials.identity()).toEqual({ tls: { insecure: true } });
    const anonymous = await load(simple({}, {}, { contexts: [{ name: 'c', context: { cluster: 'k' } }], users: null }));
    expect(await anonymous.credentials.identity()).toEqual({ tls: {} });
  });
});

describe('several kubeconfigs', () => {
  const files = new Files({
    '/a': config({
      contexts: [contextOf('one', 'k', 'u')],
      clusters: [clusterOf('k', { server: 'https://from-a' })],
      users: [userOf('u', { token: 'from-a' })],
    }),
    '/b': config({
      'current-context': 'two',
      contexts: [contextOf('two', 'k', 'u'), contextOf('one', 'other', 'other')],
      clusters: [clusterOf('k', { server: 'https://from-b' })],
      users: [userOf('u', { tokenFile: '/token' })],
    }),
  });
  const both = { env: { KUBECONFIG: '/a:/missing::/b' } };

  it('are one, in which the first entry of a name counts, whole', async () => {
    const { context, credentials } = await load(files, both);
    expect([context, credentials.server]).toEqual(['two', 'https://from-a']);
    expect((await credentials.identity()).authorization).toBe('Bearer from-a');
  });

  it('let a context be chosen', async () => {
    expect(await load(files, { ...both, context: 'one' })).toMatchObject({ context: 'one', cluster: 'k' });
  });

  it('may all be missing, which is an error, as is one that was named', async () => {
    await expect(load(new Files(), both)).rejects.toThrow('/a:/missing:/b: none of these files exists');
    await expect(load(files, { ...both, path: '/c' })).rejects.toThrow('/c: cannot be read: no such file');
    await expect(load(new Files())).rejects.toThrow(`${at}: cannot be read (KUBECONFIG is not set)`);
  });
});

describe('what is refused, and where', () => {
  const basic = 'basic authentication is not supported';
  const v1 = 'client.authentication.k8s.io/v1';
  const exec = (fields: object) => simple({ exec: { apiVersion: v1, command: 'login', ...fields } });
  it.each([
    ['not YAML', 'a: [', `${at}:1: not valid YAML`],
    ['no mapping', '- a', `${at}: not a mapping`],
    [
      'no current context',
      config({ contexts: [contextOf('x', 'k', 'u')] }),
      `${at}: current-context is not set; contexts are: x`,
    ],
    ['an unknown context', config({ 'current-context': 'y' }), `${at}: there is no context y; contexts are: none`],
    [
      'an unknown cluster',
      simple({}, {}, { clusters: [] }),
      `${at}: contexts[0].context.cluster: there is no cluster k`,
    ],
    ['an unknown user', simple({}, {}, { users: [] }), `${at}: contexts[0].context.user: there is no user u`],
    [
      'two entries of a name',
      simple({}, {}, { users: [userOf('u', {}), userOf('u', {})] }),
      `${at}: users[1].name: there is another entry of the name u`,
    ],
    ['an entry without a name', simple({}, {}, { users: [{}] }), `${at}: users[0].name: is missing`],
    ['no server', simple({}, { server: '' }), `${at}: clusters[0].cluster.server: is missing`],
    [
      'a server that is no URL',
      simple({}, { server: 'kubernetes' }),
      `${at}: clusters[0].cluster.server: not an http or https URL: kubernetes`,
    ],
    [
      'data that is not base64',
      simple({}, { 'certificate-authority-data': '%' }),
      `${at}: clusters[0].cluster.certificate-authority-data: not base64`,
    ],
    ['data that is not PEM', simple({}, { 'certificate-authority-data': base64('x') }), 'the decoded text is not PEM'],
    [
      'an authority that is not used',
      simple({}, { 'certificate-authority-data': base64(pem.caCertificate), 'insecure-skip-tls-verify': true }),
      `${at}: clusters[0].cluster.insecure-skip-tls-verify: may not be true`,
    ],
    [
      'a string where a boolean belongs',
      simple({}, { 'insecure-skip-tls-verify': 'yes' }),
      'insecure-skip-tls-verify: neither true nor false',
    ],
    [
      'a number where a string belongs',
      simple({ token: 123 }),
      `${at}: users[0].user.token: not a string but a number: put it in quotes`,
    ],
    [
      'a certificate without a key',
      simple({ 'client-certificate': 'x' }),
      `${at}: users[0].user: a client certificate and its key go together`,
    ],
    ['a password', simple({ password: 'hunter2' }), `${at}: users[0].user.password: ${basic}`],
    ['a user name', simple({ username: 'me' }), `${at}: users[0].user.username: ${basic}`],
    [
      'an auth provider',
      simple({ 'auth-provider': { name: 'gcp' } }),
      `${at}: users[0].user.auth-provider: auth providers were removed`,
    ],
    [
      'an old exec API',
      exec({ apiVersion: 'client.authentication.k8s.io/v1alpha1' }),
      `${at}: users[0].user.exec.apiVersion:`,
    ],
    ['exec without a command', exec({ command: null }), `${at}: users[0].user.exec.command: is missing`],
    ['exec at a terminal', exec({ interactiveMode: 'Always' }), `${at}: users[0].user.exec.interactiveMode:`],
    ['exec arguments that are no list', exec({ args: 'x' }), `${at}: users[0].user.exec.args: not a list`],
  ])('%s', async (_name, text, message) => {
    const error = await load(text).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'CredentialsError', message: expect.stringContaining(message) });
    expect((error as Error).message).not.toMatch(/hunter2|123/);
  });
});

describe('an exec plugin', () => {
  const apiVersion = 'client.authentication.k8s.io/v1';
  const credential = (status: object, more: object = {}): string =>
    JSON.stringify({ apiVersion, kind: 'ExecCredential', status, ...more });

  async function plugin(exec: object, answers: (string | Error)[]) {
    const calls: { command: string; args: readonly string[]; env: Readonly<Record<string, string>> }[] = [];
    const runCommand: RunCommand = async (command, args, env) => {
      calls.push({ command, args, env });
      const answer = answers[Math.min(calls.length, answers.length) - 1] ?? '';
      if (answer instanceof Error) throw answer;
      return answer;
    };
    const clock = new VirtualClock();
    const { credentials } = await load(simple({ exec: { apiVersion, command: 'login', ...exec } }), {
      clock,
      runCommand,
    });
    return { calls, clock, credentials };
  }

  it('is told what the kubeconfig says, and gives a token or a certificate', async () => {
    const { calls, credentials } = await plugin(
      { args: ['get', '--x'], env: [{ name: 'A', value: 'b' }], provideClusterInfo: true, command: './bin/login' },
      [credential({ token: 't', clientCertificateData: 'CERT', clientKeyData: 'KEY' })],
    );
    expect(await credentials.identity()).toEqual({ tls: { cert: 'CERT', key: 'KEY' }, authorization: 'Bearer t' });
    expect(calls[0]).toMatchObject({ command: '/home/me/.kube/bin/login', args: ['get', '--x'], env: { A: 'b' } });
    expect(JSON.parse(calls[0]?.env.KUBERNETES_EXEC_INFO ?? '')).toEqual({
      apiVersion,
      kind: 'ExecCredential',
      spec: { interactive: false, cluster: { server: 'https://k:6443' } },
    });
  });

  it('runs once for many requests, again shortly before the credential expires, and again after a 401', async () => {
    const clock = new VirtualClock();
    const expiresIn = (ms: number) => new Date(clock.now() + ms).toISOString();
    const answers = [
      credential({ token: 'one', expirationTimestamp: expiresIn(60_000) }),
      credential({ token: 'two' }),
    ];
    const p = await plugin({}, [...answers, credential({ token: 'three' })]);
    const tokens = async () => (await p.credentials.identity()).authorization;
    expect(await Promise.all([tokens(), tokens(), tokens()])).toEqual(['Bearer one', 'Bearer one', 'Bearer one']);
    await p.clock.advance(49_000);
    expect([await tokens(), p.calls.length]).toEqual(['Bearer one', 1]);
    await p.clock.advance(1000);
    expect([await tokens(), p.calls.length]).toEqual(['Bearer two', 2]);
    await p.clock.advance(1_000_000_000);
    expect([await tokens(), p.calls.length]).toEqual(['Bearer two', 2]);
    p.credentials.invalidate();
    expect([await tokens(), p.calls.length]).toEqual(['Bearer three', 3]);
  });

  const failed = (fields: object): Error => Object.assign(new Error('failed'), fields);
  it.each([
    [
      'is not installed',
      failed({ code: 'ENOENT' }),
      'the command login failed: it is not installed. Get it at example.org',
    ],
    [
      'fails',
      failed({ code: 3, stderr: 'noise\nnot logged in\n' }),
      'the command login failed: exit code 3: not logged in',
    ],
    ['prints no JSON', 'token: abc123', 'it is not JSON'],
    ['prints something else', '{"kind":"Token"}', 'its kind is not ExecCredential'],
    [
      'speaks another version',
      credential({ token: 'abc123' }, { apiVersion: 'v2' }),
      'its apiVersion is v2, the kubeconfig says',
    ],
    ['gives nothing', credential({}), 'neither a token nor a client certificate'],
    [
      'gives half a certificate',
      credential({ clientKeyData: 'abc123' }),
      'a client certificate or a key, but not both',
    ],
    ['gives no date', credential({ token: 'abc123', expirationTimestamp: 'soon' }), 'not a date: soon'],
  ])('that %s: the error says where, and shows no credential', async (_name, answer, message) => {
    const { credentials } = await plugin({ installHint: 'Get it at example.org' }, [answer]);
    const error = (await credentials.identity().catch((caught: unknown) => caught)) as Error;
    expect(error.message).toContain(`${at}: users[0].user.exec: `);
    expect(error.message).toContain(message);
    expect(error.message).not.toContain('abc123');
  });

  it('of flesh and blood', async () => {
    const script = `echo '{"kind":"ExecCredential","apiVersion":"${apiVersion}","status":{"token":"'$WHO'"}}'`;
    const exec = { apiVersion, command: 'sh', args: ['-c', script], env: [{ name: 'WHO', value: 'me' }] };
    expect((await (await load(simple({ exec }))).credentials.identity()).authorization).toBe('Bearer me');
    const broken = { ...exec, args: ['-c', 'echo why >&2; exit 4'] };
    await expect((await load(simple({ exec: broken }))).credentials.identity()).rejects.toThrow('exit code 4: why');
  });
});

describe('in a pod', () => {
  const directory = '/sa';
  const mounted = () => new Files({ '/sa/token': 'one\n', '/sa/ca.crt': 'CA', '/sa/namespace': 'ops\n' });
  const podEnv = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };

  it('the service account is used, and its token read again when the kubelet replaces it', async () => {
    const [clock, files] = [new VirtualClock(), mounted()];
    const credentials = inClusterCredentials({ env: podEnv, clock, directory, files });
    expect(credentials.server).toBe('https://[fd00::1]:443');
    expect(await credentials.identity()).toEqual({ tls: { ca: 'CA' }, authorization: 'Bearer one' });
    for (let i = 0; i < 100; i++) await credentials.identity();
    expect(files.reads).toBe(2);
    files.write('/sa/token', 'two');
    files.write('/sa/ca.crt', 'NEW CA');
    await clock.advance(1000);
    expect(await credentials.identity()).toEqual({ tls: { ca: 'NEW CA' }, authorization: 'Bearer two' });
    expect(await inClusterNamespace({ clock, directory, files })).toBe('ops');
  });

  it('a file that vanishes for a moment is no failure, unless its content was refused', async () => {
    const [clock, files] = [new VirtualClock(), mounted()];
    const token = fileText('/sa/token', clock, files);
    expect(await token.read()).toBe('one\n');
    files.remove('/sa/token');
    await clock.advance(5000);
    expect(await token.read()).toBe('one\n');
    token.invalidate();
    await expect(token.read()).rejects.toThrow('/sa/token: cannot be read: no such file');
  });

  it('elsewhere it is an error', () => {
    expect(() => inClusterCredentials({ env: {}, clock: new VirtualClock() })).toThrow('not in a pod');
  });
});
