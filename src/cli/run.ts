/** `clusterwright run`: the controller as a process of this machine, with the rights of a kubeconfig. */
import { type LabelSelector, labelSelector, labelSelectorFault } from '../api/label-selector.ts';
import type { Resource } from '../api/object.ts';
import { defaultRollouts, isRolloutLimit, mostRollouts } from '../api/rollout-limit.ts';
import { isNotFound } from '../runtime/api-error.ts';
import { runOperatorProcess } from '../runtime/process.ts';
import { type AgentImageArguments, namedAgentImage } from './agent-image.ts';
import type { CliContext, Command } from './cli-context.ts';
import type { Connection, Target } from './connection.ts';
import { CommandError } from './fault.ts';
import { type ImageRegistryArguments, namedImageRegistry } from './image-registry.ts';
import { installedOperator } from './installed-operator.ts';
import { type OperatorNamespaceArguments, operatorHome } from './operator-namespace.ts';

export interface RunArguments
  extends Pick<Target, 'kubeconfig' | 'context'>,
    AgentImageArguments,
    ImageRegistryArguments,
    OperatorNamespaceArguments {
  /** Separated by commas. Default: all. */
  readonly namespaces?: string | undefined;
  /** Label selector of the resources to serve. Default: that of the operator that is installed, else all. */
  readonly resourceSelector?: string | undefined;
  readonly leaseNamespace?: string | undefined;
  readonly leaderElection: boolean;
  /** For /healthz, /readyz and /metrics; 0 picks a free one. */
  readonly port: number;
  /** Have pods of new templates judged by dry run. */
  readonly dryRuns: boolean;
  /** How many clusters may roll out at once. Default: as the operator that is installed. */
  readonly maxConcurrentRollouts?: number | undefined;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
}

/** Ends with SIGINT or SIGTERM. */
export const run: Command<RunArguments> = async (args, cli) => {
  const { leaderElection, port, dryRuns, logLevel } = args;
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new CommandError('--port must be from 0 to 65535');
  }
  if (args.maxConcurrentRollouts !== undefined && !isRolloutLimit(args.maxConcurrentRollouts)) {
    throw new CommandError(`--max-concurrent-rollouts must be from 1 to ${mostRollouts}`);
  }
  const connection = await cli.connect(args);
  const { agentImage, installation, namespace, selector, rollouts } = await preparations(args, cli, connection).finally(
    () => connection.close(),
  );
  const code = await runOperatorProcess({
    namespaces: (args.namespaces ?? '').split(',').filter((name) => name !== ''),
    selector,
    leaderElection,
    port,
    dryRuns,
    maxConcurrentRollouts: args.maxConcurrentRollouts ?? rollouts,
    logLevel,
    handlers: await cli.handlers(agentImage, installation),
    credentials: { credentials: connection.credentials, namespace },
  });
  return code === 0 ? 0 : 1;
};

async function preparations(args: RunArguments, cli: CliContext, connection: Connection) {
  const home = operatorHome(args, cli);
  const installed = await installedOperator(connection.client, home);
  const agentImage = namedAgentImage(args, cli) ?? installed?.agentImage;
  // With another one than that operator, all pods would restart.
  const imageRegistry = namedImageRegistry(args, cli) ?? installed?.imageRegistry;
  if (agentImage === undefined) {
    throw new CommandError(
      `no operator is installed in ${home}, whose image the Jobs of backups and restores could run: name one that holds the agent and that this cluster can pull, by --agent-image or CLUSTERWRIGHT_AGENT_IMAGE`,
    );
  }
  const selector = selectorOf(args.resourceSelector ?? installed?.resourceSelector);
  const isAnother = installed !== undefined && selector?.text !== selectorOf(installed.resourceSelector)?.text;
  if (isAnother && args.leaderElection && args.leaseNamespace === undefined) {
    throw new CommandError(
      `the operator in ${home} serves other resources: with its lease, only one of the two would work; name another namespace by --lease-namespace`,
    );
  }
  const rollouts = installed?.maxConcurrentRollouts ?? defaultRollouts;
  const namespace =
    args.leaseNamespace ?? (args.leaderElection ? await leaseNamespace(connection, home) : connection.namespace);
  return { agentImage, installation: { imageRegistry, operatorNamespace: home }, namespace, selector, rollouts };
}

function selectorOf(text: string | undefined): LabelSelector | undefined {
  if (text === undefined || text === '') return undefined;
  const fault = labelSelectorFault(text);
  if (fault !== undefined) throw new CommandError(`--resource-selector ${fault}`);
  return labelSelector(text);
}

const namespaces: Resource = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };

/** Where an operator that is installed has its lease: two controllers with two leases would both work. */
async function leaseNamespace({ client, namespace }: Connection, home: string): Promise<string> {
  try {
    await client.get({ resource: namespaces, name: home });
    return home;
  } catch (error) {
    if (isNotFound(error)) return namespace;
    throw error;
  }
}
