/**
 * What may follow on a command line. yargs knows commands and options; names of clusters come from the cluster, and are
 * fetched before yargs is asked, because it ends the process with what it has.
 */
import { Parser } from 'yargs/helpers';
import { type CliContext, standardInput } from './cli-context.ts';
import { CommandError } from './fault.ts';
import { namespaceOption, targetOptions } from './options.ts';

/** Somebody is waiting at a prompt. */
const patienceMs = 2000;

/** Commands whose first argument may be `KIND/NAME`. */
const naming: ReadonlySet<string> = new Set(['plan', 'status']);

/**
 * `KIND/NAME` of the clusters that the last word may become; nothing where no such name is expected, or where the
 * cluster does not answer in time: a prompt is no place for errors.
 *
 * @param words all words of the line after the program, up to the one at the cursor
 */
export async function clusterNames(words: readonly string[], cli: CliContext): Promise<string[]> {
  const target = parse(words.slice(0, -1));
  const [command, ...others] = target.words;
  const current = words.at(-1) ?? '';
  if (command === undefined || !naming.has(command) || others.length > 0 || current.startsWith('-')) return [];
  if (takesValue(words.at(-2))) return [];
  const late = new Promise<string[]>((resolve) => setTimeout(resolve, patienceMs, []).unref());
  try {
    return await Promise.race([fetchNames(target, cli), late]);
  } catch {
    // No kubeconfig, no server, no rights: the command itself will say so.
    return [];
  }
}

interface Asked {
  readonly words: readonly string[];
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly namespace: string | undefined;
}

const valued = { ...targetOptions, ...namespaceOption };

function parse(words: readonly string[]): Asked {
  const parsed = Parser([...words], { string: Object.keys(valued), alias: { namespace: ['n'] } });
  const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
  return {
    words: parsed._.map(String),
    kubeconfig: text(parsed.kubeconfig),
    context: text(parsed.context),
    namespace: text(parsed.namespace),
  };
}

function takesValue(word: string | undefined): boolean {
  return word !== undefined && /^(-n|-o|--(namespace|output|context|kubeconfig))$/.test(word);
}

async function fetchNames(asked: Asked, cli: CliContext): Promise<string[]> {
  const [engines, { listClusters }] = await Promise.all([cli.handlers(), import('./live.ts')]);
  const connection = await cli.connect(asked);
  try {
    const lists = await Promise.all(
      engines.map(async (engine) => {
        const clusters = await listClusters(connection.client, engine, asked.namespace ?? connection.namespace);
        return clusters.map(({ metadata }) => `${engine.kind.singular}/${metadata.name}`);
      }),
    );
    return lists.flat();
  } finally {
    await connection.close();
  }
}

/** What yargs is given to read. */
export interface Line {
  readonly words: readonly string[];
  /** What may be offered besides what yargs finds. */
  readonly names: readonly string[];
}

const completionFlag = '--get-yargs-completions';
const shells: readonly string[] = ['bash', 'zsh', 'fish'];

/**
 * The script for fish. That of yargs leaves out the word at the cursor where it is empty, the program's own name, and
 * files, which most commands take.
 */
const fishScript = `# clusterwright completion fish > ~/.config/fish/completions/clusterwright.fish
complete -c clusterwright -a '(SHELL=fish clusterwright ${completionFlag} (commandline -opc) (commandline -ct))'
`;

/** Undefined where the arguments ask for something else, or for a script that yargs has. */
export function ownScript(args: readonly string[], { SHELL = '' }: NodeJS.ProcessEnv): string | undefined {
  const [first, shell = SHELL, ...more] = args;
  return first === 'completion' && /(^|\/)fish$/.test(shell) && more.length === 0 ? fishScript : undefined;
}

/**
 * Makes ready what yargs would take from its surroundings: it reads the shell off the environment, whichever script was
 * asked for, and takes a lone `-` for an option without a name.
 *
 * @param byKubectl the arguments are words to complete
 */
export async function lineOf(args: readonly string[], byKubectl: boolean, cli: CliContext): Promise<Line> {
  const [first, second] = args;
  if (byKubectl || first === completionFlag) {
    // In our own requests the first word is the program. kubectl wants plain words, whatever the shell.
    const words = byKubectl ? args : args.slice(2);
    if (byKubectl) cli.env.SHELL = '';
    return { words: [completionFlag, 'clusterwright', ...words], names: await clusterNames(words, cli) };
  }
  if (first === 'completion' && second !== undefined && !second.startsWith('-')) {
    if (!shells.includes(second)) throw new CommandError(`there are completion scripts for ${shells.join(', ')}`);
    cli.env.SHELL = second;
    return { words: ['completion'], names: [] };
  }
  return { words: args.map((word) => (word === '-' ? standardInput : word)), names: [] };
}
