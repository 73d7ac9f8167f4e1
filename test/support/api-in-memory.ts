/**
 * An API server in memory, behind the transport: objects, one growing version, watches. It knows of each verb what the
 * controller relies on (409 on a second create, apply and merge patches, preconditions on UID and resourceVersion,
 * finalizers, generations, managed fields) and nothing more. The real one is met by the end-to-end tests.
 */

import { backupKind } from '../../src/api/backup.ts';
import { scheduleKind } from '../../src/api/backup-schedule.ts';
import { labelSelector as selectorOf } from '../../src/api/label-selector.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { resourceOf } from '../../src/api/resource.ts';
import { etcdKind } from '../../src/engines/etcd/kind/schema.ts';
import { databaseKind } from '../../src/engines/postgres/kind/database.ts';
import { postgresKind } from '../../src/engines/postgres/kind/schema.ts';
import { userKind } from '../../src/engines/postgres/kind/user.ts';
import { redisKind } from '../../src/engines/redis/kind/schema.ts';
import { createClient, type KubeClient } from '../../src/runtime/client.ts';
import { collectionPath } from '../../src/runtime/resource-path.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../src/runtime/transport.ts';
import type { Clock } from '../../src/system/clock.ts';
import { stored } from '../../src/testing/stored-object.ts';

type Fields = Readonly<Record<string, unknown>>;
type Metadata = KubeObject['metadata'] & { readonly managedFields?: readonly Fields[] };
type Answer = TransportResponse<string>;

const record = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
const answer = (status: number, body: unknown): Answer => ({ status, headers: {}, body: JSON.stringify(body) });
const refusal = (code: number, reason: string, message: string): Answer =>
  answer(code, { kind: 'Status', code, reason, message });

/** Of a path: the collection, and the name and subresource of an object in it. */
function located(path: string): { readonly collection: string; readonly name?: string; readonly subresource?: string } {
  const match = /^(\/apis?(?:\/[^/]+){1,2}?(?:\/namespaces\/[^/]+)?\/[a-z]+)(?:\/([^/]+))?(?:\/([a-z]+))?$/.exec(path);
  const [, collection = path, name, subresource] = match ?? [];
  return { collection, ...(name === undefined ? {} : { name }), ...(subresource === undefined ? {} : { subresource }) };
}

