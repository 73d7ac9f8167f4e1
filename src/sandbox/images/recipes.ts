/** The images that the sandbox can make. Pods name them `localhost/NAME:TAG`. */
import type { Binary } from '../binaries.ts';
import { SandboxError } from '../error.ts';
import { versions } from '../layout.ts';
import { postgresImages } from './postgres.ts';
import type { ImageRecipe, LayerRecipe } from './recipe.ts';

const node: readonly LayerRecipe[] = [
  { kind: 'debian', suite: 'bookworm', packages: ['libstdc++6', 'ca-certificates', 'tzdata'] },
  { kind: 'npm', package: 'node-linux-ARCH', version: '22.23.3', file: 'bin/node', to: '/usr/local/bin/node' },
];

/** The name under which the operator's image is built and loaded. */
export const operatorImage = 'clusterwright:dev';

type EtcdPrograms = readonly [server: Binary, restorer: Binary, client: Binary];

/** etcd with what restores its snapshots and its client, like the image that it stands in for: there is no shell in it. */
const etcd = (name: string, [program, restorer, client]: EtcdPrograms, version: string): ImageRecipe => ({
  name,
  standsInFor: [`gcr.io/etcd-development/etcd:${version}`],
  layers: [
    { kind: 'program', program, version, to: '/usr/local/bin/etcd' },
    { kind: 'program', program: restorer, version, to: '/usr/local/bin/etcdutl' },
    { kind: 'program', program: client, version, to: '/usr/local/bin/etcdctl' },
  ],
  config: { entrypoint: ['/usr/local/bin/etcd'] },
});

/** Images whose recipe needs nothing from this checkout. */
export const recipes: readonly ImageRecipe[] = [
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
  etcd('etcd:3.5', ['etcd-before', 'etcdutl-before', 'etcdctl-before'], versions.etcdBefore),
  etcd('etcd:3.6', ['etcd', 'etcdutl', 'etcdctl'], versions.etcd),
  // For an engine that is written with the published package: two versions of Debian.
  {
    name: 'memcached:1.6',
    standsInFor: ['docker.io/library/memcached:1.6'],
    layers: [{ kind: 'debian', suite: 'bookworm', packages: ['memcached'], without: 'perl' }],
    config: {},
  },
  {
    name: 'memcached:1.6.38',
    standsInFor: ['docker.io/library/memcached:1.6.38'],
    layers: [{ kind: 'debian', suite: 'trixie', packages: ['memcached'], without: 'perl' }],
    config: {},
  },
  {
    // Keeps objects as files of a directory.
    name: 's3:dev',
    layers: [{ kind: 'program', program: 'versitygw', version: versions.versitygw, to: '/usr/local/bin/versitygw' }],
    config: { entrypoint: ['/usr/local/bin/versitygw'] },
  },
  ...postgresImages,
  { name: 'node:22', layers: node, config: { entrypoint: ['/usr/local/bin/node'] } },
];

/** The operator: the controller and the backup agent, a file each, on the node base. */
export function operatorRecipe(controller: string, agent: string): ImageRecipe {
  const files = [
    { path: '/controller.mjs', mode: 0o644, content: controller },
    { path: '/agent.mjs', mode: 0o644, content: agent },
  ];
  return {
    name: operatorImage,
    layers: [...node, { kind: 'files', files }],
    config: {
      // A young generation of 1 MB: as in the Dockerfile.
      entrypoint: ['/usr/local/bin/node', '--max-semi-space-size=2', '/controller.mjs'],
      user: '65532:65532',
      env: ['NODE_ENV=production'],
    },
  };
}

/** @throws SandboxError naming the images that there are */
export function findRecipe(name: string): ImageRecipe {
  const found = recipes.find((recipe) => recipe.name === name);
  if (found !== undefined) return found;
  const names = [...recipes.map((recipe) => recipe.name), operatorImage].join(', ');
  throw new SandboxError(`no image is called ${name}; there are: ${names}`);
}
