/** The images that the sandbox can make besides those of engines. Pods name them `localhost/NAME:TAG`. */
import type { ImageRecipe, LayerRecipe } from '../../engine/image-recipe.ts';
import { program } from '../binaries.ts';
import { SandboxError } from '../error.ts';

const node: readonly LayerRecipe[] = [
  { kind: 'debian', suite: 'bookworm', packages: ['libstdc++6', 'ca-certificates', 'tzdata'] },
  { kind: 'npm', package: 'node-linux-ARCH', version: '22.23.3', file: 'bin/node', to: '/usr/local/bin/node' },
];

/** The name under which the operator's image is built and loaded. */
export const operatorImage = 'clusterwright:dev';

/** Images for whatever engine, whose recipe needs nothing from this checkout. */
export const ownImages: readonly ImageRecipe[] = [
  {
    // Keeps objects as files of a directory.
    name: 's3:dev',
    layers: [{ kind: 'program', program: program('versitygw'), to: '/usr/local/bin/versitygw' }],
    config: { entrypoint: ['/usr/local/bin/versitygw'] },
  },
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

/**
 * @param images of engines
 * @throws SandboxError naming the images that there are
 */
export function findRecipe(name: string, images: readonly ImageRecipe[] = []): ImageRecipe {
  const recipes = [...images, ...ownImages];
  const found = recipes.find((recipe) => recipe.name === name);
  if (found !== undefined) return found;
  const names = [...recipes.map((recipe) => recipe.name), operatorImage].join(', ');
  throw new SandboxError(`no image is called ${name}; there are: ${names}`);
}
