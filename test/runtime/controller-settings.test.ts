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
  const limit = { CLUSTERWRIGHT_MAX_CONCURRENT_ROLLOUTS: '0' };
  expect(controllerSettings({ ...env, ...limit })).toEqual({
    imageRegistry: undefined,
    selector: undefined,
    maxConcurrentRollouts: 1,
    faults: [
      expect.stringMatching(/^CLUSTERWRIGHT_IMAGE_REGISTRY must be a registry/),
      expect.stringMatching(/^CLUSTERWRIGHT_RESOURCE_SELECTOR must be a label selector/),
      'CLUSTERWRIGHT_MAX_CONCURRENT_ROLLOUTS must be from 1 to 10000',
    ],
  });
});

it.each([
  [undefined, 1],
  ['', 1],
  ['3', 3],
  ['10000', 10_000],
])('%j lets so many clusters roll out at once: %d', (limit, expected) => {
  const found = controllerSettings({ CLUSTERWRIGHT_MAX_CONCURRENT_ROLLOUTS: limit });
  expect([found.maxConcurrentRollouts, found.faults]).toEqual([expected, []]);
});

it.each(['0', '-1', '1.5', 'many', '10001'])('%j is no number of clusters', (limit) => {
  expect(controllerSettings({ CLUSTERWRIGHT_MAX_CONCURRENT_ROLLOUTS: limit }).faults).toHaveLength(1);
});