function merged(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> = { ...record(target) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result;
}

interface Watcher {
  readonly accepts: (path: string, object: KubeObject) => boolean;
  readonly send: (event: string) => void;
}

/** Returns an answer in place of the server's, or undefined to let it act. May reject, or never resolve. */
export type Interception = (request: TransportRequest) => Promise<Answer> | undefined;

export class ApiInMemory {
  /** `METHOD collection/name` of every write, in order; events left out. */
  readonly writes: string[] = [];
  readonly reads: string[] = [];
  /** `METHOD collection` of every dry run, in order: it is no write. */
  readonly dryRuns: string[] = [];
  intercept: Interception = () => undefined;
  /** A watch begins when this resolves. */
  admitWatch: (request: TransportRequest) => Promise<void> = async () => undefined;
  isClosed = false;
  #late: (() => void)[] | undefined;
  readonly #objects = new Map<string, KubeObject>();
  readonly #watchers = new Set<Watcher>();
  #version = 100;
  #born = 0;

  readonly transport: Transport = {
    request: async (request) => {
      request.beforeSend?.();
      return (await this.intercept(request)) ?? this.#act(request);
    },
    stream: async (request) => {
      await this.admitWatch(request);
      return { status: 200, headers: {}, body: this.#watch(request) };
    },
    close: async () => {
      this.isClosed = true;
    },
  };

  /** A status has been written. */
  protected told(_object: KubeObject): void {
    // Whoever reads it extends this.
  }

  client(clock: Clock): KubeClient {
    return createClient({ transport: this.transport, clock, random: () => 0.5 });
  }

  /** As somebody else: creates, or replaces what is there, status included. */
  put(object: KubeObject): KubeObject {
    const path = `${this.#collectionOf(object)}/${object.metadata.name}`;
    const held = this.#objects.get(path);
    return held === undefined
      ? this.#create(path, object, 'somebody')
      : this.#store(path, merged(held, object) as KubeObject);
  }

  get(kind: string, name: string): KubeObject | undefined {
    return this.list(kind).find(({ metadata }) => metadata.name === name);
  }

  list(kind: string): KubeObject[] {
    return [...this.#objects.values()].filter((object) => object.kind === kind);
  }

  /** From now on watches lag behind, until `catchUp`. */
  lag(): void {
    this.#late ??= [];
  }

  catchUp(): void {
    const late = this.#late ?? [];
    this.#late = undefined;
    for (const tell of late) tell();
  }

  /** Gone at once, whatever holds it. */
  vanish(kind: string, name: string): void {
    for (const [path, object] of this.#objects) {
      if (object.kind === kind && object.metadata.name === name) this.#remove(path, object);
    }
  }

  #collectionOf(object: KubeObject): string {
    const own = [redisKind, etcdKind, postgresKind, databaseKind, userKind, backupKind, scheduleKind].find(
      ({ resource: { kind } }) => kind === object.kind,
    );
    const resource = own?.resource ?? resourceOf(object);
    return collectionPath(resource, object.metadata.namespace);
  }

  #act(request: TransportRequest): Answer {
    const { method, path } = request;
    const { collection, name, subresource } = located(path);
    if (method === 'GET') {
      this.reads.push(path);
      if (name === undefined) return this.#list(collection, request.query?.labelSelector);
      const object = this.#objects.get(path);
      return object === undefined ? refusal(404, 'NotFound', `${name} not found`) : answer(200, object);
    }
    if (request.query?.dryRun === 'All') return this.#pretend(request, collection);
    if (!collection.endsWith('/events')) this.writes.push(`${method} ${path.replace(/^.*\/([^/]+\/[^/]+)$/, '$1')}`);
    const body = JSON.parse(request.body ?? '{}') as Fields;
    const manager = request.query?.fieldManager ?? '';
    if (method === 'POST') return this.#post(collection, body as unknown as KubeObject, manager);
    const key = `${collection}/${name}`;
    const held = this.#objects.get(key);
    const type = request.headers?.['content-type'];
    if (type === 'application/apply-patch+yaml') return this.#apply(key, held, body as unknown as KubeObject, manager);
    if (held === undefined) return refusal(404, 'NotFound', `${name} not found`);
    if (method === 'PUT') return this.#replace(key, held, body as unknown as KubeObject);
    if (method === 'DELETE') return this.#delete(key, held, body);
    if (type === 'application/json-patch+json') return this.#jsonPatch(key, held, body as unknown as readonly Fields[]);
    return this.#mergePatch(key, held, body, subresource);
  }

  #pretend({ method, body = '{}' }: TransportRequest, collection: string): Answer {
    if (method !== 'POST') throw new Error(`a dry run of ${method} is not pretended`);
    const object = JSON.parse(body) as KubeObject;
    this.dryRuns.push(`${method} ${collection.replace(/^.*\//, '')}/${object.metadata.name}`);
    const { name } = object.metadata;
    const isThere = this.#objects.has(`${collection}/${name}`);
    return isThere ? refusal(409, 'AlreadyExists', `pods "${name}" already exists`) : answer(201, object);
  }

  #post(collection: string, object: KubeObject, manager: string): Answer {
    const path = `${collection}/${object.metadata.name}`;
    if (this.#objects.has(path)) return refusal(409, 'AlreadyExists', `${object.metadata.name} already exists`);
    return answer(201, this.#create(path, object, manager));
  }

  #create(path: string, object: KubeObject, manager: string): KubeObject {
    const { stringData, ...rest } = object;
    const data = Object.entries(record(stringData)).map(([key, text]) => [
      key,
      Buffer.from(`${text}`).toString('base64'),
    ]);
    const managedFields = [{ manager, operation: 'Update', apiVersion: object.apiVersion, fieldsV1: {} }];
    const metadata = { uid: `uid-${++this.#born}`, ...object.metadata, generation: 1, managedFields };
    return this.#store(
      path,
      stored({ ...rest, metadata, ...(data.length > 0 ? { data: Object.fromEntries(data) } : {}) }),
    );
  }

  #apply(path: string, held: KubeObject | undefined, object: KubeObject, manager: string): Answer {
    const { name, uid } = object.metadata;
    if (held === undefined && uid !== undefined) return refusal(409, 'Conflict', `uid mismatch: ${name} is not there`);
    if (uid !== undefined && uid !== held?.metadata.uid) return refusal(422, 'Invalid', 'metadata.uid is immutable');
    const before = held ?? this.#create(path, object, manager);
    const entries = ((before.metadata as Metadata).managedFields ?? []).filter(
      (entry) => !(entry.manager === manager && entry.operation === 'Apply'),
    );
    const managedFields = [...entries, { manager, operation: 'Apply', apiVersion: object.apiVersion, fieldsV1: {} }];
    return answer(
      200,
      this.#store(path, stored(merged(before, merged(object, { metadata: { managedFields } })) as KubeObject)),
    );
  }

  #replace(path: string, held: KubeObject, object: KubeObject): Answer {
    if (object.metadata.resourceVersion !== held.metadata.resourceVersion) {
      return refusal(409, 'Conflict', 'the object has been modified');
    }
    return answer(200, this.#store(path, object));
  }

  #mergePatch(path: string, held: KubeObject, patch: Fields, subresource: string | undefined): Answer {
    const { uid, resourceVersion } = record(patch.metadata);
    if (uid !== undefined && uid !== held.metadata.uid)
      return refusal(409, 'Conflict', 'the UID in the precondition differs');
    if (resourceVersion !== undefined && resourceVersion !== held.metadata.resourceVersion) {
      return refusal(409, 'Conflict', 'the object has been modified');
    }
    const { status, ...rest } = patch;
    return answer(200, this.#store(path, merged(held, subresource === 'status' ? { status } : rest) as KubeObject));
  }

  #jsonPatch(path: string, held: KubeObject, operations: readonly Fields[]): Answer {
    const metadata: Record<string, unknown> = { ...held.metadata };
    const added: Record<string, unknown> = {};
    for (const { op, path: at, value } of operations) {
      if (op === 'add' && at === '/status') added.status = value;
      const field = String(at).replace('/metadata/', '');
      if (op === 'test' && !same(metadata[field], value)) return refusal(422, 'Invalid', `${at} is not as expected`);
      if (op === 'replace') metadata[field] = value;
    }
    const next = this.#store(path, { ...held, ...added, metadata: metadata as unknown as Metadata });
    if ('status' in added) this.told(next);
    return answer(200, next);
  }

  #delete(path: string, held: KubeObject, body: Fields): Answer {
    const { uid } = record(body.preconditions);
    if (uid !== held.metadata.uid) {
      return refusal(
        409,
        'Conflict',
        `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${held.metadata.uid}`,
      );
    }
    // A pod lives on for its grace period, until a test ends it.
    if (held.kind !== 'Pod' && (held.metadata.finalizers ?? []).length === 0) {
      this.#remove(path, held);
      return answer(200, { kind: 'Status', status: 'Success' });
    }
    const metadata = { ...held.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' };
    return answer(200, this.#store(path, { ...held, metadata }));
  }

  /** A new version, unless nothing has changed; another generation if the spec has. */
  #store(path: string, object: KubeObject): KubeObject {
    const held = this.#objects.get(path);
    const { resourceVersion, generation = 1, ...metadata } = object.metadata;
    const version = held?.metadata.resourceVersion;
    if (held !== undefined && same({ ...object, metadata: { ...held.metadata, ...metadata } }, held)) return held;
    const next: KubeObject = {
      ...object,
      metadata: {
        ...metadata,
        resourceVersion: String(++this.#version),
        generation: version === undefined || same(held?.spec, object.spec) ? generation : generation + 1,
      },
    };
    if (next.metadata.deletionTimestamp !== undefined && next.metadata.finalizers?.length === 0) {
      this.#objects.set(path, next);
      this.#remove(path, next);
      return next;
    }
    this.#objects.set(path, next);
    this.#tell(held === undefined ? 'ADDED' : 'MODIFIED', path, next, held);
    return next;
  }

  #remove(path: string, object: KubeObject): void {
    this.#objects.delete(path);
    this.#tell('DELETED', path, {
      ...object,
      metadata: { ...object.metadata, resourceVersion: String(++this.#version) },
    });
  }

  #list(collection: string, labelSelector: string | undefined): Answer {
    const accepts = acceptance(collection, labelSelector);
    const items = [...this.#objects].flatMap(([path, object]) => (accepts(path, object) ? [object] : []));
    return answer(200, { metadata: { resourceVersion: String(this.#version) }, items });
  }

  /** What leaves the selection of a watch is deleted to that, as it was before, and what comes into it is added. */
  #tell(type: string, path: string, object: KubeObject, held: KubeObject = object): void {
    const { resourceVersion } = object.metadata;
    const tell = (): void => {
      for (const { accepts, send } of this.#watchers) {
        const [was, is] = [accepts(path, held), accepts(path, object)];
        if (is) send(`${JSON.stringify({ type: was ? type : 'ADDED', object })}\n`);
        else if (was) {
          const last = { ...held, metadata: { ...held.metadata, resourceVersion } };
          send(`${JSON.stringify({ type: 'DELETED', object: last })}\n`);
        }
      }
    };
    if (this.#late === undefined) tell();
    else this.#late.push(tell);
  }

  async *#watch(request: TransportRequest): AsyncGenerator<Uint8Array> {
    const accepts = acceptance(request.path, request.query?.labelSelector);
    const end = {
      type: 'BOOKMARK',
      object: {
        metadata: { resourceVersion: String(this.#version), annotations: { 'k8s.io/initial-events-end': 'true' } },
      },
    };
    const pending = [...this.#objects].flatMap(([path, object]) =>
      accepts(path, object) ? [{ type: 'ADDED', object }] : [],
    );
    const queue = [...pending, ...(request.query?.sendInitialEvents === 'true' ? [end] : [])].map(
      (event) => `${JSON.stringify(event)}\n`,
    );
    let wake: () => void = () => undefined;
    const watcher: Watcher = {
      accepts,
      send: (event) => {
        queue.push(event);
        wake();
      },
    };
    this.#watchers.add(watcher);
    request.signal?.addEventListener('abort', () => wake(), { once: true });
    try {
      while (request.signal?.aborted !== true) {
        for (let event = queue.shift(); event !== undefined; event = queue.shift()) yield Buffer.from(event);
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (queue.length > 0 || request.signal?.aborted === true) resolve();
        });
      }
    } finally {
      this.#watchers.delete(watcher);
    }
  }
}

/** Which objects a list or watch of a collection shows: of one namespace or all, with these labels. */
function acceptance(collection: string, labelSelector: string | undefined): Watcher['accepts'] {
  const plural = collection.slice(collection.lastIndexOf('/'));
  const root = collection.slice(0, -plural.length);
  const selector = labelSelector === undefined ? undefined : selectorOf(labelSelector);
  return (path, { metadata }) => {
    const own = path.slice(0, path.lastIndexOf('/'));
    const inScope = own === collection || (own.startsWith(`${root}/namespaces/`) && own.endsWith(plural));
    return inScope && selector?.matches(metadata.labels) !== false;
  };
}
