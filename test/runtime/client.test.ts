import { describe, expect, it, onTestFinished } from 'vitest';
import type { KubeObject, Resource } from '../../src/api/object.ts';
import { configMaps, pods } from '../../src/api/resource.ts';
import { ApiError, ApiUnreachable } from '../../src/runtime/api-error.ts';
import { type ClientOptions, createClient, type KubeClient } from '../../src/runtime/client.ts';
import { fixedCredentials } from '../../src/runtime/credentials.ts';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { createTransport } from '../../src/runtime/undici-transport.ts';
import { systemClock } from '../../src/system/clock.ts';
import { eventually } from '../support/eventually.ts';
import { MisbehavingServer, statusBody } from '../support/misbehaving-server.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const object: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a b', namespace: 'x', resourceVersion: '7' },
};
const ref = { resource: configMaps, namespace: 'x', name: 'a b' };
const exact = { ...ref, uid: 'u' };

async function connect(options: Partial<ClientOptions> = {}) {
  const server = await new MisbehavingServer().start();
  const clock = new VirtualClock();
  const transport = createTransport({
    credentials: fixedCredentials(server.url, { tls: {}, authorization: 'Bearer t' }),
    userAgent: 'clusterwright/1.0.0 (test)',
    clock: systemClock,
  });
  onTestFinished(async () => {
    await transport.close();
    await server.stop();
  });
  const answers = (body: object, headers: Record<string, string> = {}): void => {
    server.behaviour.other = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', ...headers });
      response.end(JSON.stringify(body));
    };
  };
  answers(object);
  return { server, clock, answers, client: createClient({ transport, clock, random: () => 0.5, ...options }) };
}

/** The error with which a call fails in the end, all its delays having passed. */
async function afterAllDelays(clock: VirtualClock, call: Promise<unknown>): Promise<unknown> {
  let failure: { readonly error: unknown } | undefined;
  call.catch((error: unknown) => {
    failure = { error };
  });
  while (failure === undefined) await clock.advance(1000);
  return failure.error;
}

