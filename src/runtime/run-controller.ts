/// <reference types="node" preserve="true" />
/** The controller as its image runs it: its configuration comes from the environment alone. */
import { type DefinedEngine, handlersOf } from '../jobs/handlers.ts';
import { systemClock } from '../system/clock.ts';
import { createLog, type LogLevel } from '../system/log.ts';
import { controllerSettings } from './controller-settings.ts';
import { inClusterNamespace, isInCluster } from './incluster.ts';
import { runOperatorProcess } from './process.ts';

/** Runs until a signal says stop; resolves with the exit code. */
export async function runController({ engines }: { readonly engines: readonly DefinedEngine[] }): Promise<number> {
  const {
    CLUSTERWRIGHT_AGENT_IMAGE,
    CLUSTERWRIGHT_NAMESPACES,
    CLUSTERWRIGHT_PORT,
    CLUSTERWRIGHT_LOG_LEVEL,
    CLUSTERWRIGHT_LEADER_ELECTION,
    CLUSTERWRIGHT_DRY_RUNS,
  } = process.env;
  const { imageRegistry, selector, maxConcurrentRollouts, faults } = controllerSettings(process.env);
  const logLevel = (CLUSTERWRIGHT_LOG_LEVEL ?? 'info') as LogLevel;
  if (faults.length > 0) {
    createLog({ level: logLevel }).error({ faults }, 'the operator does not start: its settings are not valid');
    return 1;
  }
  const operatorNamespace = isInCluster(process.env) ? await inClusterNamespace({ clock: systemClock }) : undefined;
  return runOperatorProcess({
    // The Deployment names its own image; without it, what a release of this version is called.
    handlers: handlersOf(engines, CLUSTERWRIGHT_AGENT_IMAGE, { imageRegistry, operatorNamespace }),
    namespaces: (CLUSTERWRIGHT_NAMESPACES ?? '').split(',').filter((name) => name !== ''),
    selector,
    port: Number(CLUSTERWRIGHT_PORT ?? 8080),
    logLevel,
    leaderElection: CLUSTERWRIGHT_LEADER_ELECTION !== 'false',
    dryRuns: CLUSTERWRIGHT_DRY_RUNS !== 'false',
    maxConcurrentRollouts,
  });
}
