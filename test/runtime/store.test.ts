import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { configMaps } from '../../src/api/resource.ts';
import { FIELD_MANAGER } from '../../src/runtime/ownership.ts';
import { type Change, createStore, keyOf, type Replacement, type StoreOptions } from '../../src/runtime/store.ts';
import { podSummary } from '../../src/runtime/transform.ts';
import { ApiModel, type ModelEvent, summarize } from '../support/api-model.ts';
import { RecordingLog } from '../support/recording-log.ts';

const newStore = (options: Partial<StoreOptions> = {}) =>
  createStore({ resource: 'configmaps', log: new RecordingLog(), ...options });

function object(name: string, uid: string, version: number, more: object = {}): KubeObject {
  const metadata = { namespace: 'test', name, uid, resourceVersion: String(version), ...more };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata };
}

const shown = (store: ReturnType<typeof newStore>, name = 'a'): string | undefined => {
  const found = store.get({ namespace: 'test', name });
  return found && `${found.metadata.uid}@${found.metadata.resourceVersion}`;
};

const exactly = (name: string, uid: string) => ({ resource: configMaps, namespace: 'test', name, uid });

describe('own writes', () => {
  it('are visible at once and give way to what the watch shows later', () => {
    const store = newStore();
    store.observeWrite(object('a', 'u', 10));
    expect(shown(store)).toBe('u@10');
    store.put(object('a', 'u', 12));
    expect(shown(store)).toBe('u@12');
  });

  it.each([
    [
      'an answer that comes after the watch has shown something newer',
      (s: Store) => s.put(object('a', 'u', 12)),
      'u@12',
    ],
    ['an answer that comes after the watch has shown the delete', (s: Store) => deleted(s, 'u', 12), undefined],
    ['an answer about an earlier life of the name', (s: Store) => s.put(object('a', 'v', 12)), 'v@12'],
  ])('%s is ignored', (_name, prepare, expected) => {
    const store = newStore();
    prepare(store);
    store.observeWrite(object('a', 'u', 10));
    expect(shown(store)).toBe(expected);
  });

  it('whose answer comes after a list that no longer shows the object are over', () => {
    const store = newStore();
    store.beginReplacement().commit('12');
    store.observeWrite(object('a', 'u', 10));
    expect(shown(store)).toBeUndefined();
    store.observeWrite(object('a', 'u', 13));
    expect(shown(store)).toBe('u@13');
  });

  it('outlive a list that is too old to show them, once', () => {
    const store = newStore();
    const list = store.beginReplacement();
    store.observeWrite(object('a', 'u', 10));
    list.commit('9');
    expect(shown(store)).toBe('u@10');
    store.beginReplacement().commit('9');
    expect(shown(store)).toBeUndefined();
  });

  it('do not outlive a list that is new enough', () => {
    const store = newStore();
    store.observeWrite(object('a', 'u', 10));
    store.beginReplacement().commit('10');
    expect(shown(store)).toBeUndefined();
  });
});

describe('own deletes', () => {
  it('hide the object from late events and stale lists', () => {
    const store = newStore();
    store.put(object('a', 'u', 10));
    const list = store.beginReplacement();
    list.put(object('a', 'u', 10));
    store.observeDelete(exactly('a', 'u'));
    expect(shown(store)).toBeUndefined();
    store.put(object('a', 'u', 11));
    expect(shown(store)).toBeUndefined();
    list.commit('11');
    expect(shown(store)).toBeUndefined();
    store.remove(object('a', 'u', 12));
    store.put(object('a', 'v', 13));
    expect(shown(store)).toBe('v@13');
  });

  it('are remembered for one whole relist, and not for ever: a restored server may show the object again', () => {
    const store = newStore();
    const relist = (): void => {
      const list = store.beginReplacement();
      list.put(object('a', 'u', 10));
      list.commit('20');
    };
    store.observeDelete(exactly('a', 'u'));
    relist();
    store.put(object('a', 'u', 10));
    relist();
    expect(shown(store)).toBeUndefined();
    relist();
    expect(shown(store)).toBe('u@10');
  });

  it('of an earlier life leave the present one alone', () => {
    const store = newStore();
    store.put(object('a', 'v', 13));
    store.observeDelete(exactly('a', 'u'));
    store.remove(object('a', 'u', 12));
    expect(shown(store)).toBe('v@13');
  });
});

describe('late news', () => {
  it('of an earlier life stays old when the present one has ended', () => {
    const store = newStore();
    store.put(object('a', 'v', 12));
    store.put(object('a', 'u', 10));
    store.remove(object('a', 'v', 13));
    store.put(object('a', 'u', 10));
    expect(shown(store)).toBeUndefined();
  });

  it('within a list gives way to what came before it', () => {
    const store = newStore();
    const list = store.beginReplacement();
    list.put(object('a', 'u', 12));
    list.put(object('a', 'u', 11));
    list.put(object('b', 'v', 12));
    list.remove(object('b', 'v', 11));
    list.put(object('c', 'w', 12));
    list.remove(object('c', 'w', 13));
    list.commit('13');
    expect([shown(store, 'a'), shown(store, 'b'), shown(store, 'c')]).toEqual(['u@12', 'v@12', undefined]);
  });

  it('that the watch confirmed is not taken for an own write that a list may miss', () => {
    const store = newStore();
    store.observeWrite(object('a', 'u', 10));
    store.put(object('a', 'u', 10));
    store.beginReplacement().commit('9');
    expect(shown(store)).toBeUndefined();
  });
});

