/** Redis in the sandbox, in two versions. */
import type { ImageRecipe } from '../../engine/image-recipe.ts';

export const redisImages: readonly ImageRecipe[] = [
  {
    name: 'redis:7.0',
    standsInFor: ['docker.io/library/redis:7.0'],
    layers: [{ kind: 'debian', suite: 'bookworm', packages: ['redis-server', 'redis-tools'], without: 'perl' }],
    config: {},
  },
  {
    name: 'redis:8.0',
    standsInFor: ['docker.io/library/redis:8.0'],
    layers: [{ kind: 'debian', suite: 'trixie', packages: ['redis-server', 'redis-tools'] }],
    config: {},
  },
];
