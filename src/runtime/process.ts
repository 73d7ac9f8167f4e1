/**
 * The operator as a process: credentials, health endpoints, signals.
 *
 * SIGTERM stops new work, lets the passes that have begun finish, releases the lease and ends, all within the grace
 * period of its pod. A lost lease ends the process too: whatever it had in mind was decided by somebody who no longer
 * leads.
 */
import { randomBytes } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { LabelSelector } from '../api/label-selector.ts';
import type { KindHandler } from '../engine/engine.ts';
import { systemClock } from '../system/clock.ts';
import { dialTcp } from '../system/dial.ts';
import { createLog, type LogLevel } from '../system/log.ts';
import { version } from '../system/version.ts';
import type { Credentials } from './credentials.ts';
import { eventLoopCheck } from './event-loop.ts';
import { startHealthServer } from './health.ts';
import { inClusterCredentials, inClusterNamespace, isInCluster } from './incluster.ts';
import { createMetrics } from './metrics.ts';
import { createOperator } from './operator.ts';
import { type Memory, observeProcess } from './self-observation.ts';
import type { Transport } from './transport.ts';
import { createTransport, userAgent } from './undici-transport.ts';

export interface ProcessOptions {
  /** Of the kinds that are served. */
  readonly handlers: readonly KindHandler[];
  /** Empty: all namespaces. */
  readonly namespaces: readonly string[];
  /** Of the resources to serve. Default: all. */
  readonly selector?: LabelSelector | undefined;
  /** For /healthz, /readyz and /metrics; 0 picks a free one. */
  readonly port: number;
  readonly logLevel: LogLevel;
  /** Off only for a process that is known to be alone. */
  readonly leaderElection: boolean;
  /** Whether pods of new templates are judged by dry run, which takes the right to create pods. */
  readonly dryRuns: boolean;
  /** How many clusters may roll out at once. */
  readonly maxConcurrentRollouts: number;
  /** Default: those of the pod, else the kubeconfig's current context. */
  readonly credentials?: { readonly credentials: Credentials; readonly namespace: string };
}

/** One that has died silently leaves another for the next attempt. */
const leaseConnections = 2;

async function defaultCredentials(): Promise<{ credentials: Credentials; namespace: string }> {
  const clock = systemClock;
  if (isInCluster(process.env)) {
    return {
      credentials: inClusterCredentials({ env: process.env, clock }),
      namespace: await inClusterNamespace({ clock }),
    };
  }
  const { loadKubeconfig } = await import('./kubeconfig.ts');
  const { credentials, namespace } = await loadKubeconfig({ env: process.env, clock });
  return { credentials, namespace };
}

/** Runs until a signal says stop; resolves with the exit code. */
export async function runOperatorProcess(options: ProcessOptions): Promise<number> {
  const log = createLog({ level: options.logLevel });
  const metrics = createMetrics();
  const clock = systemClock;
  const stopping = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      log.info({ signal }, 'stopping');
      stopping.abort(new Error(`received ${signal}`));
    });
  }
  process.on('unhandledRejection', (error) => {
    log.error({ err: error }, 'a rejection was not handled');
    process.exit(1);
  });

  const { credentials, namespace } = options.credentials ?? (await defaultCredentials());
  const instance = process.env.POD_NAME ?? `local-${process.pid}`;
  const connect = (connections?: number): Transport =>
    createTransport({
      credentials,
      userAgent: userAgent(version, 'controller'),
      clock,
      ...(connections === undefined ? {} : { connections }),
    });
  const identity = `${instance}_${randomBytes(4).toString('hex')}`;
  const operator = createOperator({
    engines: options.handlers,
    transport: connect(),
    dial: dialTcp,
    namespaces: options.namespaces,
    selector: options.selector,
    dryRuns: options.dryRuns,
    maxConcurrentRollouts: options.maxConcurrentRollouts,
    ...(options.leaderElection ? { election: { namespace, identity, transport: connect(leaseConnections) } } : {}),
    instance,
    clock,
    random: Math.random,
    log,
    metrics,
  });
  const delay = monitorEventLoopDelay({ resolution: 100 });
  delay.enable();
  const memory = (): Memory => ({ ...process.memoryUsage(), limit: process.constrainedMemory() });
  const stopObserving = observeProcess({ clock, metrics, memory });
  const health = await startHealthServer({
    port: options.port,
    live: { 'event-loop': eventLoopCheck(delay) },
    ready: { cache: () => (operator.hasSynced() ? undefined : 'the first complete view has not arrived') },
    metrics,
  });
  const { namespaces, selector, dryRuns, maxConcurrentRollouts } = options;
  const settings = { namespaces, selector: selector?.text, dryRuns, maxConcurrentRollouts };
  log.info({ version, instance, port: health.port, ...settings }, 'started');
  try {
    await operator.run(stopping.signal);
    return 0;
  } catch (error) {
    log.error({ err: error }, 'the operator ends');
    return 1;
  } finally {
    delay.disable();
    stopObserving();
    await health.close();
  }
}