describe('a selection', () => {
  it('that an object leaves and enters again shows it again, with its old uid', () => {
    const store = newStore();
    store.put(object('a', 'u', 10));
    store.remove(object('a', 'u', 11));
    store.put(object('a', 'u', 10));
    expect(shown(store)).toBeUndefined();
    store.put(object('a', 'u', 12));
    expect(shown(store)).toBe('u@12');
  });

  it('that an own write brought it back into is not left by an older event', () => {
    const store = newStore();
    store.put(object('a', 'u', 10));
    store.observeWrite(object('a', 'u', 12));
    store.remove(object('a', 'u', 11));
    expect(shown(store)).toBe('u@12');
  });
});

describe('an object that a read found', () => {
  it('is shown though it has left the selection, until a list knows better', () => {
    const store = newStore();
    store.put(object('a', 'u', 10));
    store.remove(object('a', 'u', 11));
    store.observeRead(object('a', 'u', 11));
    expect(shown(store)).toBe('u@11');
    store.beginReplacement().commit('20');
    expect(shown(store)).toBeUndefined();
    store.observeRead(object('a', 'u', 11));
    expect(shown(store)).toBe('u@11');
    store.put(object('a', 'u', 21));
    expect(shown(store)).toBe('u@21');
  });

  it('is not shown when it is what we have deleted, or older than what is held', () => {
    const store = newStore();
    store.observeDelete(exactly('a', 'u'));
    store.observeRead(object('a', 'u', 10));
    store.put(object('b', 'v', 12));
    store.observeRead(object('b', 'v', 11));
    expect([shown(store), shown(store, 'b')]).toEqual([undefined, 'v@12']);
  });
});

describe('what is kept', () => {
  const managedFields = (operation: string, more: object = {}) => ({
    managedFields: [{ manager: FIELD_MANAGER, operation, fieldsType: 'FieldsV1', fieldsV1: { 'f:data': {} }, ...more }],
  });

  it.each([
    ['our POST', managedFields('Update'), true],
    ['our apply', managedFields('Apply'), false],
    ['our status patch', managedFields('Update', { subresource: 'status' }), false],
    ["another manager's write", { managedFields: [{ manager: 'kubectl', operation: 'Update' }] }, false],
    ['nobody', {}, false],
  ])('fields written by %s: postOwned is %#', (_name, metadata, postOwned) => {
    const store = newStore();
    store.put(object('a', 'u', 10, metadata));
    const entry = store.entry({ namespace: 'test', name: 'a' });
    expect(entry?.postOwned).toBe(postOwned);
    expect(entry?.object.metadata).not.toHaveProperty('managedFields');
  });

  it('of a pod: what planners read, and nothing else', () => {
    const store = newStore({ transform: podSummary });
    const running = { running: { startedAt: '2030-01-01T00:00:00Z' } };
    const container = {
      name: 'redis',
      ready: true,
      restartCount: 2,
      image: 'redis:8',
      containerID: 'x',
      state: running,
    };
    store.put({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...object('a', 'u', 10, managedFields('Update')).metadata, labels: { role: 'primary' } },
      spec: {
        nodeName: 'n1',
        containers: [{ name: 'redis', env: ['a lot'], resources: { limits: { memory: '1Gi' } } }],
        initContainers: [
          { name: 'once', resources: { limits: { memory: '1Gi' } } },
          { name: 'sidecar', restartPolicy: 'Always', env: ['a lot'], resources: { limits: { memory: '64Mi' } } },
        ],
        volumes: ['more'],
      },
      status: {
        phase: 'Running',
        podIP: '10.0.0.1',
        qosClass: 'Burstable',
        conditions: [{ type: 'Ready', status: 'True' }],
        containerStatuses: [{ ...container, allocatedResources: { cpu: '1' } }],
      },
    });
    expect(store.get({ namespace: 'test', name: 'a' })).toEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...object('a', 'u', 10).metadata, labels: { role: 'primary' } },
      spec: {
        nodeName: 'n1',
        containers: [{ name: 'redis', resources: { limits: { memory: '1Gi' } } }],
        initContainers: [
          { name: 'once' },
          { name: 'sidecar', restartPolicy: 'Always', resources: { limits: { memory: '64Mi' } } },
        ],
      },
      status: {
        phase: 'Running',
        podIP: '10.0.0.1',
        conditions: [{ type: 'Ready', status: 'True' }],
        containerStatuses: [container],
      },
    });
  });

  it('an index that does not exist is an error, not an empty answer', () => {
    expect(() => newStore().byIndex('owner', 'x')).toThrow('the store of configmaps has no index owner');
  });
});

