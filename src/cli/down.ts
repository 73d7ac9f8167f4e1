/** `clusterwright down`: takes the sandbox down; with `--context`, takes back what `up` applied there, and no data. */

import { createProgress } from '../sandbox/progress.ts';
import { down as sandboxDown } from '../sandbox/sandbox.ts';
import { systemClock } from '../system/clock.ts';
import type { Command } from './cli-context.ts';
import { createDiscovery } from './deploy/discovery.ts';
import { packageRoot, readManifests } from './deploy/manifests.ts';
import { remove } from './deploy/removal.ts';
import { CommandError } from './fault.ts';

export interface DownArguments {
  readonly context?: string | undefined;
  readonly kubeconfig?: string | undefined;
  readonly crds: boolean;
}

export const down: Command<DownArguments> = async ({ context, kubeconfig, crds }, cli) => {
  const progress = createProgress({ env: cli.env });
  if (context === undefined) {
    if (crds || kubeconfig !== undefined) {
      throw new CommandError('--crds and --kubeconfig go with --context; without it, the sandbox is taken down whole');
    }
    await sandboxDown(progress);
    return 0;
  }
  const manifests = await readManifests(packageRoot());
  const discovery = createDiscovery();
  const connection = await cli.connect({ context, kubeconfig, resourceOf: discovery.resourceOf });
  try {
    const kept = await remove(manifests, {
      engines: await cli.handlers(),
      client: connection.client,
      discovery,
      clock: systemClock,
      progress,
      crds,
    });
    for (const thing of kept) cli.stderr(`Kept: ${thing}\n`);
    return 0;
  } finally {
    await connection.close();
  }
};