describe('requests', () => {
  const one = '/api/v1/namespaces/x/configmaps/a%20b';
  const collection = '/api/v1/namespaces/x/configmaps';
  const manager = { fieldManager: 'clusterwright' };
  const stories: [string, (client: KubeClient) => Promise<unknown>, object][] = [
    ['get', (c) => c.get(ref), { method: 'GET', path: one, query: {} }],
    [
      'create',
      (c) => c.create(object, { fieldValidation: 'Strict' }),
      { method: 'POST', path: collection, query: { ...manager, fieldValidation: 'Strict' }, type: 'application/json' },
    ],
    [
      'apply',
      (c) => c.apply(object, { force: true, dryRun: true }),
      {
        method: 'PATCH',
        path: one,
        query: { ...manager, force: 'true', dryRun: 'All' },
        type: 'application/apply-patch+yaml',
        body: object,
      },
    ],
    [
      'applyStatus',
      (c) => c.applyStatus(object, { fieldManager: 'other' }),
      { path: `${one}/status`, query: { fieldManager: 'other' }, type: 'application/apply-patch+yaml' },
    ],
    [
      'mergePatch',
      (c) => c.mergePatch(ref, { data: null }),
      { method: 'PATCH', path: one, query: manager, type: 'application/merge-patch+json', body: { data: null } },
    ],
    [
      'a dry run of mergePatch',
      (c) => c.mergePatch(ref, { data: null }, { dryRun: true }),
      { method: 'PATCH', path: one, query: { ...manager, dryRun: 'All' } },
    ],
    [
      'replaceStatus',
      (c) => c.replaceStatus(exact, { ready: true }),
      {
        path: `${one}/status`,
        type: 'application/json-patch+json',
        body: [
          { op: 'test', path: '/metadata/uid', value: 'u' },
          { op: 'add', path: '/status', value: { ready: true } },
        ],
      },
    ],
    [
      'jsonPatch',
      (c) => c.jsonPatch(ref, [{ op: 'remove', path: '/data' }]),
      { path: one, type: 'application/json-patch+json', body: [{ op: 'remove', path: '/data' }] },
    ],
    ['replace', (c) => c.replace(object), { method: 'PUT', path: one, query: manager, body: object }],
    [
      'remove',
      (c) => c.remove(exact, { propagation: 'Foreground' }),
      {
        method: 'DELETE',
        path: one,
        body: {
          apiVersion: 'v1',
          kind: 'DeleteOptions',
          preconditions: { uid: 'u' },
          propagationPolicy: 'Foreground',
        },
      },
    ],
    [
      'list',
      (c) => c.list(pods, { labelSelector: 'a=b,c', fieldSelector: 'spec.nodeName=n', limit: 5 }),
      { path: '/api/v1/pods', query: { labelSelector: 'a=b,c', fieldSelector: 'spec.nodeName=n', limit: '5' } },
    ],
    ['getText', (c) => c.getText('/version'), { method: 'GET', path: '/version' }],
  ];

  it.each(stories)('%s', async (_name, call, expected) => {
    const { server, client } = await connect();
    await call(client);
    const [{ headers, body, ...seen } = { headers: {}, body: '' }] = server.requests;
    const found = { ...seen, type: headers['content-type'], body: body === '' ? undefined : JSON.parse(body) };
    expect(found).toMatchObject(expected);
    expect(headers).toMatchObject({ 'user-agent': 'clusterwright/1.0.0 (test)', authorization: 'Bearer t' });
  });

  it('of custom resources are built from the resource that the caller gives', async () => {
    const redis: Resource = {
      group: 'clusterwright.dev',
      version: 'v1alpha1',
      kind: 'RedisCluster',
      plural: 'redisclusters',
      namespaced: true,
    };
    const { server, client } = await connect({ resourceOf: () => redis });
    await client.apply({ ...object, apiVersion: 'clusterwright.dev/v1alpha1', kind: 'RedisCluster' });
    expect(server.requests[0]?.path).toBe('/apis/clusterwright.dev/v1alpha1/namespaces/x/redisclusters/a%20b');
  });

  it.each([
    ['a namespace', (c: KubeClient) => c.get({ resource: configMaps, name: 'a' }), 'ConfigMap/a needs a namespace'],
    ['a name', (c: KubeClient) => c.get({ ...ref, name: '' }), 'a ConfigMap without a name'],
    [
      'a resourceVersion',
      (c: KubeClient) => c.replace({ ...object, metadata: { name: 'a', namespace: 'x' } }),
      'needs the resourceVersion',
    ],
  ])('that lack %s are not sent', async (_name, call, message) => {
    const { server, client } = await connect();
    await expect(call(client)).rejects.toThrow(message);
    expect(server.requests).toEqual([]);
  });

  it('share one connection when they follow each other, and use several at once when they do not', async () => {
    const { server, client } = await connect();
    for (let i = 0; i < 20; i++) await client.get(ref);
    expect(server.connections).toBeLessThanOrEqual(3);
    await Promise.all(Array.from({ length: 100 }, () => client.get(ref)));
    expect(server.connections).toBeGreaterThan(1);
    expect(server.connections).toBeLessThanOrEqual(16);
  });

  it('pass on what the server warns of', async () => {
    const warnings: string[] = [];
    const { client, answers } = await connect({ onWarning: (text) => warnings.push(text) });
    answers(object, { warning: '299 - "unknown field \\"spec.x\\"", 299 - "deprecated"' });
    await client.apply(object);
    expect(warnings).toEqual(['unknown field "spec.x"', 'deprecated']);
  });

  it('are counted by verb, resource and code', async () => {
    const metrics = createMetrics();
    const { client, server } = await connect({ metrics });
    await client.get(ref);
    server.fault({ at: 'other', status: 404 });
    await client.get(ref).catch(() => undefined);
    const text = await metrics.text();
    expect(text).toContain('clusterwright_api_requests_total{verb="get",resource="configmaps",code="200"} 1');
    expect(text).toContain('clusterwright_api_requests_total{verb="get",resource="configmaps",code="404"} 1');
    expect(text).toContain('clusterwright_api_request_duration_seconds_count{verb="get",resource="configmaps"} 2');
  });
});

describe('a removal', () => {
  const otherUid = [
    'Precondition failed: UID in precondition: u, UID in object meta: v',
    'Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (u) does not match the UID in record (v). The object might have been deleted and then recreated',
  ];
  it.each([
    ['of an object that is gone at once', 200, { kind: 'Status', status: 'Success' }, 'deleted'],
    ['of an object that is returned as it was', 200, object, 'deleted'],
    [
      'of an object with a grace period',
      200,
      { ...object, metadata: { ...object.metadata, deletionTimestamp: 'now' } },
      'terminating',
    ],
    ['of an object that was gone', 404, JSON.parse(statusBody(404, {})), 'absent'],
    ...otherUid.map((message): [string, number, object, string] => [
      `of an object whose name is taken by another (${message.slice(0, 12)}...)`,
      409,
      JSON.parse(statusBody(409, { reason: 'Conflict', message })),
      'absent',
    ]),
  ])('%s', async (_name, status, body, outcome) => {
    const { client, server } = await connect();
    server.fault({ at: 'other', status, body: JSON.stringify(body) });
    expect((await client.remove(exact)).outcome).toBe(outcome);
  });

  it('that conflicts for another reason is an error', async () => {
    const { client, server } = await connect();
    server.fault({ at: 'other', status: 409, body: statusBody(409, { reason: 'Conflict', message: 'try again' }) });
    await expect(client.remove(exact)).rejects.toMatchObject({ code: 'ApiError', status: 409 });
  });

  it.each([
    [404, 'NotFound', 'no such approval'],
    [409, 'Conflict', 'the UID in the precondition is not approved'],
  ])('that a webhook denies with %i is an error: the object is still there', async (status, reason, why) => {
    const { client, server } = await connect();
    const message = `admission webhook "guard.example" denied the request: ${why}`;
    server.fault({ at: 'other', status, body: statusBody(status, { reason, message }) });
    await expect(client.remove(exact)).rejects.toMatchObject({ code: 'ApiError', status });
  });
});

