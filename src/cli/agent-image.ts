/**
 * Which image the Jobs of backups and restores run. In a cluster the operator's Deployment says so; a command looks
 * there, too, so that what it shows or makes is what the operator would.
 */
import type { KubeObject, Resource } from '../api/object.ts';
import { operatorName, operatorNamespace } from '../constructs/operator-identity.ts';
import { ApiError, isNotFound } from '../runtime/api-error.ts';
import type { KubeClient } from '../runtime/client.ts';
import type { CliContext } from './cli-context.ts';

export interface AgentImageArguments {
  /** Default: `CLUSTERWRIGHT_AGENT_IMAGE`. */
  readonly agentImage?: string | undefined;
}

const variable = 'CLUSTERWRIGHT_AGENT_IMAGE';
const deployments: Resource = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
};

/** What the option or the environment says; undefined where neither does. */
export function namedAgentImage({ agentImage }: AgentImageArguments, { env }: Pick<CliContext, 'env'>) {
  const named = agentImage ?? env[variable];
  return named === '' ? undefined : named;
}

/** What the operator in its usual namespace was told; undefined where there is none, or where one may not look. */
export async function installedAgentImage(client: Pick<KubeClient, 'get'>): Promise<string | undefined> {
  try {
    const found = await client.get({ resource: deployments, namespace: operatorNamespace, name: operatorName });
    return imageIn(found);
  } catch (error) {
    if (isNotFound(error) || (error instanceof ApiError && error.status === 403)) return undefined;
    throw error;
  }
}

interface DeploymentSpec {
  readonly template?: {
    readonly spec?: {
      readonly containers?: readonly {
        readonly env?: readonly { readonly name: string; readonly value?: string }[];
      }[];
    };
  };
}

function imageIn({ spec }: KubeObject): string | undefined {
  const { containers = [] } = (spec as DeploymentSpec | undefined)?.template?.spec ?? {};
  return containers.flatMap(({ env = [] }) => env).find(({ name }) => name === variable)?.value;
}
