/**
 * The API server as its clients see it: a request in, an answer out. Each takes one to three milliseconds, in which
 * others may come before; what it changes is done in one moment between its two ends.
 */
import type { KubeObject } from '../../../src/api/object.ts';
import { ApiUnreachable } from '../../../src/runtime/api-error.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../../src/runtime/transport.ts';
import { type Random, sleep } from '../../../src/system/clock.ts';
import type { VirtualTime } from '../world/time.ts';
import type { ByteStream } from './byte-stream.ts';
import { type Fields, fieldsIn, isFields } from './fields.ts';
import { checkReached, listText, versionOf } from './listing.ts';
import { type Authorship, applied, managedEntries } from './managed-fields.ts';
import { type JsonPatchStep, jsonPatched, mergePatched } from './merge.ts';
import { badRequest, invalid, modified, notFound, Refusal } from './refusal.ts';
import { type Registry, timestamp, type WriteContext } from './registry.ts';
import type { Location, Served, ServedResources } from './served.ts';
import { type Store, textOf } from './store.ts';
import { createWatching, errorFrame } from './watching.ts';

export interface ApiServer {
  transport(actor: string): Transport;
}

export interface ApiServerOptions {
  readonly served: ServedResources;
  readonly store: Store;
  readonly registry: Registry;
  readonly time: VirtualTime;
  readonly random: Random;
}

type Answer = TransportResponse<string>;
type Query = Readonly<Record<string, string>>;

const json = { 'content-type': 'application/json' };
const none: Query = {};

const ok = (text: string, status = 200): Answer => ({ status, headers: json, body: text });

/** What becomes of dependents where nobody says it: they go, apart from those of Jobs, as it once was for all. */
const silentPropagation: Readonly<Record<string, string>> = { Job: 'Orphan' };

