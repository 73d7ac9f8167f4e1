/** An operator of engines without backups may read every kind that the cache waits for before it begins. */
import { expect, test } from 'vitest';
import { childResources, optionalResources } from '../../src/api/child-resources.ts';
import { redis } from '../../src/engines/redis/index.ts';
import { defineEngine, handlersOf } from '../../src/jobs/handlers.ts';
import { watchedPermissions } from '../../src/jobs/permissions.ts';

test('every kind that is waited for may be listed and watched', () => {
  // As test/package/memcached/index.ts declares them.
  const permissions = [
    { apiGroups: [''], resources: ['services'], verbs: ['get', 'list', 'watch', 'create', 'patch'] },
    { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch', 'patch', 'delete'] },
    { apiGroups: ['apps'], resources: ['statefulsets'], verbs: ['get', 'list', 'watch', 'create', 'patch'] },
    { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: ['get', 'list', 'watch', 'create', 'patch'] },
  ];
  const { backup: _, ...kept } = defineEngine(redis).handler('agent:1');
  const caching = { definition: redis.definition, handler: () => ({ ...kept, permissions }) };
  const rules = watchedPermissions(handlersOf([caching]));
  const missing = childResources.filter(
    (resource) =>
      !optionalResources.includes(resource) &&
      !rules.some(
        ({ apiGroups, resources, verbs }) =>
          apiGroups.includes(resource.group) && resources.includes(resource.plural) && verbs.includes('watch'),
      ),
  );
  expect(missing.map(({ plural }) => plural)).toEqual([]);
});