describe('errors', () => {
  it('carry what the Status says', async () => {
    const { client, server } = await connect();
    const causes = [{ reason: 'FieldValueInvalid', field: 'spec.replicas', message: 'must be odd' }];
    server.fault({
      at: 'other',
      status: 422,
      body: statusBody(422, { reason: 'Invalid', message: 'it is invalid', details: { causes, retryAfterSeconds: 2 } }),
    });
    const error = await client.create(object).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 422, reason: 'Invalid', causes, retryAfterMs: 2000, method: 'POST' });
    expect((error as Error).message).toBe('POST /api/v1/namespaces/x/configmaps: 422 Invalid: it is invalid');
  });

  it('of a proxy are quoted', async () => {
    const { client, server } = await connect();
    server.fault({ at: 'other', status: 403, body: '<html>no</html>' });
    await expect(client.create(object)).rejects.toThrow('403 Forbidden: <html>no</html>');
  });

  it('an answer that is no JSON is an error', async () => {
    const { client, server } = await connect();
    server.fault({ at: 'other', status: 200, body: 'ok' });
    await expect(client.get(ref)).rejects.toMatchObject({ code: 'ApiError', reason: 'Unreadable' });
  });

  it('a connection that is refused was certainly not used', async () => {
    const { client, server, clock } = await connect();
    await server.stop();
    const failed = await afterAllDelays(clock, client.create(object));
    expect(failed).toBeInstanceOf(ApiUnreachable);
    expect(failed).toMatchObject({ maybeSent: false, method: 'POST' });
  });
});

describe('repetition', () => {
  const calls: Record<string, (client: KubeClient) => Promise<unknown>> = {
    get: (c) => c.get(ref),
    apply: (c) => c.apply(object),
    remove: (c) => c.remove(exact),
    create: (c) => c.create(object),
    mergePatch: (c) => c.mergePatch(ref, {}),
    replace: (c) => c.replace(object),
  };
  const names = ['get', 'apply', 'remove', 'create', 'mergePatch', 'replace'];
  const fault429 = { at: 'other', status: 429, headers: { 'retry-after': '2' } } as const;

  /** The delay before the second request, or `never`. */
  async function second(name: string, fault: Parameters<MisbehavingServer['fault']>[0]): Promise<number | 'never'> {
    const { client, server, clock } = await connect();
    server.fault(fault);
    let settled = false;
    const call = (calls[name] ?? calls.get)?.(client).then(
      () => {
        settled = true;
      },
      () => {
        settled = true;
      },
    );
    await eventually(() => settled || clock.pending.length === 1);
    if (settled) return 'never';
    const delay = clock.pending[0] ?? 0;
    await clock.advance(delay);
    await call;
    expect(server.requests.length).toBe(2);
    return delay;
  }

  const never = 'never' as const;
  const everywhere = (delay: number) => Object.fromEntries(names.map((name) => [name, delay]));
  const onlySafe = { get: 100, apply: 100, remove: 100, create: never, mergePatch: never, replace: never };
  const nowhere = Object.fromEntries(names.map((name) => [name, never]));
  it.each([
    ['429 with Retry-After: every call', fault429, everywhere(2500)],
    ['429 with a Retry-After beyond 30 s: none', { ...fault429, headers: { 'retry-after': '60' } }, nowhere],
    ['429 without: only what is safe', { at: 'other', status: 429 } as const, onlySafe],
    ['503: only what is safe', { at: 'other', status: 503 } as const, onlySafe],
    ['500: none', { at: 'other', status: 500 } as const, nowhere],
    ['409: none', { at: 'other', status: 409 } as const, nowhere],
    ['an answer that is lost: only what is safe', { at: 'other', drop: true } as const, onlySafe],
  ])('after %s', async (_name, fault, expected) => {
    const found = await Promise.all(names.map(async (name) => [name, await second(name, fault)]));
    expect(Object.fromEntries(found)).toEqual(expected);
  });

  it('ends after five attempts', async () => {
    const { client, server, clock } = await connect();
    server.fault({ at: 'other', status: 503 }, 9);
    expect(await afterAllDelays(clock, client.get(ref))).toMatchObject({ status: 503 });
    expect(server.requests.length).toBe(5);
  });

  it('stops when the caller aborts', async () => {
    const { client, server, clock } = await connect();
    server.fault({ at: 'other', status: 503 }, 9);
    const abort = new AbortController();
    const failed = client.get(ref, { signal: abort.signal }).catch((caught: unknown) => caught);
    await eventually(() => clock.pending.length === 1);
    abort.abort(new Error('enough'));
    expect(await failed).toMatchObject({ message: 'enough' });
    expect(clock.pending).toEqual([]);
  });
});
