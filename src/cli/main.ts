/**
 * The command line: which commands and options there are. What a command does is in a file of its own, which is loaded
 * when it runs and not before, so that help and completion are at once.
 */
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import yargs from 'yargs';
import type { DefinedEngine } from '../jobs/handlers.ts';
import { version } from '../system/version.ts';
import type { CliContext, Command } from './cli-context.ts';
import { type Line, lineOf, ownScript } from './completion.ts';
import { CommandError } from './fault.ts';
import {
  agentImageOption,
  askOption,
  fromOption,
  namespaceOption,
  outputOption,
  required,
  targetOptions,
} from './options.ts';
import { commandName, isKubectlCompletion, programName } from './program.ts';
import { reportError } from './report.ts';
import { sandboxCommand } from './sandbox.ts';

const { env, argv, stdout, stderr, stdin } = process;
const cliContext = (engines: () => Promise<readonly DefinedEngine[]>): CliContext => ({
  env,
  program: programName(argv[1]),
  command: commandName(argv[1]),
  stdout: (output) => void stdout.write(output),
  stderr: (output) => void stderr.write(output),
  handlers: async (agentImage) => {
    const [{ handlersOf }, known] = await Promise.all([import('../jobs/handlers.ts'), engines()]);
    return handlersOf(known, agentImage);
  },
  readText: (path) => readFile(path, 'utf8'),
  readStdin: () => text(stdin),
  connect: async (target) => (await import('./connection.ts')).connect(target, env),
  dial: async (...to) => (await import('../system/dial.ts')).dialTcp(...to),
  agent: async (...task) => (await import('./backup/agent-process.ts')).runAgent(...task),
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
function inWords(message: string): string {
  const isMissing = message.startsWith('Not enough non-option arguments');
  return isMissing ? 'something is missing after the command; with --help it says what it takes' : message;
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
      .usage('$0 <command>\n\nStateful clusters on Kubernetes, and what will be done to them before it is done.')
      .command(
        'render <file>',
        'Print the objects that the controller would create, without a cluster',
        (args) =>
          required(args, 'file', 'Manifest with custom resources, or - for standard input').options({
            ...outputOption('Format [default: yaml]'),
            namespace: {
              ...namespaceOption.namespace,
              describe: 'Namespace of objects that name none [default: default]',
            },
            ...fromOption,
            ...agentImageOption,
          }),
        handle(async () => (await import('./render.ts')).render),
      )
      .command(
        'plan <subject>',
        'Print what the controller would do next; exit code 0: nothing, 2: something',
        (args) =>
          required(args, 'subject', 'Manifest, - for standard input, or KIND/NAME').options({
            ...targetOptions,
            ...namespaceOption,
            offline: { type: 'boolean', default: false, describe: 'Plan against nothing, without a cluster' },
            ...fromOption,
            ...agentImageOption,
            ...askOption,
            ...outputOption('Print the plan as data'),
          }),
        handle(async () => (await import('./plan.ts')).plan),
      )
      .command(
        'status [cluster]',
        'Show how clusters are',
        (args) =>
          args.positional('cluster', { type: 'string', describe: 'KIND/NAME [default: all]' }).options({
            ...targetOptions,
            ...namespaceOption,
            'all-namespaces': { type: 'boolean', alias: 'A', default: false, describe: 'Of all namespaces' },
            ...outputOption('Print the status as data'),
          }),
        handle(async () => (await import('./status.ts')).status),
      )
      .command('backup <command>', 'Take, list and try backups', (args) =>
        args
          .command(
            'create <cluster>',
            'Take a backup now, to where the cluster or its schedule says',
            (create) =>
              required(create, 'cluster', 'KIND/NAME').options({
                ...targetOptions,
                ...namespaceOption,
                name: { type: 'string', describe: 'Name of the Backup [default: the cluster and the time]' },
                wait: { type: 'boolean', default: true, describe: 'Wait until it is verified' },
              }),
            handle(async () => (await import('./backup/create.ts')).createBackup),
          )
          .command(
            'list',
            'Show backups and the last runs of schedules, or what a target holds',
            (list) =>
              list.options({
                ...targetOptions,
                ...namespaceOption,
                target: {
                  type: 'string',
                  describe: 'List what is in the target that this manifest or directory names; needs no cluster',
                },
                key: { type: 'string', describe: 'With --target: file with the key of encrypted backups' },
                ca: { type: 'string', describe: 'With --target: file with the authorities of the server' },
                id: { type: 'string', describe: 'With --target: the backup to begin with [default: the newest]' },
                ...outputOption('Print them as data'),
              }),
            handle(async () => (await import('./backup/list.ts')).listBackups),
          )
          .command(
            'verify <name>',
            'Restore a backup into a throw-away cluster, compare, and delete it; exit code 0: it is what it says',
            (verify) =>
              required(verify, 'name', 'Name of the Backup, or schedule/NAME').options({
                ...targetOptions,
                ...namespaceOption,
                id: { type: 'string', describe: 'Of schedule/NAME: which of its backups [default: its last good one]' },
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
            namespaces: { type: 'string', describe: 'Namespaces to serve, separated by commas [default: all]' },
            'lease-namespace': { type: 'string', describe: "Where the lease is [default: the operator's namespace]" },
            'leader-election': { type: 'boolean', default: true, describe: 'Work only while no other controller does' },
            port: { type: 'number', default: 8080, describe: 'For /healthz, /readyz and /metrics; 0 picks a free one' },
            ...agentImageOption,
            'dry-runs': { type: 'boolean', default: true, describe: 'Dry-run a pod before its template changes' },
            'log-level': {
              choices: ['debug', 'info', 'warn', 'error'],
              default: 'info',
              describe: 'Least level to log',
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
        'up',
        'Start the operator and a sample cluster: in the sandbox, or where --context says',
        (args) =>
          args.options({
            ...targetOptions,
            context: { type: 'string', describe: 'Use this cluster; no other is ever touched [default: the sandbox]' },
            image: { type: 'string', describe: 'Image of the operator that this cluster can pull' },
            nodes: { type: 'number', default: 3, describe: 'Nodes of the sandbox' },
          }),
        handle(async () => (await import('./up.ts')).up),
      )
      .command(
        'down',
        'Remove the sandbox; with --context, what up applied there, but no data',
        (args) =>
          args.options({
            ...targetOptions,
            context: { type: 'string', describe: 'The cluster to clean up [default: the sandbox]' },
            crds: { type: 'boolean', default: false, describe: 'Also delete the CRDs, if no other cluster is left' },
          }),
        handle(async () => (await import('./down.ts')).down),
      )
      .command(sandboxCommand)
      .completion(
        'completion',
        'Print the completion script of this shell, or of the one that is named: bash, zsh or fish',
        completing(names),
      )
      .option('debug', { type: 'boolean', describe: 'Show where an error comes from (also CLUSTERWRIGHT_DEBUG=1)' })
      .demandCommand(1, 'name a command; --help lists them')
      .parserConfiguration({ 'duplicate-arguments-array': false, 'parse-positional-numbers': false })
      .strict()
      .recommendCommands()
      .version(version)
      .alias({ help: 'h', version: 'v' })
      .locale('en')
      .fail((message, error) => {
        throw error ?? new CommandError(inWords(message));
      })
      .wrap(Math.min(110, stdout.columns ?? 110))
  );
}

export interface CliOptions {
  /** Loaded when a command needs them. */
  readonly engines: () => Promise<readonly DefinedEngine[]>;
}

/** Runs the command that the process was started with; its exit code is set when this resolves. */
export async function runCli({ engines }: CliOptions): Promise<void> {
  // A reader that has seen enough, such as `head`, ends us quietly.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(0);
  });
  const cli = cliContext(engines);
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
