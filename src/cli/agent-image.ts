/** Which image the Jobs of backups and restores run, where it is named. Else see `installed-operator.ts`. */
import type { CliContext } from './cli-context.ts';

export interface AgentImageArguments {
  /** Default: `CLUSTERWRIGHT_AGENT_IMAGE`. */
  readonly agentImage?: string | undefined;
}

const variable = 'CLUSTERWRIGHT_AGENT_IMAGE';

/** What the option or the environment says; undefined where neither does. */
export function namedAgentImage({ agentImage }: AgentImageArguments, { env }: Pick<CliContext, 'env'>) {
  const named = agentImage ?? env[variable];
  return named === '' ? undefined : named;
}
