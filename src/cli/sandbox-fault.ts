/** `clusterwright sandbox fault`: what can break in a cluster, broken on purpose. */
import type { Argv, CommandModule } from 'yargs';
import type { PodRef } from '../sandbox/faults/pod.ts';
import { attend, severalPositionals } from './sandbox-attend.ts';

interface PodArguments {
  readonly pod: string;
  readonly namespace: string;
}

interface KillArguments extends PodArguments {
  readonly container: string | undefined;
  readonly signal: string;
}

const killCommand: CommandModule<object, KillArguments> = {
  command: 'kill <pod>',
  describe: "Kill the main process of a pod's container",
  builder: (yargs) =>
    onePod(yargs)
      .option('container', {
        alias: 'c',
        type: 'string',
        describe: 'Name of the container; required if the pod has several',
      })
      .option('signal', {
        type: 'string',
        default: 'KILL',
        describe: 'Signal to send; STOP makes the process hang, CONT continues it',
      }),
  handler: ({ pod, namespace, container, signal }) =>
    attend(async () => {
      const { killProcess, signalOf } = await import('../sandbox/faults/process.ts');
      const options = { signal: signalOf(signal), ...(container === undefined ? {} : { container }) };
      const { pid } = await killProcess(podRef(pod, namespace), options);
      process.stdout.write(`sent ${signal} to pid ${pid}\n`);
    }),
};

interface NodeArguments {
  readonly node: string;
}

const stopNodeCommand: CommandModule<object, NodeArguments> = {
  command: 'stop-node <node>',
  describe: 'Stop a node at once, like a machine that loses power',
  builder: oneNode,
  handler: ({ node }) =>
    attend(async (progress) => {
      const { stopNode } = await import('../sandbox/faults/node.ts');
      await progress.step(`Stopping ${node}`, () => stopNode(node));
    }),
};

const startNodeCommand: CommandModule<object, NodeArguments> = {
  command: 'start-node <node>',
  describe: 'Start a stopped node, as after a reboot',
  builder: oneNode,
  handler: ({ node }) =>
    attend(async (progress) => {
      const { startNode } = await import('../sandbox/faults/node.ts');
      await progress.step(`Starting ${node}`, () => startNode(node));
    }),
};

interface CutArguments {
  readonly one: string;
  readonly other: string;
  readonly namespace: string;
}

const cutCommand: CommandModule<object, CutArguments> = {
  command: 'cut <one> <other>',
  describe: 'Drop all packets between two pods',
  builder: (yargs) =>
    withNamespace(yargs)
      .positional('one', { type: 'string', demandOption: true, describe: 'A pod: NAME or NAMESPACE/NAME' })
      .positional('other', { type: 'string', demandOption: true, describe: 'The other pod: NAME or NAMESPACE/NAME' }),
  handler: ({ one, other, namespace }) =>
    attend(async () => {
      const { cutPods } = await import('../sandbox/faults/cut.ts');
      await cutPods(podRef(one, namespace), podRef(other, namespace));
      process.stdout.write(`${one} and ${other} are cut off from each other\n`);
    }),
};

interface CutApiArguments {
  readonly pod: readonly string[];
  readonly namespace: string;
  readonly hang: boolean;
}

const cutApiCommand: CommandModule<object, CutApiArguments> = {
  command: 'cut-api <pod..>',
  describe: 'Keep pods from the API server',
  builder: (yargs) =>
    withNamespace(yargs)
      .parserConfiguration(severalPositionals)
      .positional('pod', {
        type: 'string',
        array: true,
        demandOption: true,
        describe: 'Pods: NAME or NAMESPACE/NAME',
      })
      .option('hang', {
        type: 'boolean',
        default: false,
        describe: 'Drop the packets, so that nothing answers; default: refuse connections',
      }),
  handler: ({ pod: pods, namespace, hang }) =>
    attend(async () => {
      const { cutFromApi } = await import('../sandbox/faults/cut.ts');
      const refs = pods.map((pod) => podRef(pod, namespace));
      await cutFromApi(refs, hang ? 'hang' : 'refuse');
      process.stdout.write(`${pods.join(', ')}: cut off from the API server\n`);
    }),
};

