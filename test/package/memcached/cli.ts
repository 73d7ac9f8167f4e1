#!/usr/bin/env node
/** The command line with memcached beside the engines of clusterwright. */
import { runCli } from 'clusterwright/cli';

await runCli({
  engines: async () => [...(await import('clusterwright/engines')).engines, (await import('./index.js')).memcached],
  images: async () => (await import('./images.js')).images,
});
