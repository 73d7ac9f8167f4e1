/** In-cluster entry point: what the operator's image runs. Its configuration comes from the environment alone. */
import { handlersOf } from './jobs/handlers.ts';
import { engines } from './engines/index.ts';
import type { LogLevel } from './system/log.ts';
import { runOperatorProcess } from './runtime/process.ts';

const {
  CLUSTERWRIGHT_AGENT_IMAGE,
  CLUSTERWRIGHT_NAMESPACES,
  CLUSTERWRIGHT_PORT,
  CLUSTERWRIGHT_LOG_LEVEL,
  CLUSTERWRIGHT_LEADER_ELECTION,
} = process.env;

process.exitCode = await runOperatorProcess({
  // The Deployment names its own image; without it, what a release of this version is called.
  handlers: handlersOf(engines, CLUSTERWRIGHT_AGENT_IMAGE),
  namespaces: (CLUSTERWRIGHT_NAMESPACES ?? '').split(',').filter((name) => name !== ''),
  port: Number(CLUSTERWRIGHT_PORT ?? 8080),
  logLevel: (CLUSTERWRIGHT_LOG_LEVEL ?? 'info') as LogLevel,
  leaderElection: CLUSTERWRIGHT_LEADER_ELECTION !== 'false',
});
process.exit();