export function createApiServer(options: ApiServerOptions): ApiServer {
  const { served, store, registry, time, random } = options;
  const watching = createWatching(options);

  /** Half of what a request takes. */
  const leg = (): number => 0.5 + random();

  function answer(actor: string, request: TransportRequest): Answer {
    try {
      const location = served.locate(request.path);
      if (location !== undefined) return answerAt(actor, location, request);
      if (request.path === '/version') return ok(JSON.stringify({ major: '1', minor: '35', gitVersion: 'v1.35.4' }));
      throw new Refusal(404, 'NotFound', 'the server could not find the requested resource');
    } catch (error) {
      if (error instanceof Refusal) return error.response;
      throw error;
    }
  }

  function answerAt(actor: string, location: Location, request: TransportRequest): Answer {
    const { name } = location;
    switch (request.method) {
      case 'GET':
        return name === undefined ? ok(listText(store, location, request.query ?? none)) : get(location, request);
      case 'POST':
        return post(actor, location, request);
      case 'PUT':
        return put(actor, existing(location), location, request);
      case 'PATCH':
        return patch(actor, location, request);
      case 'DELETE':
        return remove(actor, location, request);
      default:
        return request.method satisfies never;
    }
  }

  function found({ served, namespace, name = '' }: Location): KubeObject | undefined {
    return store.get(served.plural, served.resource.namespaced ? namespace : undefined, name);
  }

  function existing(location: Location): KubeObject {
    const object = found(location);
    if (object === undefined) throw notFound(location.served.plural, location.name ?? '');
    return object;
  }

  function get(location: Location, { query = none }: TransportRequest): Answer {
    const version = versionOf(query.resourceVersion);
    if (version !== undefined) checkReached(store, version);
    return ok(textOf(existing(location)));
  }

  function authorship({ served, subresource }: Location, query: Query, actor: string): Authorship {
    return {
      manager: query.fieldManager ?? actor,
      subresource,
      time: timestamp(time.now()),
      hasStatus: served.hasStatus,
      rule: served.rule,
    };
  }

  function contextOf(actor: string, location: Location, query: Query): WriteContext {
    const { served, subresource } = location;
    const isKnown =
      (subresource === 'status' && served.hasStatus) || (subresource === 'resize' && served.kind === 'Pod');
    if (subresource !== undefined && !isKnown) {
      throw new Refusal(404, 'NotFound', 'the server could not find the requested resource');
    }
    return {
      actor,
      by: authorship(location, query, actor),
      subresource,
      dryRun: query.dryRun === 'All',
      strict: query.fieldValidation === 'Strict',
    };
  }

  function bodyOf(request: TransportRequest): Fields {
    let body: unknown;
    try {
      body = JSON.parse(request.body ?? '');
    } catch (cause) {
      throw Object.assign(badRequest('the body is not JSON'), { cause });
    }
    if (!isFields(body) && !Array.isArray(body)) throw badRequest('the body is not an object');
    return body as Fields;
  }

  function objectIn(request: TransportRequest, { served, namespace, name }: Location): KubeObject {
    const body = bodyOf(request);
    const metadata = fieldsIn(body.metadata);
    if (body.apiVersion !== served.apiVersion || body.kind !== served.kind) {
      throw badRequest(
        `the object provided is unrecognized: ${body.apiVersion} ${body.kind} instead of ${served.apiVersion} ${served.kind}`,
      );
    }
    if (metadata.namespace !== undefined && metadata.namespace !== namespace) {
      throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
    }
    if (name !== undefined && metadata.name !== undefined && metadata.name !== name) {
      throw badRequest('the name of the object does not match the name on the URL');
    }
    const place = served.resource.namespaced ? { namespace } : {};
    return { ...body, metadata: { ...metadata, ...place, ...(name === undefined ? {} : { name }) } } as KubeObject;
  }

  function post(actor: string, location: Location, request: TransportRequest): Answer {
    const { served, name, namespace } = location;
    const object = objectIn(request, location);
    if (name !== undefined || (served.resource.namespaced && namespace === undefined)) {
      throw new Refusal(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource');
    }
    if (fieldsIn(object.metadata).generateName !== undefined) {
      throw invalid(served.kind, '', 'metadata.generateName', 'names of one server cannot be repeated by another run');
    }
    if (object.metadata.resourceVersion !== undefined && object.metadata.resourceVersion !== '') {
      // The real one notices only where it stores the object, and has no reason to give.
      throw new Refusal(500, undefined, 'resourceVersion should not be set on objects to be created');
    }
    return ok(textOf(registry.create(served, object, contextOf(actor, location, request.query ?? none))), 201);
  }

  function put(actor: string, before: KubeObject, location: Location, request: TransportRequest): Answer {
    const { served } = location;
    const object = objectIn(request, location);
    if (object.metadata.resourceVersion === undefined && !served.unconditionalUpdate) {
      throw invalid(served.kind, object.metadata.name, 'metadata.resourceVersion', 'must be specified for an update');
    }
    return ok(textOf(registry.update(served, before, object, contextOf(actor, location, request.query ?? none))));
  }

  function patch(actor: string, location: Location, request: TransportRequest): Answer {
    const type = request.headers?.['content-type'];
    if (type === 'application/apply-patch+yaml') return apply(actor, location, request);
    const before = existing(location);
    const context = { ...contextOf(actor, location, request.query ?? none), isPatch: true };
    const body = bodyOf(request);
    let next: KubeObject;
    if (type === 'application/json-patch+json') {
      if (!Array.isArray(body)) throw badRequest('a JSON patch is a list');
      next = jsonPatched(before, body as readonly JsonPatchStep[]) as KubeObject;
    } else if (type === 'application/merge-patch+json') {
      next = mergePatched(before, body) as KubeObject;
    } else {
      throw new Refusal(415, 'UnsupportedMediaType', `the body of the request was in an unknown format: ${type}`);
    }
    return ok(textOf(registry.update(location.served, before, next, context)));
  }

  function apply(actor: string, location: Location, request: TransportRequest): Answer {
    const { served } = location;
    const query = request.query ?? none;
    const wanted = objectIn(request, location);
    if (query.fieldManager === undefined)
      throw invalid('PatchOptions', '', 'fieldManager', 'is required for apply patch');
    if (managedEntries(wanted).length > 0) throw badRequest('metadata.managedFields must be nil');
    const before = found(location);
    if (before === undefined && location.subresource !== undefined) throw notFound(served.plural, location.name ?? '');
    const { uid, resourceVersion } = wanted.metadata;
    if (before === undefined && (uid ?? resourceVersion) !== undefined) {
      throw new Refusal(
        409,
        'Conflict',
        `uid or resourceVersion mismatch: ${served.plural} ${location.name} is not there`,
      );
    }
    if (resourceVersion !== undefined && resourceVersion !== before?.metadata.resourceVersion) {
      throw modified(served.plural, wanted.metadata.name);
    }
    const context = { ...contextOf(actor, location, query), isPatch: true };
    const by = authorship(location, query, actor);
    const { object, entries } = applied(before, wanted as unknown as Fields, by, query.force === 'true');
    if (before === undefined) {
      const metadata = {
        ...fieldsIn(object.metadata),
        name: wanted.metadata.name,
        namespace: wanted.metadata.namespace,
      };
      const made = { ...object, metadata } as unknown as KubeObject;
      return ok(textOf(registry.create(served, made, { ...context, entries })), 201);
    }
    const next = uid === undefined ? object : { ...object, metadata: { ...fieldsIn(object.metadata), uid } };
    return ok(textOf(registry.update(served, before, next as unknown as KubeObject, { ...context, entries })));
  }

  function remove(actor: string, location: Location, request: TransportRequest): Answer {
    const { served, name, subresource } = location;
    if (name === undefined || subresource !== undefined) {
      throw new Refusal(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource');
    }
    const object = existing(location);
    const { query = none } = request;
    const body = request.body === undefined || request.body === '' ? {} : bodyOf(request);
    const { uid, resourceVersion } = fieldsIn(body.preconditions);
    const grace = body.gracePeriodSeconds ?? query.gracePeriodSeconds;
    const { object: rest, gone } = registry.remove(served, object, actor, {
      uid: uid as string | undefined,
      resourceVersion: resourceVersion as string | undefined,
      gracePeriodSeconds: grace === undefined ? undefined : Number(grace),
      propagation: (body.propagationPolicy ?? query.propagationPolicy ?? silentPropagation[served.kind]) as
        | string
        | undefined,
      dryRun: query.dryRun === 'All' || (Array.isArray(body.dryRun) && body.dryRun.includes('All')),
    });
    return ok(gone ? deletedStatus(served, rest) : textOf(rest));
  }

  return {
    transport(actor) {
      const open = new Set<(reason: unknown) => void>();
      let isClosed = false;

      function connect(request: TransportRequest): {
        signal: AbortSignal | undefined;
        done: () => void;
        cut: AbortController;
      } {
        if (isClosed) throw unreachable(request, false);
        request.signal?.throwIfAborted();
        const cut = new AbortController();
        const abort = (): void => cut.abort(request.signal?.reason);
        const end = (reason: unknown): void => cut.abort(reason);
        request.signal?.addEventListener('abort', abort, { once: true });
        open.add(end);
        return {
          signal: cut.signal,
          cut,
          done: () => {
            open.delete(end);
            request.signal?.removeEventListener('abort', abort);
          },
        };
      }

      return {
        async request(request) {
          const { signal, done } = connect(request);
          try {
            request.beforeSend?.();
            await sleep(time, leg(), signal);
            const response = answer(actor, request);
            await sleep(time, leg(), signal);
            return response;
          } finally {
            done();
          }
        },
        async stream(request) {
          const { signal, done, cut } = connect(request);
          try {
            await sleep(time, leg(), signal);
            const opened = openWatch(request);
            if ('status' in opened) {
              done();
              return opened;
            }
            const fail = (): void => opened.fail(cut.signal.reason);
            cut.signal.addEventListener('abort', fail, { once: true });
            return { status: 200, headers: json, body: closing(opened.body, done) };
          } catch (error) {
            done();
            throw error;
          }
        },
        async close() {
          isClosed = true;
          for (const end of [...open]) end(new ApiUnreachable('GET', '/', true, new Error('the transport was closed')));
          open.clear();
        },
      };
    },
  };

  function openWatch(request: TransportRequest): ByteStream | TransportResponse<AsyncIterable<Uint8Array>> {
    const location = served.locate(request.path);
    try {
      if (location === undefined || request.query?.watch !== 'true') throw badRequest('this is no watch');
      return watching.open(location, request.query);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // The server says that a version is forgotten in two ways; which one depends on where it notices.
      if (error.status === 410 && random() < 0.5)
        return { status: 200, headers: json, body: once(errorFrame(error.body)) };
      const { response } = error;
      return { ...response, body: once(response.body) };
    }
  }
}

function deletedStatus(served: Served, { metadata }: KubeObject): string {
  const details = { name: metadata.name, group: served.resource.group, kind: served.plural, uid: metadata.uid };
  return JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details });
}

const unreachable = ({ method, path }: TransportRequest, maybeSent: boolean): ApiUnreachable =>
  new ApiUnreachable(method, path, maybeSent, new Error('the transport is closed'));

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function* closing(body: AsyncIterable<Uint8Array>, done: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } finally {
    done();
  }
}
