#!/usr/bin/env node
/** The command line of this package's engines. */
import { runCli } from './cli/main.ts';

await runCli({
  engines: async () => (await import('./engines/index.ts')).engines,
  images: async () => (await import('./engines/images.ts')).images,
});
