/**
 * The controller as a whole: put together from its parts, started in order, stopped in order.
 *
 * Everything that reaches outside comes in as an argument. A process without the lease watches, so that it can take
 * over at once, and writes nothing: its transport refuses.
 */
import type { LabelSelector } from '../api/label-selector.ts';
import { defaultRollouts } from '../api/rollout-limit.ts';
import type { KindHandler } from '../engine/engine.ts';
import { leaseName } from '../jobs/permissions.ts';
import { instanceLabel } from '../resources/metadata.ts';
import type { Clock, Random } from '../system/clock.ts';
import type { Dial } from '../system/dial.ts';
import type { ProtectedLog } from '../system/log.ts';
import { createCache } from './cache.ts';
import { claimReader } from './claim-use.ts';
import { createClient } from './client.ts';
import { createContested } from './contested.ts';
import { backgroundLimit, createController } from './controller.ts';
import { createDeadEnds } from './dead-ends.ts';
import { createSecretReader, engineIO } from './engine-context.ts';
import { createEventRecorder } from './event-recorder.ts';
import { createExecutor } from './executor.ts';
import { fencedTransport } from './fence.ts';
import { createLeaderElection, type Leading } from './lease.ts';
import { createListeners } from './listeners.ts';
import type { Metrics } from './metrics.ts';
import { outcomeEvents } from './outcome-events.ts';
import { createPace } from './pace.ts';
import { createWorkQueue } from './queue.ts';
import { createReconciler } from './reconciler.ts';
import { createRefusalPace } from './refusal-pace.ts';
import { createResizes } from './resizes.ts';
import { createRollouts } from './rollouts.ts';
import { createServerTime } from './server-time.ts';
import { accountReader } from './service-account.ts';
import { createStandingFailures } from './standing-failures.ts';
import { createStatusWriter } from './status-writer.ts';
import { createTemplateJudge, noDryRuns } from './template-judge.ts';
import type { Transport } from './transport.ts';
import { createUnansweredWrites } from './unanswered-writes.ts';
import { createUnobserved } from './unobserved.ts';
import { createUnseenPods } from './unseen-pods.ts';

export interface OperatorOptions {
  readonly engines: readonly KindHandler[];
  readonly transport: Transport;
  readonly dial: Dial;
  /** Namespaces to serve; empty: all. */
  readonly namespaces: readonly string[];
  /** Of the resources to serve. Default: all. */
  readonly selector?: LabelSelector | undefined;
  /** Whether pods of new templates are judged by dry run. Default true. */
  readonly dryRuns?: boolean;
  /** How many clusters may roll out at once. */
  readonly maxConcurrentRollouts?: number;
  /** Undefined: no election, this is the only process. */
  readonly election?: Election;
  /** Name of this process in events. */
  readonly instance: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: ProtectedLog;
  readonly metrics: Metrics;
}

/** As long as a standby waits for a leader that died: see `lease.ts`. */
const unansweredMs = 15_000;

export interface Election {
  /** Where the lease lives. */
  readonly namespace: string;
  readonly identity: string;
  /** Over connections of its own: sixteen writes in a slow webhook may take all of those that the passes share. */
  readonly transport: Transport;
}

export interface Operator {
  /** Resolves when the signal has aborted and everything is put down; rejects when the lease was lost. */
  run(signal: AbortSignal): Promise<void>;
  readonly hasSynced: () => boolean;
  readonly isLeader: () => boolean;
}

