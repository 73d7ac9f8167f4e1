/** A pure function of one object, worked out once for each: values are never changed, so identity is enough. */
export function memoize<Key extends object, Value>(work: (key: Key) => Value): (key: Key) => Value {
  const known = new WeakMap<Key, { readonly value: Value }>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found.value;
    const value = work(key);
    known.set(key, { value });
    return value;
  };
}