/**
 * A world that changes while a store learns of it by a watch that lags and repeats itself, by lists that take their
 * time, and by answers to own writes that come early or late.
 */
class World {
  readonly model = new ApiModel();
  readonly changes: Change[] = [];
  readonly store = newStore({ indexes: { parity: ({ data }) => [`v${(data as { value: string }).value}`] } });
  #delivered = 0;
  #list: { readonly replacement: Replacement; readonly upTo: number; readonly version: string } | undefined;
  #answers: (() => void)[] = [];
  readonly #lastShown = new Map<string, number>();

  constructor() {
    this.store.subscribe((change) => this.changes.push(change));
  }

  write(name: string, value: string, own: boolean): void {
    const written = this.model.put(name, value);
    if (own) this.#answers.push(() => this.store.observeWrite(structuredClone(written)));
  }

  remove(name: string, own: boolean): void {
    const uid = this.model.get(name)?.metadata.uid;
    this.model.delete(name);
    if (own && uid !== undefined) this.#answers.push(() => this.store.observeDelete(exactly(name, uid)));
  }

  answer(which: number): void {
    const [answer] = this.#answers.splice(which % Math.max(1, this.#answers.length), 1);
    answer?.();
  }

  deliver(count: number): void {
    if (this.#list !== undefined) return;
    const end = Math.min(this.model.history.length, this.#delivered + count);
    for (const event of this.model.history.slice(this.#delivered, end)) this.#feed(event);
    this.#delivered = end;
  }

  replay(count: number): void {
    if (this.#list !== undefined) return;
    for (const event of this.model.history.slice(Math.max(0, this.#delivered - count), this.#delivered))
      this.#feed(event);
  }

  beginList(): void {
    const replacement = this.store.beginReplacement();
    for (const item of this.model.list()) replacement.put(structuredClone(item));
    this.#list = { replacement, upTo: this.model.history.length, version: String(this.model.version) };
  }

  endList(): void {
    if (this.#list === undefined) return;
    this.#list.replacement.commit(this.#list.version);
    this.#delivered = Math.max(this.#delivered, this.#list.upTo);
    this.#list = undefined;
  }

  /** Everything arrives in the end. */
  settle(): void {
    while (this.#answers.length > 0) this.answer(0);
    this.endList();
    this.deliver(Number.POSITIVE_INFINITY);
  }

  check(): void {
    const replayed = new Map<string, KubeObject>();
    for (const { type, object, previous } of this.changes) {
      const key = keyOf(object.metadata);
      expect(replayed.get(key)).toEqual(previous);
      if (type === 'deleted') replayed.delete(key);
      else replayed.set(key, object);
    }
    expect(summarize([...replayed.values()])).toEqual(summarize(this.store.list()));
    for (const found of this.store.list()) {
      const { value } = found.data as { value: string };
      expect(this.store.byIndex('parity', `v${value}`)).toContainEqual(found);
      const version = Number(found.metadata.resourceVersion);
      expect(version).toBeGreaterThanOrEqual(this.#lastShown.get(found.metadata.name) ?? 0);
      this.#lastShown.set(found.metadata.name, version);
    }
    const indexed = ['0', '1', '2'].flatMap((value) => this.store.byIndex('parity', `v${value}`));
    expect(indexed.length).toBe(this.store.size);
  }

  #feed({ type, object }: ModelEvent): void {
    if (type === 'DELETED') this.store.remove(structuredClone(object));
    else this.store.put(structuredClone(object));
  }
}

describe('whatever the order in which news arrives', () => {
  const name = fc.constantFrom('a', 'b', 'c');
  const value = fc.constantFrom('0', '1', '2');
  const step: fc.Arbitrary<(world: World) => void> = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.tuple(name, value, fc.boolean()).map(
        ([n, v, own]) =>
          (w: World) =>
            w.write(n, v, own),
      ),
    },
    {
      weight: 2,
      arbitrary: fc.tuple(name, fc.boolean()).map(
        ([n, own]) =>
          (w: World) =>
            w.remove(n, own),
      ),
    },
    { weight: 3, arbitrary: fc.nat(5).map((which) => (w: World) => w.answer(which)) },
    { weight: 3, arbitrary: fc.nat(4).map((count) => (w: World) => w.deliver(count)) },
    { weight: 1, arbitrary: fc.nat(4).map((count) => (w: World) => w.replay(count)) },
    { weight: 1, arbitrary: fc.constant((w: World) => w.beginList()) },
    { weight: 1, arbitrary: fc.constant((w: World) => w.endList()) },
  );

  it('the store never goes back, tells its listeners exactly what it shows, and ends equal to the server', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const world = new World();
        for (const take of steps) {
          take(world);
          world.check();
        }
        world.settle();
        world.check();
        expect(summarize(world.store.list())).toEqual(world.model.summary);
      }),
      { numRuns: 500 },
    );
  });
});

type Store = ReturnType<typeof newStore>;

function deleted(store: Store, uid: string, version: number): void {
  store.put(object('a', uid, version - 1));
  store.remove(object('a', uid, version));
}
