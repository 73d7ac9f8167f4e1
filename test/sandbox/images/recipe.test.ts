import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { images } from '../../../src/engines/images.ts';
import { recipeOf } from '../../../src/sandbox/images/build.ts';
import { parseImageList } from '../../../src/sandbox/images/load.ts';
import { imageReference, recipeKey } from '../../../src/sandbox/images/recipe.ts';
import { findRecipe, operatorRecipe, ownImages } from '../../../src/sandbox/images/recipes.ts';

const recipes = [...images, ...ownImages];

describe('recipes', () => {
  it('have names of their own, and of the form that a pod names', () => {
    expect(new Set(recipes.map(({ name }) => name)).size).toBe(recipes.length);
    for (const { name } of recipes) expect(imageReference(name)).toMatch(/^localhost\/[a-z0-9-]+:[a-z0-9.-]+$/);
  });

  it('are found by name, and a wrong name is answered with the right ones', () => {
    expect(findRecipe('redis:7.0', images).layers).toEqual([
      {
        kind: 'debian',
        suite: 'bookworm',
        packages: ['redis-server', 'redis-tools', 'coreutils', 'dash'],
        without: 'perl',
      },
    ]);
    expect(() => findRecipe('redis:6', images)).toThrow(
      /no image is called redis:6; there are: redis:7\.0, .*clusterwright:dev/,
    );
  });

  it('have a row each in docs/sandbox.md, with what they stand in for', () => {
    const page = readFileSync('docs/sandbox.md', 'utf8');
    const section = page.split('\n## Images\n')[1]?.split('\n## ')[0] ?? '';
    const rows = section.split('\n').filter((line) => line.startsWith('| `'));
    const all = [...recipes, operatorRecipe('', '')];
    expect(rows.map((row) => row.split(' | ').slice(0, 2).join(' | '))).toEqual(
      all.map(
        ({ name, standsInFor = [] }) => `| \`${name}\` | ${standsInFor.map((image) => `\`${image}\``).join(', ')}`,
      ),
    );
  });

  it('that differ have different keys, and the same have the same', () => {
    const keys = [...recipes, operatorRecipe('a', 'x'), operatorRecipe('b', 'x'), operatorRecipe('a', 'y')].map(
      recipeKey,
    );
    expect(new Set(keys).size).toBe(keys.length);
    expect(recipeKey(operatorRecipe('a', 'x'))).toBe(recipeKey(operatorRecipe('a', 'x')));
  });

  it('of the operator end in its bundles alone: a rebuild keeps the layers below', () => {
    const [one, other] = [operatorRecipe('a', 'x').layers, operatorRecipe('b', 'y').layers];
    expect(one.slice(0, -1)).toEqual(other.slice(0, -1));
    expect(one.slice(0, -1)).toEqual(findRecipe('node:22').layers);
    const files = [
      { path: '/controller.mjs', mode: 0o644, content: 'a' },
      { path: '/agent.mjs', mode: 0o644, content: 'x' },
    ];
    expect(one.at(-1)).toEqual({ kind: 'files', files });
  });

  it('of the operator run as nobody', () => {
    expect(operatorRecipe('', '').config.user).toBe('65532:65532');
  });

  it('of the operator ask for the bundle that is missing', async () => {
    await expect(recipeOf('clusterwright:dev', '/nowhere/controller.mjs')).rejects.toThrow(
      /no \/nowhere\/controller\.mjs: build it first/,
    );
  });
});

describe("containerd's list of images", () => {
  it('gives digests by reference', () => {
    const text = [
      'REF                 TYPE                                       DIGEST         SIZE    PLATFORMS   LABELS',
      'localhost/redis:7.0 application/vnd.oci.image.manifest.v1+json sha256:aa11    95 MiB  linux/amd64 -',
      '',
    ].join('\n');
    expect([...parseImageList(text)]).toEqual([['localhost/redis:7.0', 'sha256:aa11']]);
  });
});
