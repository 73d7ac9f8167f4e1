/** What an operator was told by its Deployment: a command shows what that operator would do. */
import type { KubeObject, Resource } from '../api/object.ts';
import { defaultRollouts } from '../api/rollout-limit.ts';
import { operatorName } from '../constructs/operator-identity.ts';
import { ApiError, isNotFound } from '../runtime/api-error.ts';
import type { KubeClient } from '../runtime/client.ts';

export interface InstalledOperator {
  /** Which image the Jobs of backups and restores run. */
  readonly agentImage: string | undefined;
  /** Where images come from that no resource names. */
  readonly imageRegistry: string | undefined;
  /** Of the resources that it serves; undefined: all. */
  readonly resourceSelector: string | undefined;
  /** That it watches; empty: all. */
  readonly namespaces: readonly string[];
  /** Whether it has pods of new templates judged by dry run. */
  readonly dryRuns: boolean;
  /** How many clusters may roll out at once. */
  readonly maxConcurrentRollouts: number;
}

const deployments: Resource = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
};

/** Undefined where there is none, or where one may not look. */
export async function installedOperator(
  client: Pick<KubeClient, 'get'>,
  namespace: string,
): Promise<InstalledOperator | undefined> {
  try {
    const found = await client.get({ resource: deployments, namespace, name: operatorName });
    const variables = variablesOf(found);
    return {
      agentImage: variables.get('CLUSTERWRIGHT_AGENT_IMAGE'),
      imageRegistry: variables.get('CLUSTERWRIGHT_IMAGE_REGISTRY'),
      resourceSelector: variables.get('CLUSTERWRIGHT_RESOURCE_SELECTOR'),
      namespaces: (variables.get('CLUSTERWRIGHT_NAMESPACES') ?? '').split(',').filter((name) => name !== ''),
      maxConcurrentRollouts: Number(variables.get('CLUSTERWRIGHT_MAX_CONCURRENT_ROLLOUTS') ?? defaultRollouts),
      dryRuns: variables.get('CLUSTERWRIGHT_DRY_RUNS') !== 'false',
    };
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

function variablesOf({ spec }: KubeObject): ReadonlyMap<string, string | undefined> {
  const { containers = [] } = (spec as DeploymentSpec | undefined)?.template?.spec ?? {};
  return new Map(containers.flatMap(({ env = [] }) => env).map(({ name, value }) => [name, value]));
}