export function createOperator(options: OperatorOptions): Operator {
  const { engines, transport, dial, namespaces, selector, clock, random, log, metrics } = options;
  const onWarning = (warning: string, call: { readonly method: string; readonly path: string }): void =>
    log.warn({ ...call, warning }, 'the API server warns');
  const clientOptions = { clock, random, metrics, onWarning };
  const writes = createUnansweredWrites(clock, unansweredMs);
  const election =
    options.election === undefined
      ? undefined
      : createLeaderElection({
          ...options.election,
          name: leaseName,
          client: createClient({ ...clientOptions, transport: options.election.transport }),
          clock,
          random,
          log,
          metrics,
          mayRelease: () => !writes.any,
        });
  const mayWrite = (): boolean => election === undefined || election.isLeader();
  const serverTime = createServerTime(clock);
  const heard = serverTime.hearing(transport);
  const client = createClient({ ...clientOptions, transport: fencedTransport(heard, mayWrite, writes) });
  const cache = createCache({ client, engines, namespaces, selector, clock, random, log, metrics });
  const queue = createWorkQueue({ name: 'clusters', clock, random, backgroundLimit, metrics });
  const events = createEventRecorder({
    // An event that arrives late harms nobody who leads by then.
    client: createClient({ ...clientOptions, transport: fencedTransport(transport, mayWrite) }),
    clock,
    log,
    metrics,
    controller: 'clusterwright.dev/controller',
    instance: options.instance,
  });
  const secrets = createSecretReader({
    client,
    clock,
    onValue: (value) => log.protect(value),
    onUnread: (secret) => log.warn(secret, 'a Secret cannot be read anew: what it said before is used'),
  });
  // One that is created again must not go by Secrets that were deleted in between. Before the controller hears of it.
  cache.onClusterChange((_, { type, object: { metadata }, previous }) => {
    const isAnother = previous !== undefined && previous.metadata.uid !== metadata.uid;
    if (type === 'deleted' || isAnother) secrets.forget(metadata.namespace ?? '', metadata.name);
  });
  const claims = claimReader(client);
  const accounts = accountReader(client);
  // Ages of objects and the dates of certificates are told by the same clock.
  const now = (): number => serverTime.earliest();
  const engineClock: Clock = { now, monotonic: () => clock.monotonic(), after: (ms, call) => clock.after(ms, call) };
  const io = (cluster: { metadata: { namespace: string } }, signal: AbortSignal) =>
    engineIO({
      namespace: cluster.metadata.namespace,
      ...{ secrets, claims, accounts, dial, clock: engineClock, signal, resourceSelector: selector?.text },
    });
  const resizes = createResizes({ client, clock, now });
  const executor = createExecutor({
    client,
    cache,
    mayWrite,
    writes,
    now,
    onResizeRefused(step, words) {
      resizes.refused(step, words);
      const { namespace, name } = step.ref;
      log.info({ namespace, pod: name, words }, 'a pod restarts, since it cannot be resized in place');
    },
    onStaleSecret: (namespace, name) => secrets.refuse(namespace, name),
    onSecret: ({ metadata: { namespace = '', name, labels } }, values) =>
      secrets.learn(namespace, name, values, labels?.[instanceLabel]),
  });
  const status = createStatusWriter({ client, cache, clock });
  const templates = createTemplateJudge({
    client,
    clock,
    onUnjudged: ({ metadata: { namespace, name } }, words) =>
      log.warn({ namespace, set: name, words }, 'a pod restarts though no dry run has shown that one can be made'),
  });
  const rollouts = createRollouts({
    limit: options.maxConcurrentRollouts ?? defaultRollouts,
    ...{ engines, cache, clock, metrics },
    wake: (key) => queue.add(key, 'recheck'),
  });
  const reconciler = createReconciler({
    client,
    cache,
    engines,
    executor,
    status,
    io,
    pace: createPace(clock),
    contested: createContested(clock),
    refusals: createRefusalPace(clock),
    standingFailures: createStandingFailures(clock),
    unobserved: createUnobserved(clock),
    unseenPods: createUnseenPods(client, clock),
    resizes,
    rollouts,
    deadEnds: createDeadEnds(client, options.dryRuns === false ? noDryRuns : templates),
    latest: () => serverTime.latest(),
    selector,
    log,
    onOutcome: outcomeEvents(events),
  });
  const listeners = createListeners({ clock, log, io, changed: (key) => queue.add(key, 'high') });
  const controller = createController({
    engines,
    cache,
    queue,
    reconciler,
    listeners,
    status,
    clock,
    random,
    log,
    metrics,
  });

  return {
    hasSynced: () => cache.hasSynced,
    isLeader: mayWrite,
    async run(signal) {
      const watching = new AbortController();
      const watches = cache.run(watching.signal);
      try {
        const lead = async ({ stopping, lost }: Leading): Promise<void> => {
          log.info({ instance: options.instance }, 'leading');
          await complete(cache, clock, stopping);
          await controller.run(stopping, lost);
          await events.drain();
        };
        if (election === undefined) await lead({ stopping: signal, lost: new AbortController().signal });
        else if ((await election.run(signal, lead)) === 'lost')
          throw new Error('the lease was lost to another process');
      } finally {
        watching.abort();
        await watches;
        await Promise.all([transport.close(), options.election?.transport.close()]);
      }
    },
  };
}

/** Of our own kinds none is waited for: one that is not installed, or may not be read, holds up no other. */
async function complete(cache: { readonly hasAllChildren: boolean }, clock: Clock, signal: AbortSignal): Promise<void> {
  while (!cache.hasAllChildren && !signal.aborted) {
    await new Promise<void>((resolve) => {
      clock.after(20, resolve);
    });
  }
}
