/** Everything that comes out of an asynchronous iterable. */

export async function collected<T>(source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
}

export async function collectedBytes(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await collected(source));
}
