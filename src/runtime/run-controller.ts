/// <reference types="node" preserve="true" />
/** The controller as its image runs it: its configuration comes from the environment alone. */
import { imageRegistryFault } from '../api/image.ts';
import { labelSelector } from '../api/label-selector.ts';
import { type DefinedEngine, handlersOf } from '../jobs/handlers.ts';
import type { LogLevel } from '../system/log.ts';
import { runOperatorProcess } from './process.ts';

/** Runs until a signal says stop; resolves with the exit code. */
export function runController({ engines }: { readonly engines: readonly DefinedEngine[] }): Promise<number> {
  const {
    CLUSTERWRIGHT_AGENT_IMAGE,
    CLUSTERWRIGHT_IMAGE_REGISTRY,
    CLUSTERWRIGHT_NAMESPACES,
    CLUSTERWRIGHT_RESOURCE_SELECTOR,
    CLUSTERWRIGHT_PORT,
    CLUSTERWRIGHT_LOG_LEVEL,
    CLUSTERWRIGHT_LEADER_ELECTION,
    CLUSTERWRIGHT_DRY_RUNS,
  } = process.env;
  const fault =
    CLUSTERWRIGHT_IMAGE_REGISTRY === undefined ? undefined : imageRegistryFault(CLUSTERWRIGHT_IMAGE_REGISTRY);
  if (fault !== undefined) throw new Error(`CLUSTERWRIGHT_IMAGE_REGISTRY ${fault}`);
  return runOperatorProcess({
    // The Deployment names its own image; without it, what a release of this version is called.
    handlers: handlersOf(engines, CLUSTERWRIGHT_AGENT_IMAGE, CLUSTERWRIGHT_IMAGE_REGISTRY),
    namespaces: (CLUSTERWRIGHT_NAMESPACES ?? '').split(',').filter((name) => name !== ''),
    selector:
      CLUSTERWRIGHT_RESOURCE_SELECTOR === undefined ? undefined : labelSelector(CLUSTERWRIGHT_RESOURCE_SELECTOR),
    port: Number(CLUSTERWRIGHT_PORT ?? 8080),
    logLevel: (CLUSTERWRIGHT_LOG_LEVEL ?? 'info') as LogLevel,
    leaderElection: CLUSTERWRIGHT_LEADER_ELECTION !== 'false',
    dryRuns: CLUSTERWRIGHT_DRY_RUNS !== 'false',
  });
}
