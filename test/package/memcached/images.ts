/** memcached in the sandbox: the packages of two versions of Debian. */
import type { ImageRecipe } from 'clusterwright/engine';

const image = (tag: string, suite: 'bookworm' | 'trixie'): ImageRecipe => ({
  name: `memcached:${tag}`,
  standsInFor: [`docker.io/library/memcached:${tag}`],
  layers: [{ kind: 'debian', suite, packages: ['memcached'], without: 'perl' }],
  config: {},
});

export const images: readonly ImageRecipe[] = [image('1.6', 'bookworm'), image('1.6.38', 'trixie')];
