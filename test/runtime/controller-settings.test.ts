import { expect, it } from 'vitest';
import { controllerSettings } from '../../src/runtime/controller-settings.ts';

it.each([
  [{}, undefined, undefined],
  [{ CLUSTERWRIGHT_IMAGE_REGISTRY: '', CLUSTERWRIGHT_RESOURCE_SELECTOR: '' }, undefined, undefined],
  [
    { CLUSTERWRIGHT_IMAGE_REGISTRY: 'r.example/mirror', CLUSTERWRIGHT_RESOURCE_SELECTOR: 'tier in (blue)' },
    'r.example/mirror',
    'tier in (blue)',
  ],
])('%j is the registry %s and the selector %s', (env, registry, text) => {
  const { imageRegistry, selector, faults } = controllerSettings(env);
  expect([imageRegistry, selector?.text, faults]).toEqual([registry, text, []]);
});

it('names each variable that is not valid, and takes none of them', () => {
  const env = { CLUSTERWRIGHT_IMAGE_REGISTRY: 'mirror', CLUSTERWRIGHT_RESOURCE_SELECTOR: 'a b' };
  expect(controllerSettings(env)).toEqual({
    imageRegistry: undefined,
    selector: undefined,
    faults: [
      expect.stringMatching(/^CLUSTERWRIGHT_IMAGE_REGISTRY must be a registry/),
      expect.stringMatching(/^CLUSTERWRIGHT_RESOURCE_SELECTOR must be a label selector/),
    ],
  });
});
