/** The API server behind an HTTP proxy, and requests on somebody else's behalf: what a kubeconfig may ask for. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadKubeconfig } from '../../src/runtime/kubeconfig.ts';
import { createTransport, userAgent } from '../../src/runtime/undici-transport.ts';
import { systemClock } from '../../src/system/clock.ts';
import { openProxy } from '../support/http-proxy.ts';
import { MisbehavingServer } from '../support/misbehaving-server.ts';
import * as pem from '../support/tls.ts';

const get = { method: 'GET', path: '/version' } as const;

async function serve(): Promise<MisbehavingServer> {
  const server = await new MisbehavingServer(undefined, { key: pem.serverKey, cert: pem.serverCertificate }).start();
  onTestFinished(() => server.stop());
  server.behaviour.other = (_request, response) => response.end('{}');
  return server;
}

async function proxy(login?: string) {
  const opened = await openProxy(login);
  onTestFinished(() => opened.close());
  return opened;
}

const configured = (cluster: object, user: object = {}): string =>
  JSON.stringify({
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
    clusters: [{ name: 'k', cluster }],
    users: [{ name: 'u', user }],
  });

async function credentialsOf(text: string) {
  const files = { readText: () => Promise.resolve(text), version: () => Promise.resolve('1') };
  return (await loadKubeconfig({ env: { HOME: '/home/me' }, clock: systemClock, files })).credentials;
}

async function transportOf(text: string) {
  const credentials = await credentialsOf(text);
  const transport = createTransport({ credentials, userAgent: userAgent('1.2.3', 'test'), clock: systemClock });
  onTestFinished(() => transport.close());
  return transport;
}

const trusted = { 'certificate-authority-data': Buffer.from(pem.caCertificate).toString('base64') };

describe('a proxy', () => {
  it('is asked for the server, and calls and streams go through it', async () => {
    const [server, between] = [await serve(), await proxy()];
    const transport = await transportOf(configured({ server: server.url, ...trusted, 'proxy-url': between.url }));
    expect((await transport.request(get)).status).toBe(200);
    for await (const _ of (await transport.stream(get)).body);
    const { host } = new URL(server.url);
    expect(between.asked).toEqual([host, host]);
  });

  it('is given the password of its URL', async () => {
    const [server, between] = [await serve(), await proxy('me:p ss')];
    const url = between.url.replace('//', '//me:p%20ss@');
    const transport = await transportOf(configured({ server: server.url, ...trusted, 'proxy-url': url }));
    expect((await transport.request(get)).status).toBe(200);
  });

  it('that refuses is named without its password, and nothing was sent', async () => {
    const [server, between] = [await serve(), await proxy('me:right')];
    const url = between.url.replace('//', '//me:wrong@');
    const transport = await transportOf(configured({ server: server.url, ...trusted, 'proxy-url': url }));
    const failure = await transport.request({ ...get, method: 'POST', body: '{}' }).catch((error: Error) => error);
    expect(failure).toMatchObject({ code: 'ApiUnreachable', maybeSent: false });
    expect(String((failure as Error).message)).toContain(
      `the proxy ${new URL(between.url).host} answered 407 to CONNECT ${new URL(server.url).host}`,
    );
    expect(String((failure as Error).message)).not.toContain('wrong');
    expect(server.requests).toEqual([]);
  });

  it('is no reason to trust a server by another authority', async () => {
    const [server, between] = [await serve(), await proxy()];
    const transport = await transportOf(configured({ server: server.url, 'proxy-url': between.url }));
    await expect(transport.request(get)).rejects.toMatchObject({ code: 'ApiUnreachable', maybeSent: false });
    expect(server.requests).toEqual([]);
  });

  it.each([
    ['socks5://p:1080', 'https://k', 'not an http or https URL: other proxies, such as socks5, are not supported'],
    ['http://me:secret@p', 'http://k', 'only an https server is reached through a proxy'],
  ])('%s of %s is refused', async (url, server, why) => {
    const loaded = credentialsOf(configured({ server, 'proxy-url': url }));
    await expect(loaded).rejects.toThrow(`/home/me/.kube/config: clusters[0].cluster.proxy-url: ${why}`);
    await expect(loaded).rejects.not.toThrow('secret');
  });
});

describe('impersonation', () => {
  const user = {
    token: 't',
    as: 'system:serviceaccount:apps:deployer',
    'as-uid': '42',
    'as-groups': ['one', 'two'],
    'as-user-extra': { 'Example.com/scopes': ['view', 'edit'] },
  };

  it('is in the headers of each request, each group in one of its own', async () => {
    const server = await serve();
    const seen: string[][] = [];
    server.behaviour.other = (_request, response) => {
      seen.push(response.req.rawHeaders);
      response.end('{}');
    };
    const transport = await transportOf(configured({ server: server.url, ...trusted }, user));
    await transport.request(get);
    const [raw = []] = seen;
    const headers = raw.flatMap((name, i) => (i % 2 === 0 ? [`${name.toLowerCase()}: ${raw[i + 1]}`] : []));
    expect(headers).toEqual(
      expect.arrayContaining([
        'authorization: Bearer t',
        'impersonate-user: system:serviceaccount:apps:deployer',
        'impersonate-uid: 42',
        'impersonate-group: one',
        'impersonate-group: two',
        'impersonate-extra-example.com%2fscopes: view',
        'impersonate-extra-example.com%2fscopes: edit',
      ]),
    );
  });

  it('of nobody is refused', async () => {
    const loaded = credentialsOf(configured({ server: 'https://k' }, { 'as-groups': ['system:masters'] }));
    await expect(loaded).rejects.toThrow('users[0].user.as-groups: takes effect only beside as');
  });
});