interface HealArguments {
  readonly pod: readonly string[] | undefined;
  readonly namespace: string;
}

const healCommand: CommandModule<object, HealArguments> = {
  command: 'heal [pod..]',
  describe: 'End the cut between two pods; without pods, end every cut',
  builder: (yargs) =>
    withNamespace(yargs).parserConfiguration(severalPositionals).positional('pod', {
      type: 'string',
      array: true,
      describe: 'Two pods: NAME or NAMESPACE/NAME',
    }),
  handler: ({ pod: pods = [], namespace }) =>
    attend(async () => {
      const [{ healPods }, { SandboxError }] = await Promise.all([
        import('../sandbox/faults/cut.ts'),
        import('../sandbox/error.ts'),
      ]);
      const [one, other, ...more] = pods;
      if (one !== undefined && (other === undefined || more.length > 0)) {
        throw new SandboxError('a cut is between two pods: name two, or none to heal every cut');
      }
      const pair: readonly [PodRef, PodRef] | undefined =
        one === undefined || other === undefined ? undefined : [podRef(one, namespace), podRef(other, namespace)];
      const healed = await healPods(pair);
      process.stdout.write(healed === 0 ? 'there was nothing to heal\n' : `healed ${healed}\n`);
    }),
};

interface VolumeArguments extends PodArguments {
  readonly path: string | undefined;
  readonly claim: string | undefined;
}

const fillCommand: CommandModule<object, VolumeArguments> = {
  command: 'fill <pod>',
  describe: "Fill a pod's volume of the class local-path-limited until it is full",
  builder: oneVolume,
  handler: ({ pod, namespace, ...choice }) =>
    attend(async () => {
      const { fillVolume } = await import('../sandbox/faults/volume.ts');
      process.stdout.write(`wrote ${await fillVolume(podRef(pod, namespace), given(choice))} bytes\n`);
    }),
};

const freeCommand: CommandModule<object, VolumeArguments> = {
  command: 'free <pod>',
  describe: 'Delete what `fault fill` wrote',
  builder: oneVolume,
  handler: ({ pod, namespace, ...choice }) =>
    attend(async () => {
      const { freeVolume } = await import('../sandbox/faults/volume.ts');
      await freeVolume(podRef(pod, namespace), given(choice));
    }),
};

/** `NAMESPACE/NAME`, or `NAME` in the namespace of the option. */
function podRef(text: string, namespace: string): PodRef {
  const [first = '', second] = text.split('/');
  return second === undefined ? { namespace, name: first } : { namespace: first, name: second };
}

function given({ path, claim }: Pick<VolumeArguments, 'path' | 'claim'>): { path?: string; claim?: string } {
  return { ...(path === undefined ? {} : { path }), ...(claim === undefined ? {} : { claim }) };
}

function withNamespace<T>(yargs: Argv<T>): Argv<T & { namespace: string }> {
  return yargs.option('namespace', {
    alias: 'n',
    type: 'string',
    default: 'default',
    describe: 'Namespace of the pods',
  });
}

function onePod<T>(yargs: Argv<T>): Argv<T & PodArguments> {
  return withNamespace(yargs).positional('pod', {
    type: 'string',
    demandOption: true,
    describe: 'NAME or NAMESPACE/NAME',
  });
}

function oneNode<T>(yargs: Argv<T>): Argv<T & NodeArguments> {
  return yargs.positional('node', {
    type: 'string',
    demandOption: true,
    describe: 'Name of the node, for example node2',
  });
}

function oneVolume<T>(yargs: Argv<T>): Argv<T & VolumeArguments> {
  return onePod(yargs)
    .option('path', { type: 'string', describe: 'Directory in a container; required if the pod has several PVCs' })
    .option('claim', { type: 'string', describe: 'Name of the PVC, instead of --path' });
}

export const faultCommand: CommandModule = {
  command: 'fault',
  describe: 'Break something on purpose, and repair it',
  builder: (yargs) =>
    yargs
      .command(killCommand)
      .command(stopNodeCommand)
      .command(startNodeCommand)
      .command(cutCommand)
      .command(cutApiCommand)
      .command(healCommand)
      .command(fillCommand)
      .command(freeCommand)
      .demandCommand(1, 'name a fault'),
  handler: () => undefined,
};
