/**
 * The API server as typed calls on plain JSON.
 *
 * Objects go in and come out exactly as they cross the wire, so a field this version does not know survives. Reads come
 * from the caller's cache wherever possible; this client caches nothing. Every delete names a UID, by its type. What is
 * repeated after a failure is decided in `retry.ts`; errors are `ApiError` and `ApiUnreachable`.
 */
import { apiVersionOf, type KubeObject, type ObjectRef, type Resource } from '../api/object.ts';
import { resourceOf } from '../api/resource.ts';
import { type Clock, type Random, sleep } from '../system/clock.ts';
import { ApiError, apiErrorOf, isConflict, isNotFound } from './api-error.ts';
import type { Metrics } from './metrics.ts';
import { FIELD_MANAGER, type JsonPatchOperation } from './ownership.ts';
import { type RefusedBy, refusedBy } from './refused-by.ts';
import { collectionPath, objectPath } from './resource-path.ts';
import { type RetrySafety, retryDelay } from './retry.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';
import { decodeWatch, type WatchEvent } from './watch.ts';

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Upper bound for each attempt. Default: the transport's. */
  readonly timeoutMs?: number | undefined;
}

export interface WriteOptions extends CallOptions {
  /** Validates and answers as a real write would, and stores nothing. */
  readonly dryRun?: boolean | undefined;
  /** Default `FIELD_MANAGER`. */
  readonly fieldManager?: string | undefined;
  /** What the server does about fields that the schema does not know. Default: the server's own, `Warn`. */
  readonly fieldValidation?: 'Strict' | 'Warn' | 'Ignore' | undefined;
}

export interface ApplyOptions extends WriteOptions {
  /** Takes fields over from other managers instead of failing with a conflict. */
  readonly force?: boolean | undefined;
}

export interface PatchOptions extends WriteOptions {
  readonly subresource?: string | undefined;
}

export interface Selection {
  /** All namespaces when left out. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

export interface ListOptions extends Selection, CallOptions {
  /** Objects a page. Without it the server sends all at once. */
  readonly limit?: number | undefined;
  readonly continue?: string | undefined;
  /** Left out: as new as a write that was just acknowledged. `0`: whatever the server has at hand, however old. */
  readonly resourceVersion?: string | undefined;
}

export interface ListPage {
  readonly items: KubeObject[];
  readonly resourceVersion: string;
  /** Set when there are more pages. */
  readonly continue?: string;
}

export interface WatchOptions extends Selection {
  readonly signal?: AbortSignal | undefined;
  readonly resourceVersion?: string | undefined;
  /** When the server ends the watch. */
  readonly timeoutSeconds: number;
  /** Sends all that exists first, then a bookmark with `initialEventsEnd`. */
  readonly sendInitialEvents?: boolean | undefined;
}

export interface RemoveOptions extends CallOptions {
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan' | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  readonly dryRun?: boolean | undefined;
}

/** The one object of that UID. Another object of the same name is never meant. */
export type ExactRef = ObjectRef & { readonly uid: string };

/** `deleted`: gone now. `terminating`: accepted, the object lives on for its grace period or finalizers. `absent`: was gone. */
export type Removal =
  | { readonly outcome: 'deleted' | 'absent' }
  | { readonly outcome: 'terminating'; readonly object: KubeObject };

export interface KubeClient {
  get(ref: ObjectRef, options?: CallOptions): Promise<KubeObject>;
  list(resource: Resource, options?: ListOptions): Promise<ListPage>;
  create(object: KubeObject, options?: WriteOptions): Promise<KubeObject>;
  /** Server-side apply: creates, or makes the fields in `object` ours and removes those we owned and no longer name. */
  apply(object: KubeObject, options?: ApplyOptions): Promise<KubeObject>;
  applyStatus(object: KubeObject, options?: ApplyOptions): Promise<KubeObject>;
  /** JSON merge patch. A `resourceVersion` in the body makes it conditional. */
  mergePatch(ref: ObjectRef, body: object, options?: PatchOptions): Promise<KubeObject>;
  /**
   * Makes `status` the whole status of the one object of that UID: fields that are not in it go. Refused as invalid (422)
   * where the name belongs to another object by now, or the object is of another version than the given one.
   */
  replaceStatus(
    ref: ExactRef,
    status: object,
    options?: WriteOptions & { readonly resourceVersion?: string | undefined },
  ): Promise<KubeObject>;
  jsonPatch(ref: ObjectRef, operations: readonly JsonPatchOperation[], options?: PatchOptions): Promise<KubeObject>;
  /** PUT. The object must carry the resourceVersion that it was read at. */
  replace(object: KubeObject, options?: PatchOptions): Promise<KubeObject>;
  remove(ref: ExactRef, options?: RemoveOptions): Promise<Removal>;
  /** Resolves once the server has accepted the watch. One attempt: how to go on after its end is the caller's decision. */
  watch(resource: Resource, options: WatchOptions): Promise<AsyncIterable<WatchEvent>>;
  /** Any path of the server, for example `/version`. */
  getText(path: string, options?: CallOptions): Promise<string>;
}

