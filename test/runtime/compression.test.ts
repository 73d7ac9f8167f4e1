import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { createCompressor } from '../../src/runtime/compression.ts';
import { createStore } from '../../src/runtime/store.ts';
import { RecordingLog } from '../support/recording-log.ts';

const object = (name: string, data: unknown): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: data as Record<string, unknown>,
});

it('what is packed comes back as it was, whatever was packed before it', () => {
  const anything = fc.array(fc.tuple(fc.string({ unit: 'grapheme' }), fc.jsonValue()), { minLength: 1, maxLength: 80 });
  fc.assert(
    fc.property(anything, (all) => {
      const compressor = createCompressor();
      const objects = all.map(([name, data]) => object(name, { data }));
      const texts = objects.map((each) => JSON.stringify(each));
      const compressed = objects.map((each) => compressor.compress(each));
      expect(compressed.map((each) => JSON.stringify(compressor.decompress(each)))).toEqual(texts);
    }),
  );
});

it('an object like the one before it takes a twentieth of itself', () => {
  const compressor = createCompressor();
  const script = Array.from({ length: 200 }, (_, i) => `line ${i * 7919} of a script`).join('\n');
  compressor.compress(object('a', { script }));
  const { bytes } = compressor.compress(object('b', { script }));
  expect(bytes.length).toBeLessThan(script.length / 20);
});

it('a dictionary that objects have grown unlike is given up for one of them', () => {
  const compressor = createCompressor();
  const text = (seed: number): string =>
    Array.from({ length: 300 }, (_, i) => ((i * 7919 + seed) ** 2).toString(36)).join('');
  compressor.compress(object('old', { text: text(1) }));
  const sizes = Array.from({ length: 100 }, () => compressor.compress(object('new', { text: text(2) })).bytes.length);
  expect(sizes[0]).toBeGreaterThan(1000);
  expect(sizes.at(-1)).toBeLessThan(200);
});

it('what is looked at again soon is the same object, and only for so long', () => {
  const compressor = createCompressor();
  const first = compressor.compress(object('a', {}));
  const seen = compressor.decompress(first);
  expect(compressor.decompress(first)).toBe(seen);
  for (let i = 0; i < 100; i++) compressor.compress(object(`b${i}`, {}));
  expect(compressor.decompress(first)).not.toBe(seen);
  expect(compressor.decompress(first)).toEqual(seen);
});

describe('an object that is larger than any of ours', () => {
  const noise = (bytes: number): string => randomBytes(bytes).toString('base64');
  const large = (name: string): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      namespace: 'apps',
      uid: 'uid',
      resourceVersion: '7',
      labels: { 'app.kubernetes.io/instance': 'db', other: 'label' },
      annotations: { note: noise(10_000) },
    },
    data: { a: noise(700_000) },
  });

  it('is kept in outline: whose it is, and that it is there', () => {
    const compressor = createCompressor();
    const compressed = compressor.compress(large('a'));
    expect(compressed.bytes.length).toBeLessThan(1000);
    const labels = { 'app.kubernetes.io/instance': 'db' };
    const metadata = { name: 'a', namespace: 'apps', uid: 'uid', resourceVersion: '7', labels };
    expect(compressor.decompress(compressed)).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
      spec: {},
      status: {},
      isOutline: true,
    });
  });

  it('is known to a store by its cluster, and does not hold up its memory', () => {
    const byInstance = ({ metadata }: KubeObject): string[] => [metadata.labels?.['app.kubernetes.io/instance'] ?? ''];
    const store = createStore({ resource: 'configmaps', log: new RecordingLog(), indexes: { byInstance } });
    store.put(large('a'));
    store.put({ ...large('a'), metadata: { ...large('a').metadata, resourceVersion: '8' } });
    expect(store.byIndex('byInstance', 'db').map(({ metadata }) => metadata.resourceVersion)).toEqual(['8']);
    store.remove({ ...large('a'), metadata: { ...large('a').metadata, resourceVersion: '9' } });
    expect(store.byIndex('byInstance', 'db')).toEqual([]);
  });

  it('that is a little smaller keeps no more of itself as a dictionary than deflate uses', () => {
    const compressor = createCompressor();
    const dictionaries = new Set<Buffer>();
    for (let i = 0; i < 200; i++)
      dictionaries.add(compressor.compress(object(`n-${i}`, { text: noise(100_000) })).dictionary);
    expect([...dictionaries].map(({ byteLength }) => byteLength).filter((bytes) => bytes > 32 * 1024)).toEqual([]);
    const like = compressor.compress(object('like', { text: noise(100_000) }));
    expect(compressor.decompress(like).metadata.name).toBe('like');
  });
});
