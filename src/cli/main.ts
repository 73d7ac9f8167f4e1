/// <reference types="node" preserve="true" />
/**
 * The command line: which commands and options there are. What a command does is in a file of its own, which is loaded
 * when it runs and not before, so that help and completion are at once.
 */
import { readdir, readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import yargs from 'yargs';
import type { ImageRecipe } from '../engine/image-recipe.ts';
import type { DefinedEngine } from '../jobs/handlers.ts';
import { version } from '../system/version.ts';
import type { CliContext, Command } from './cli-context.ts';
import { type Line, lineOf, ownScript } from './completion.ts';
import { CommandError } from './fault.ts';
import {
  agentImageOption,
  askOption,
  fromOption,
  imageRegistryOption,
  namespaceOption,
  operatorNamespaceOption,
  outputOption,
  required,
  targetOptions,
} from './options.ts';
import { commandName, isKubectlCompletion, programName } from './program.ts';
import { reportError } from './report.ts';
import { sandboxCommand } from './sandbox.ts';

const { env, argv, stdout, stderr, stdin } = process;
const cliContext = ({ engines, images = async () => [], agent }: CliOptions): CliContext => ({
  env,
  program: programName(argv[1]),
  command: commandName(argv[1]),
  stdout: (output) => void stdout.write(output),
  stderr: (output) => void stderr.write(output),
  handlers: async (agentImage, installation) => {
    const [{ handlersOf }, known] = await Promise.all([import('../jobs/handlers.ts'), engines()]);
    return handlersOf(known, agentImage, installation);
  },
  images,
  readText: (path) => readFile(path, 'utf8'),
  readFolder: (path) => readdir(path),
  readStdin: () => text(stdin),
  connect: async (target) => (await import('./connection.ts')).connect(target, env),
  dial: async (...to) => (await import('../system/dial.ts')).dialTcp(...to),
  agent: async (...task) => (await import('./backup/agent-process.ts')).runAgent(...task, agent),
  now: () => Date.now(),
});

type Completions = (error: Error | null, list: string[] | undefined) => void;

/** What yargs finds, and the names. Options come only where one is begun: elsewhere files may follow. */
function completing(names: readonly string[]) {
  return (current: string, _argv: unknown, found: (then: Completions) => void, done: (list: string[]) => void): void =>
    found((_error, list = []) => {
      const fitting = [...names, ...list].filter((item) => item.startsWith(current));
      done(fitting.filter((item) => current.startsWith('-') || !item.startsWith('-')));
    });
}

/** What yargs calls non-option arguments, and counts, nobody calls so. */
function inWords(message: string, words: readonly string[]): string {
  if (!message.startsWith('Not enough non-option arguments')) return message;
  // What follows an option that yargs does not know counts as its value.
  const options = words.filter((word) => word.startsWith('--')).map((word) => word.replace(/=.*/s, ''));
  const misspelled = options.length === 0 ? '' : `, or an option is misspelled (${options.join(', ')})`;
  return `an argument is missing${misspelled}; add --help to the command to see its arguments`;
}

function commandLine({ words, names }: Line, cli: CliContext) {
  /** Runs a command that is loaded now. */
  function handle<Arguments>(load: () => Promise<Command<Arguments>>): (args: Arguments) => Promise<void> {
    return async (args) => {
      process.exitCode = await (await load())(args, cli);
    };
  }
  return (
    yargs([...words])
      // kubectl has a completion of its own, so a script is never for its name.
      .scriptName(words[0] === 'completion' ? 'clusterwright' : cli.program)
      .usage('$0 <command>\n\nOperate stateful clusters on Kubernetes, and see each change before it is made.')
      .command(
        'render <file>',
        'Print the objects that the controller would create; needs no Kubernetes cluster',
        (args) =>
          required(args, 'file', 'Manifest with custom resources, a folder of them, or - for standard input').options({
            ...outputOption('Format [default: yaml]'),
            namespace: {
              ...namespaceOption.namespace,
              describe: 'Namespace of objects without one [default: default]',
            },
            ...fromOption,
            ...agentImageOption,
            ...imageRegistryOption,
            ...operatorNamespaceOption,
          }),
        handle(async () => (await import('./render.ts')).render),
      )
      .command(
        'plan <subject>',
        'Print what the controller would do next; the exit code is 0 for no change, 2 for changes',
        (args) =>
          required(args, 'subject', 'Manifest, a folder of them, - for standard input, or KIND/NAME').options({
            ...targetOptions,
            ...namespaceOption,
            offline: {
              type: 'boolean',
              default: false,
              describe: 'Plan for a new cluster; needs no Kubernetes cluster',
            },
            ...fromOption,
            ...agentImageOption,
            ...imageRegistryOption,
            ...operatorNamespaceOption,
            ...askOption,
            ...outputOption('Print the plan as data'),
          }),
        handle(async () => (await import('./plan.ts')).plan),
      )
      .command(
        'status [cluster]',
        'Show cluster status',
        (args) =>
          args.positional('cluster', { type: 'string', describe: 'KIND/NAME [default: all]' }).options({
            ...targetOptions,
            ...namespaceOption,
            'all-namespaces': {
              type: 'boolean',
              alias: 'A',
              default: false,
              describe: 'Show clusters in all namespaces',
            },
            ...outputOption('Print the status as data'),
          }),
        handle(async () => (await import('./status.ts')).status),
      )
      .command('backup <command>', 'Take, list and verify backups', (args) =>
        args
          .command(
            'create <cluster>',
            'Take a backup now, into the target of the cluster or of its schedule',
            (create) =>
              required(create, 'cluster', 'KIND/NAME').options({
                ...targetOptions,
                ...namespaceOption,
                name: { type: 'string', describe: 'Name of the Backup [default: made of the cluster and the time]' },
                wait: { type: 'boolean', default: true, describe: 'Wait until the backup is verified' },
              }),
            handle(async () => (await import('./backup/create.ts')).createBackup),
          )
          .command(
            'list',
            'Show backups and the last runs of schedules, or the backups in a target',
            (list) =>
              list.options({
                ...targetOptions,
                ...namespaceOption,
                target: {
                  type: 'string',
                  describe:
                    'Manifest with the target, or directory: list the backups in it; needs no Kubernetes cluster',
                },
                key: { type: 'string', describe: 'With --target: file with the key of encrypted backups' },
                ca: { type: 'string', describe: 'With --target: file with the CA certificates of the server' },
                id: {
                  type: 'string',
                  describe: 'With --target: the backup in the printed restore [default: the newest]',
                },
                ...outputOption('Print the backups as data'),
              }),
            handle(async () => (await import('./backup/list.ts')).listBackups),
          )
          .command(
            'verify <name>',
            'Restore a backup into a temporary cluster, compare the data, and delete the cluster; the exit code is 0 if the data is the same',
            (verify) =>
              required(verify, 'name', 'Name of the Backup, or schedule/NAME').options({
                ...targetOptions,
                ...namespaceOption,
                id: {
                  type: 'string',
                  describe: 'With schedule/NAME: ID of the backup [default: the last verified one]',
                },
                ...askOption,
                timeout: { type: 'number', default: 900, describe: 'Seconds that the restore may take' },
              }),
            handle(async () => (await import('./backup/verify.ts')).verifyBackup),
          )
          .demandCommand(1, 'name a command; --help lists them'),
      )
      .command(
        'run',
        'Run the controller on this machine',
        (args) =>
          args.options({
            ...targetOptions,
            namespaces: { type: 'string', describe: 'Namespaces to watch, separated by commas [default: all]' },
            'lease-namespace': {
              type: 'string',
              describe: "Namespace of the lease [default: the operator's namespace]",
            },
            'resource-selector': {
              type: 'string',
              describe: "Label selector of the resources to serve [default: the operator's, else all]",
            },
            'leader-election': {
              type: 'boolean',
              default: true,
              describe: 'Act only while this process holds the lease',
            },
            port: {
              type: 'number',
              default: 8080,
              describe: 'Port of /healthz, /readyz and /metrics; 0 picks a free one',
            },
            ...agentImageOption,
            ...imageRegistryOption,
            ...operatorNamespaceOption,
            'max-concurrent-rollouts': {
              type: 'number',
              describe:
                'How many clusters may restart pods for changes at once [default: as the installed operator, or 1]',
            },
            'dry-runs': {
              type: 'boolean',
              default: true,
              describe: 'Dry-run pods before templates change and before pods restart',
            },
            'log-level': {
              choices: ['debug', 'info', 'warn', 'error'],
              default: 'info',
              describe: 'Minimum log level',
            },
          } as const),
        handle(async () => (await import('./run.ts')).run),
      )
      .command(
        'crds',
        'Print the CustomResourceDefinitions',
        (args) => args.options(outputOption('Format [default: yaml]')),
        handle(async () => (await import('./crds.ts')).crds),
      )
      .command(
        'reference <kind>',
        'Print the reference page of a kind, as Markdown',
        (args) => required(args, 'kind', 'Kind, plural or short name'),
        handle(async () => (await import('./reference.ts')).reference),
      )
      .command(
        'up',
        'Start the operator and samples in the sandbox, or in the Kubernetes cluster of --context',
        (args) =>
          args.options({
            ...targetOptions,
            context: { type: 'string', describe: 'Context of the Kubernetes cluster to use [default: the sandbox]' },
            image: {
              type: 'string',
              describe: 'Image of the operator; the Kubernetes cluster must be able to pull it',
            },
            nodes: { type: 'number', default: 3, describe: 'Number of nodes of the sandbox' },
          }),
        handle(async () => (await import('./up.ts')).up),
      )
      .command(
        'down',
        'Remove the sandbox; with --context, remove what up applied there, except data',
        (args) =>
          args.options({
            ...targetOptions,
            context: { type: 'string', describe: 'Context of the Kubernetes cluster to use [default: the sandbox]' },
            crds: { type: 'boolean', default: false, describe: 'Also delete the CRDs, if no other cluster is left' },
          }),
        handle(async () => (await import('./down.ts')).down),
      )
      .command(sandboxCommand(cli))
      .completion('completion', 'Print the completion script of this shell, or of bash, zsh or fish', completing(names))
      .option('debug', { type: 'boolean', describe: 'Print the stack trace of an error (also CLUSTERWRIGHT_DEBUG=1)' })
      .demandCommand(1, 'name a command; --help lists them')
      .parserConfiguration({ 'duplicate-arguments-array': false, 'parse-positional-numbers': false })
      .strict()
      .recommendCommands()
      .version(version)
      .alias({ help: 'h', version: 'v' })
      .locale('en')
      .fail((message, error) => {
        throw error ?? new CommandError(inWords(message, words));
      })
      .wrap(Math.min(110, stdout.columns ?? 110))
  );
}

export interface CliOptions {
  /** Loaded when a command needs them. */
  readonly engines: () => Promise<readonly DefinedEngine[]>;
  /** What `sandbox images` and `sandbox load` know besides the sandbox's own images. Loaded when a command needs them. */
  readonly images?: () => Promise<readonly ImageRecipe[]>;
  /** Path of the backup agent's bundle, for `backup list --target`. Default: that of this package. */
  readonly agent?: string;
}

/** Runs the command that the process was started with; its exit code is set when this resolves. */
export async function runCli(options: CliOptions): Promise<void> {
  // A reader that has seen enough, such as `head`, ends us quietly.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(0);
  });
  const cli = cliContext(options);
  const args = argv.slice(2);
  const byKubectl = isKubectlCompletion(argv[1]);
  // The last line tells kubectl whether files may follow: 0 is yes, where there is nothing else.
  if (byKubectl) process.once('exit', () => stdout.write(':0\n'));
  try {
    const script = ownScript(args, env);
    if (script === undefined) await commandLine(await lineOf(args, byKubectl, cli), cli).parseAsync();
    else cli.stdout(script);
  } catch (error) {
    reportError(error, cli, args.includes('--debug') || (env.CLUSTERWRIGHT_DEBUG ?? '') !== '');
    process.exitCode = 1;
  }
}
