/**
 * `clusterwright up`: the operator and a sample cluster, running.
 *
 * Without `--context` on the sandbox, which is started for it; with it on that cluster. A cluster that was not named is
 * never touched: the current context of a kubeconfig does not count.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { imageReference } from '../sandbox/images/recipe.ts';
import { operatorImage } from '../sandbox/images/recipes.ts';
import { createProgress, type Progress } from '../sandbox/progress.ts';
import { defaultBundle, loadImages, sandboxEnv, up as sandboxUp } from '../sandbox/sandbox.ts';
import { systemClock } from '../system/clock.ts';
import type { CliContext, Command } from './cli-context.ts';
import type { Target } from './connection.ts';
import { type Deployed, deploy } from './deploy/deploy.ts';
import { createDiscovery } from './deploy/discovery.ts';
import { imagesOf, recipeName } from './deploy/images.ts';
import { type Manifests, packageRoot, readManifests, withImage } from './deploy/manifests.ts';
import { summaryText } from './deploy/summary.ts';
import { CommandError } from './fault.ts';

export interface UpArguments {
  readonly context?: string | undefined;
  readonly kubeconfig?: string | undefined;
  /** The operator's image, with `context`. */
  readonly image?: string | undefined;
  /** Of the sandbox. */
  readonly nodes: number;
}

export const up: Command<UpArguments> = async (args, cli) => {
  const { context, kubeconfig, image, nodes } = args;
  if (context === undefined && (image !== undefined || kubeconfig !== undefined)) {
    throw new CommandError('--image and --kubeconfig go with --context; without it, the sandbox is used');
  }
  if (context !== undefined && image === undefined) {
    throw new CommandError('--context needs --image: the operator image that this cluster can pull');
  }
  const progress = createProgress({ env: cli.env });
  const root = packageRoot();
  const manifests = await readManifests(root);
  if (context === undefined || image === undefined) {
    await upSandbox(manifests, { root, nodes, progress }, cli);
    return 0;
  }
  const changed = { ...manifests, operator: withImage(manifests.operator, image) };
  const deployed = await deployTo({ context, kubeconfig }, changed, progress, cli);
  cli.stdout(summaryText(deployed, { engines: await cli.handlers(), command: cli.command, context }));
  return 0;
};

async function upSandbox(
  manifests: Manifests,
  { root, nodes, progress }: { readonly root: string; readonly nodes: number; readonly progress: Progress },
  cli: CliContext,
): Promise<void> {
  if (nodes < 1) throw new CommandError('--nodes must be at least 1: pods need a node');
  const bundle = join(root, defaultBundle);
  const content = await readBundle(bundle);
  await sandboxUp({ nodes }, progress);
  const recipes = await cli.images();
  const samples = imagesOf(await cli.handlers(), manifests.samples).map((image) => recipeName(image, recipes));
  await loadImages([operatorImage, ...samples], { bundle, recipes }, progress);

  const { KUBECONFIG, PATH } = sandboxEnv();
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 16);
  const changed = { ...manifests, operator: withImage(manifests.operator, imageReference(operatorImage), hash) };
  const deployed = await deployTo({ kubeconfig: KUBECONFIG }, changed, progress, cli);
  const [kubectl] = PATH.split(delimiter);
  const shell = `export KUBECONFIG='${KUBECONFIG}' PATH='${kubectl}${delimiter}'"$PATH"`;
  cli.stdout(summaryText(deployed, { engines: await cli.handlers(), command: cli.command, shell }));
}

async function readBundle(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new CommandError(`${path} cannot be read; it is made with: npm run build`, { cause });
  }
}

async function deployTo(target: Target, manifests: Manifests, progress: Progress, cli: CliContext): Promise<Deployed> {
  const discovery = createDiscovery();
  const connection = await cli.connect({ ...target, resourceOf: discovery.resourceOf });
  try {
    return await deploy(manifests, { client: connection.client, discovery, clock: systemClock, progress });
  } finally {
    await connection.close();
  }
}
