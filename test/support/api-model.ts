/**
 * The truth of one resource in a pretended API server: objects, one growing version, and a history that can be
 * forgotten. It does no I/O; `misbehaving-server.ts` serves it.
 */
import type { KubeObject } from '../../src/api/object.ts';

export interface ModelEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KubeObject;
  readonly version: number;
}

export class ApiModel {
  readonly namespace = 'test';
  version = 100;
  readonly #objects = new Map<string, KubeObject>();
  #history: ModelEvent[] = [];
  #oldest = 100;
  #born = 0;
  readonly #watchers = new Set<(event: ModelEvent) => void>();

  /** Creates the object or changes its data. */
  put(name: string, value = ''): KubeObject {
    const known = this.#objects.get(name);
    const object: KubeObject = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name,
        namespace: this.namespace,
        uid: known?.metadata.uid ?? `uid-${++this.#born}`,
        resourceVersion: String(++this.version),
      },
      data: { value },
    };
    this.#objects.set(name, object);
    this.#publish({ type: known === undefined ? 'ADDED' : 'MODIFIED', object, version: this.version });
    return object;
  }

  delete(name: string): void {
    const known = this.#objects.get(name);
    if (known === undefined) return;
    this.#objects.delete(name);
    const metadata = { ...known.metadata, resourceVersion: String(++this.version) };
    this.#publish({ type: 'DELETED', object: { ...known, metadata }, version: this.version });
  }

  /** Another object under the same name. */
  recreate(name: string, value = ''): KubeObject {
    this.delete(name);
    return this.put(name, value);
  }

  /** Forgets the history: whoever asks for what came after an older version gets 410. */
  compact(): void {
    this.#history = [];
    this.#oldest = this.version;
  }

  get(name: string): KubeObject | undefined {
    return this.#objects.get(name);
  }

  list(): KubeObject[] {
    return [...this.#objects.values()];
  }

  /** `name@version` of every object, sorted: what a store must show in the end. */
  get summary(): string[] {
    return summarize(this.list());
  }

  /** What is not forgotten yet, oldest first. */
  get history(): readonly ModelEvent[] {
    return this.#history;
  }

  /** Undefined when the history does not reach back that far. */
  since(version: number): ModelEvent[] | undefined {
    return version < this.#oldest ? undefined : this.#history.filter((event) => event.version > version);
  }

  watch(call: (event: ModelEvent) => void): () => void {
    this.#watchers.add(call);
    return () => this.#watchers.delete(call);
  }

  #publish(event: ModelEvent): void {
    this.#history.push(event);
    for (const call of this.#watchers) call(event);
  }
}

export function summarize(objects: readonly KubeObject[]): string[] {
  return objects
    .map(({ metadata, data }) => `${metadata.name}/${metadata.uid}@${metadata.resourceVersion}=${JSON.stringify(data)}`)
    .sort();
}