export interface ClientOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics?: Pick<Metrics, 'apiRequests' | 'apiDuration'> | undefined;
  /** The resource of an object. Default: the table of built-in resources, which throws on custom kinds. */
  readonly resourceOf?: ((object: KubeObject) => Resource) | undefined;
  /** Receives the server's `Warning` headers, for example about a deprecated version or an unknown field. */
  readonly onWarning?:
    | ((warning: string, call: { readonly method: string; readonly path: string }) => void)
    | undefined;
}

interface Call extends TransportRequest {
  readonly verb: string;
  readonly resource: string;
  readonly safety: RetrySafety;
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export function createClient(options: ClientOptions): KubeClient {
  const { transport, clock, random, metrics } = options;
  const resourceFor = options.resourceOf ?? resourceOf;

  /** One attempt, measured. */
  async function attempt<Body>(
    call: Call,
    send: (request: TransportRequest) => Promise<TransportResponse<Body>>,
    text: (body: Body) => Promise<string> | string,
  ): Promise<Body> {
    const startedAt = clock.monotonic();
    let code = 0;
    let refused: RefusedBy | undefined;
    try {
      const response = await send(call);
      code = response.status;
      warn(call, response.headers.warning);
      if (code < 400) return response.body;
      const error = apiErrorOf(call, { ...response, body: await text(response.body) }, clock.now());
      refused = refusedBy(error);
      throw error;
    } finally {
      const { verb, resource } = call;
      metrics?.apiRequests.inc({ verb, resource, code, ...(refused === undefined ? {} : { refused_by: refused }) });
      metrics?.apiDuration.observe({ verb, resource }, (clock.monotonic() - startedAt) / 1000);
    }
  }

  async function send(call: Call): Promise<string> {
    for (let count = 1; ; count++) {
      try {
        return await attempt(
          call,
          (request) => transport.request(request),
          (body) => body,
        );
      } catch (error) {
        const delay = retryDelay(error, call.safety, count, random);
        if (delay === undefined || call.signal?.aborted) throw error;
        await sleep(clock, delay, call.signal);
      }
    }
  }

  function warn(call: Call, header: string | undefined): void {
    if (header === undefined || options.onWarning === undefined) return;
    for (const [, text = ''] of header.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)) {
      options.onWarning(text.replaceAll(/\\(.)/g, '$1'), { method: call.method, path: call.path });
    }
  }

  async function sendObject(call: Call): Promise<KubeObject> {
    return parseAnswer(call, await send(call)) as KubeObject;
  }

  async function write(
    verb: 'apply' | 'patch' | 'update',
    ref: ObjectRef,
    contentType: string,
    body: unknown,
    options: PatchOptions & { readonly force?: boolean | undefined },
  ): Promise<KubeObject> {
    return sendObject({
      verb,
      resource: ref.resource.plural,
      method: verb === 'update' ? 'PUT' : 'PATCH',
      path: objectPath(ref, options.subresource),
      query: queryOf({ ...writeQuery(options), force: options.force }),
      headers: { 'content-type': contentType },
      body: JSON.stringify(body),
      safety: verb === 'apply' ? 'repeatable' : 'once',
      signal: options.signal,
      timeoutMs: options.timeoutMs,
    });
  }

  const refOf = (object: KubeObject): ObjectRef => ({
    resource: resourceFor(object),
    name: object.metadata.name,
    ...(object.metadata.namespace === undefined ? {} : { namespace: object.metadata.namespace }),
  });

