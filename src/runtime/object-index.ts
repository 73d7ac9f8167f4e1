/** A secondary index of a store: from a value (an owner's name, a label) to the keys of the objects that have it. */
import type { KubeObject } from '../api/object.ts';

/** The values under which an object is found. Must depend on nothing but the object. */
export type IndexFunction = (object: KubeObject) => readonly string[];

export interface ObjectIndex {
  insert(key: string, object: KubeObject): void;
  /** `object` must be the one that was inserted. */
  remove(key: string, object: KubeObject): void;
  keys(value: string): ReadonlySet<string>;
}

const none: ReadonlySet<string> = new Set();

export function createObjectIndex(valuesOf: IndexFunction): ObjectIndex {
  const keysByValue = new Map<string, Set<string>>();
  return {
    insert(key, object) {
      for (const value of valuesOf(object)) {
        const keys = keysByValue.get(value);
        if (keys === undefined) keysByValue.set(value, new Set([key]));
        else keys.add(key);
      }
    },
    remove(key, object) {
      for (const value of valuesOf(object)) {
        const keys = keysByValue.get(value);
        keys?.delete(key);
        if (keys?.size === 0) keysByValue.delete(value);
      }
    },
    keys: (value) => keysByValue.get(value) ?? none,
  };
}
