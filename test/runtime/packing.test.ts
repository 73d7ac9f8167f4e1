import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { createPacker, unpack } from '../../src/runtime/packing.ts';

const object = (name: string, data: unknown): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: data as Record<string, unknown>,
});

it('what is packed comes back as it was, whatever was packed before it', () => {
  const anything = fc.array(fc.tuple(fc.string({ unit: 'grapheme' }), fc.jsonValue()), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(anything, (all) => {
      const packer = createPacker();
      const objects = all.map(([name, data]) => object(name, { data }));
      const packed = objects.map((each) => packer.pack(each));
      expect(packed.map(unpack)).toEqual(objects.map((each) => JSON.parse(JSON.stringify(each))));
    }),
  );
});

it('an object like the one before it takes a twentieth of itself', () => {
  const packer = createPacker();
  const script = Array.from({ length: 200 }, (_, i) => `line ${i * 7919} of a script`).join('\n');
  packer.pack(object('a', { script }));
  const { bytes } = packer.pack(object('b', { script }));
  expect(bytes.length).toBeLessThan(script.length / 20);
});

it('a dictionary that objects have grown unlike is given up for one of them', () => {
  const packer = createPacker();
  const text = (seed: number): string =>
    Array.from({ length: 300 }, (_, i) => ((i * 7919 + seed) ** 2).toString(36)).join('');
  packer.pack(object('old', { text: text(1) }));
  const sizes = Array.from({ length: 100 }, () => packer.pack(object('new', { text: text(2) })).bytes.length);
  expect(sizes[0]).toBeGreaterThan(1000);
  expect(sizes.at(-1)).toBeLessThan(200);
});