  const client: KubeClient = {
    get: async (ref, options = {}) =>
      sendObject({
        verb: 'get',
        resource: ref.resource.plural,
        method: 'GET',
        path: objectPath(ref),
        safety: 'repeatable',
        ...options,
      }),

    async list(resource, options = {}) {
      const call: Call = {
        verb: 'list',
        resource: resource.plural,
        method: 'GET',
        path: collectionPath(resource, options.namespace),
        query: queryOf({
          labelSelector: options.labelSelector,
          fieldSelector: options.fieldSelector,
          limit: options.limit,
          continue: options.continue,
          resourceVersion: options.resourceVersion,
        }),
        safety: 'repeatable',
        signal: options.signal,
        timeoutMs: options.timeoutMs,
      };
      const page = parseAnswer(call, await send(call)) as {
        readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
        readonly items?: readonly KubeObject[] | null;
      };
      // Items of built-in lists come without their type, which is said once on the list.
      const type = { apiVersion: apiVersionOf(resource), kind: resource.kind };
      return {
        items: (page.items ?? []).map((item) => ({ ...type, ...item })),
        resourceVersion: page.metadata?.resourceVersion ?? '',
        ...(page.metadata?.continue ? { continue: page.metadata.continue } : {}),
      };
    },

    async create(object, options = {}) {
      const resource = resourceFor(object);
      return sendObject({
        verb: 'create',
        resource: resource.plural,
        method: 'POST',
        path: collectionPath(resource, object.metadata.namespace),
        query: queryOf(writeQuery(options)),
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(object),
        safety: 'once',
        signal: options.signal,
        timeoutMs: options.timeoutMs,
      });
    },

    // YAML is a superset of JSON, and this is the content type's only name on every server in use.
    apply: async (object, options = {}) =>
      write('apply', refOf(object), 'application/apply-patch+yaml', object, options),

    applyStatus: async (object, options = {}) =>
      write('apply', refOf(object), 'application/apply-patch+yaml', object, { ...options, subresource: 'status' }),

    mergePatch: (ref, body, options = {}) => write('patch', ref, 'application/merge-patch+json', body, options),

    replaceStatus: (ref, status, { resourceVersion, ...options } = {}) =>
      client.jsonPatch(
        ref,
        [
          { op: 'test', path: '/metadata/uid', value: ref.uid },
          ...(resourceVersion === undefined
            ? []
            : [{ op: 'test', path: '/metadata/resourceVersion', value: resourceVersion } as const]),
          { op: 'add', path: '/status', value: status },
        ],
        { ...options, subresource: 'status' },
      ),

    jsonPatch: (ref, operations, options = {}) =>
      write('patch', ref, 'application/json-patch+json', operations, options),

    async replace(object, options = {}) {
      if (object.metadata.resourceVersion === undefined) {
        throw new Error(`${object.kind}/${object.metadata.name}: a replace needs the resourceVersion that was read`);
      }
      return write('update', refOf(object), 'application/json', object, options);
    },

    async remove(ref, options = {}) {
      const call: Call = {
        verb: 'delete',
        resource: ref.resource.plural,
        method: 'DELETE',
        path: objectPath(ref),
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          apiVersion: 'v1',
          kind: 'DeleteOptions',
          preconditions: { uid: ref.uid },
          propagationPolicy: options.propagation ?? 'Background',
          gracePeriodSeconds: options.gracePeriodSeconds,
          dryRun: options.dryRun === true ? ['All'] : undefined,
        }),
        safety: 'repeatable',
        signal: options.signal,
        timeoutMs: options.timeoutMs,
      };
      try {
        return removalOf(ref, parseAnswer(call, await send(call)));
      } catch (error) {
        if (isGone(error)) return { outcome: 'absent' };
        throw error;
      }
    },

    async watch(resource, options) {
      const call: Call = {
        verb: 'watch',
        resource: resource.plural,
        method: 'GET',
        path: collectionPath(resource, options.namespace),
        query: queryOf({
          watch: true,
          allowWatchBookmarks: true,
          labelSelector: options.labelSelector,
          fieldSelector: options.fieldSelector,
          resourceVersion: options.resourceVersion,
          timeoutSeconds: options.timeoutSeconds,
          ...(options.sendInitialEvents === true
            ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' }
            : {}),
        }),
        safety: 'once',
        signal: options.signal,
      };
      return decodeWatch(await attempt(call, (request) => transport.stream(request), textOf));
    },

    getText: (path, options = {}) =>
      send({ verb: 'get', resource: 'text', method: 'GET', path, safety: 'repeatable', ...options }),
  };
  return client;
}

function writeQuery(options: WriteOptions): Query {
  return {
    fieldManager: options.fieldManager ?? FIELD_MANAGER,
    fieldValidation: options.fieldValidation,
    dryRun: options.dryRun === true ? 'All' : undefined,
  };
}

function queryOf(query: Query): Record<string, string> {
  const present: Record<string, string> = {};
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) present[name] = String(value);
  }
  return present;
}

function parseAnswer(call: Call, body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (cause) {
    const message = `the answer is not JSON: ${body.slice(0, 200)}`;
    throw new ApiError({ status: 200, reason: 'Unreadable', message, method: call.method, path: call.path }, { cause });
  }
}

/** A delete answers with a Status when the object is gone, and with the object when it lives on. */
function removalOf(ref: ExactRef, answer: unknown): Removal {
  const object = answer as KubeObject;
  const lives = object.kind === ref.resource.kind && object.metadata.deletionTimestamp !== undefined;
  return lives ? { outcome: 'terminating', object } : { outcome: 'deleted' };
}

/** A webhook that denies the deletion may choose the same status: the object is still there then. */
function isGone(error: unknown): boolean {
  return isNotFound(error) || isOtherUid(error);
}

/**
 * The name is taken by a younger object: the one that was meant is gone. Other conflicts have the same status and
 * reason, so only the words tell; the server has two wordings, from two of its layers.
 */
function isOtherUid(error: unknown): boolean {
  return isConflict(error) && /UID in (the )?precondition/.test(error.message);
}

async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts).toString('utf8');
}
