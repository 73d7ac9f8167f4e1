/**
 * Redis and Valkey in the sandbox, each in two versions. With coreutils and dash, as the official images: the `timeout` of busybox, which its shell prefers,
 * leaves a process to the first one of the container, and Redis, which is that, does not wait for it. Each probe would leave a zombie.
 */
import type { ImageRecipe } from '../../engine/image-recipe.ts';

export const redisImages: readonly ImageRecipe[] = [
  {
    name: 'redis:7.0',
    standsInFor: ['docker.io/library/redis:7.0'],
    layers: [
      {
        kind: 'debian',
        suite: 'bookworm',
        packages: ['redis-server', 'redis-tools', 'coreutils', 'dash'],
        without: 'perl',
      },
    ],
    config: {},
  },
  {
    name: 'redis:8.0',
    standsInFor: ['docker.io/library/redis:8.0'],
    layers: [{ kind: 'debian', suite: 'trixie', packages: ['redis-server', 'redis-tools', 'coreutils', 'dash'] }],
    config: {},
  },
  {
    name: 'valkey:8.1',
    standsInFor: ['docker.io/valkey/valkey:8.1'],
    layers: [{ kind: 'debian', suite: 'trixie', packages: ['valkey-server', 'valkey-tools', 'coreutils', 'dash'] }],
    config: {},
  },
  {
    name: 'valkey:9.1',
    standsInFor: ['docker.io/valkey/valkey:9.1'],
    layers: [
      {
        kind: 'debian',
        suite: 'forky',
        packages: ['valkey-server', 'valkey-tools', 'coreutils', 'dash'],
        without: 'perl',
      },
    ],
    config: {},
  },
  // The first release of Debian with a version that can be told to ask nobody but its own server.
  {
    name: 'redis-exporter:1.86',
    standsInFor: ['docker.io/oliver006/redis_exporter:v1.86.0-alpine'],
    layers: [{ kind: 'debian', suite: 'forky', packages: ['prometheus-redis-exporter'], without: 'perl' }],
    config: {},
  },
  {
    name: 'haproxy:3.0',
    standsInFor: ['docker.io/library/haproxy:3.0'],
    layers: [{ kind: 'debian', suite: 'trixie', packages: ['haproxy', 'coreutils', 'dash'] }],
    config: {},
  },
];
