#!/usr/bin/env node
/** The command line, whose `backup list --target` reads backups of journals, too. */
import { fileURLToPath } from 'node:url';
import { runCli } from 'clusterwright/cli';

await runCli({
  engines: async () => (await import('clusterwright/engines')).engines,
  agent: fileURLToPath(new URL('./agent.mjs', import.meta.url)),
});
