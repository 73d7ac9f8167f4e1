/** What a store tells those who listen to it, and what it answers when it is asked. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { createStore, keyOf, type StoreOptions } from '../../src/runtime/store.ts';
import { RecordingLog } from '../support/recording-log.ts';

const newStore = (options: Partial<StoreOptions> = {}) =>
  createStore({ resource: 'configmaps', log: new RecordingLog(), ...options });

function object(name: string, uid: string, version: number, more: object = {}): KubeObject {
  const metadata = { namespace: 'test', name, uid, resourceVersion: String(version), ...more };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata };
}

describe('an own write that a list has shown', () => {
  it('is not taken for one that a later list may miss', () => {
    const store = newStore();
    store.observeWrite(object('a', 'u', 10));
    const list = store.beginReplacement();
    list.put(object('a', 'u', 10));
    list.commit('10');
    store.beginReplacement().commit('9');
    expect(store.size).toBe(0);
  });
});

describe('who listens to a store', () => {
  const listened = (options: Partial<StoreOptions> = {}) => {
    const store = newStore(options);
    const heard: string[] = [];
    const stop = store.subscribe(({ type, object: { metadata }, origin }) => {
      heard.push(`${type} ${metadata.uid}@${metadata.resourceVersion} ${origin}`);
    });
    return { store, heard, stop };
  };

  it('is told that one object has ended before another of its name begins', () => {
    const { store, heard } = listened();
    store.put(object('a', 'u', 10));
    store.put(object('a', 'v', 12));
    expect(heard).toEqual(['added u@10 watch', 'deleted u@10 watch', 'added v@12 watch']);
  });

  it('is told of what a list shows, and not of what it shows again', () => {
    const { store, heard } = listened();
    for (const version of [10, 10, 12]) {
      const list = store.beginReplacement();
      list.put(object('a', 'u', version));
      list.commit('12');
    }
    expect(heard).toEqual(['added u@10 list', 'updated u@12 list']);
  });

  it('is told nothing any more once it has left', () => {
    const { store, heard, stop } = listened();
    stop();
    store.put(object('a', 'u', 10));
    expect(heard).toEqual([]);
  });

  it('is told though another one fails at it, which is logged', () => {
    const log = new RecordingLog();
    const store = newStore({ log });
    const heard: string[] = [];
    store.subscribe(() => {
      throw new Error('broken');
    });
    store.subscribe(({ type }) => void heard.push(type));
    store.put(object('a', 'u', 10));
    expect([heard, log.entries.map(({ level, message }) => `${level} ${message}`)]).toEqual([
      ['added'],
      ['error a change listener threw'],
    ]);
  });
});

describe('what a store answers', () => {
  it('is of one namespace where that is asked for', () => {
    const store = newStore();
    store.put(object('a', 'u', 10));
    store.put(object('a', 'v', 11, { namespace: 'other' }));
    const uids = (namespace?: string) => store.list(namespace).map(({ metadata }) => metadata.uid);
    expect([uids(), uids('other'), uids('none'), store.size]).toEqual([['u', 'v'], ['v'], [], 2]);
  });

  it('is found by what it says now, not by what it said before', () => {
    const store = newStore({ indexes: { side: ({ metadata }) => [metadata.labels?.side ?? 'none'] } });
    store.put(object('a', 'u', 10, { labels: { side: 'left' } }));
    store.put(object('a', 'u', 11, { labels: { side: 'right' } }));
    expect([store.byIndex('side', 'left').length, store.byIndex('side', 'right').length]).toEqual([0, 1]);
    store.remove(object('a', 'u', 12));
    expect(store.byIndex('side', 'right')).toEqual([]);
  });

  it('has no namespace where the object has none', () => {
    expect([keyOf({ name: 'a' }), keyOf({ name: 'a', namespace: 'test' })]).toEqual(['a', 'test/a']);
  });

  it('is complete only after the first list', () => {
    const store = newStore();
    store.put(object('a', 'u', 10));
    expect(store.hasSynced).toBe(false);
    store.beginReplacement().commit('12');
    expect(store.hasSynced).toBe(true);
  });
});
