import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { createPacker } from '../../src/runtime/packing.ts';

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
      const packer = createPacker();
      const objects = all.map(([name, data]) => object(name, { data }));
      const texts = objects.map((each) => JSON.stringify(each));
      const packed = objects.map((each) => packer.pack(each));
      expect(packed.map((each) => JSON.stringify(packer.unpack(each)))).toEqual(texts);
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

it('what is looked at again soon is the same object, and only for so long', () => {
  const packer = createPacker();
  const first = packer.pack(object('a', {}));
  const seen = packer.unpack(first);
  expect(packer.unpack(first)).toBe(seen);
  for (let i = 0; i < 100; i++) packer.pack(object(`b${i}`, {}));
  expect(packer.unpack(first)).not.toBe(seen);
  expect(packer.unpack(first)).toEqual(seen);
});
