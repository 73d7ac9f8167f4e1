/**
 * `clusterwright sandbox`: a real Kubernetes on this machine. Arguments and results only; what it does is in
 * `src/sandbox/`, which is loaded when a command runs and not before.
 */
import type { Argv, CommandModule } from 'yargs';
import type { CliContext } from './cli-context.ts';
import { attend, severalPositionals } from './sandbox-attend.ts';
import { faultCommand } from './sandbox-fault.ts';

interface UpArguments {
  readonly nodes: number;
  readonly audit: boolean;
}

const upCommand: CommandModule<object, UpArguments> = {
  command: 'up',
  describe: 'Start the sandbox, or keep the one that runs',
  builder: (yargs) =>
    yargs
      .option('nodes', { type: 'number', default: 3, describe: 'Number of nodes; 0 is a control plane only' })
      .option('audit', {
        type: 'boolean',
        default: false,
        describe: 'Write an audit log with the metadata of every request',
      }),
  handler: ({ nodes, audit }) =>
    attend(async (progress) => {
      const { up } = await import('../sandbox/sandbox.ts');
      const outcome = await up({ nodes, audit }, progress);
      if (outcome === 'started') progress.note('To use it: eval "$(clusterwright sandbox env)"');
    }),
};

const downCommand: CommandModule = {
  command: 'down',
  describe: 'Remove the sandbox and everything in it',
  handler: () =>
    attend(async (progress) => {
      const { down } = await import('../sandbox/sandbox.ts');
      await down(progress);
    }),
};

const envCommand: CommandModule = {
  command: 'env',
  describe: 'Print the shell command that sets KUBECONFIG and PATH to the sandbox',
  handler: () =>
    attend(async () => {
      const { sandboxEnv } = await import('../sandbox/sandbox.ts');
      const { KUBECONFIG, PATH } = sandboxEnv();
      process.stdout.write(`export KUBECONFIG='${KUBECONFIG}' PATH='${PATH}'\n`);
    }),
};

const statusCommand: CommandModule = {
  command: 'status',
  describe: 'Show what runs, and which faults are active',
  handler: () =>
    attend(async () => {
      const { sandboxStatus } = await import('../sandbox/status.ts');
      process.stdout.write(await sandboxStatus());
    }),
};

interface LoadArguments {
  readonly image: readonly string[];
  readonly node: string | undefined;
  readonly bundle: string | undefined;
}

const loadCommand = ({ images }: CliContext): CommandModule<object, LoadArguments> => ({
  command: 'load <image..>',
  describe: 'Load images into the nodes: archives (*.tar), or names that `sandbox images` lists',
  builder: (yargs) =>
    withBundle(yargs)
      .parserConfiguration(severalPositionals)
      .positional('image', { type: 'string', array: true, demandOption: true })
      .option('node', { type: 'string', describe: 'Only into this node' }),
  handler: ({ image, node, bundle }) =>
    attend(async (progress) => {
      const { loadImages } = await import('../sandbox/sandbox.ts');
      const recipes = await images();
      const options = { recipes, ...(node === undefined ? {} : { node }), ...(bundle === undefined ? {} : { bundle }) };
      for (const [name, nodes] of await loadImages(image, options, progress)) {
        process.stdout.write(`${name}: ${nodes.length === 0 ? 'already there' : `loaded into ${nodes.join(', ')}`}\n`);
      }
    }),
});

interface ImagesArguments {
  readonly name: readonly string[] | undefined;
  readonly bundle: string | undefined;
}

const imagesCommand = ({ images }: CliContext): CommandModule<object, ImagesArguments> => ({
  command: 'images [name..]',
  describe: 'Build images into the cache and print their archives; without names, list what can be built',
  builder: (yargs) =>
    withBundle(yargs).parserConfiguration(severalPositionals).positional('name', { type: 'string', array: true }),
  handler: ({ name, bundle }) =>
    attend(async (progress) => {
      const [{ buildImage, listImages }, recipes] = await Promise.all([import('../sandbox/sandbox.ts'), images()]);
      if (name === undefined || name.length === 0) {
        for (const { name: each, reference, size } of await listImages(recipes)) {
          const built = size === undefined ? 'not built' : `${Math.round(size / 1e6)} MB`;
          process.stdout.write(`${each.padEnd(20)} ${reference.padEnd(32)} ${built}\n`);
        }
        return;
      }
      for (const each of name) {
        const archive = await buildImage(each, { recipes, ...(bundle === undefined ? {} : { bundle }) }, progress);
        process.stdout.write(`${archive}\n`);
      }
    }),
});

function withBundle<T>(yargs: Argv<T>): Argv<T & { bundle: string | undefined }> {
  return yargs.option('bundle', {
    type: 'string',
    describe: "The controller's bundle, for the operator's image [default: build/controller.mjs]",
  });
}

export const sandboxCommand = (cli: CliContext): CommandModule => ({
  command: 'sandbox',
  describe: 'Manage a real Kubernetes on this machine, for trials and tests',
  builder: (yargs) =>
    yargs
      .command(upCommand)
      .command(downCommand)
      .command(envCommand)
      .command(statusCommand)
      .command(loadCommand(cli))
      .command(imagesCommand(cli))
      .command(faultCommand)
      .demandCommand(1, 'name a sandbox command'),
  handler: () => undefined,
});
