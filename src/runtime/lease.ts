/**
 * Leader election on a Lease: of all processes with the same lease, at most one acts.
 *
 * Safety rests on spans, never on comparing clocks of two machines. A leader's right ends `renewDeadline` after it SENT
 * its last successful renewal; a candidate takes over no sooner than `leaseDuration` after it itself SAW the last
 * change. Since renewDeadline < leaseDuration, the first span is over before the second, even if the leader was stopped
 * in between: `isLeader` looks at the clock every time it is asked, so no timer has to fire in time. A lease that is
 * deleted shortens neither span; only a process that has never seen it takes it at once.
 */
import type { KubeObject } from '../api/object.ts';
import { leases } from '../api/resource.ts';
import { type Clock, type Random, sleep } from '../system/clock.ts';
import type { Log } from '../system/log.ts';
import { createAbortScope } from './abort-scope.ts';
import { isAlreadyExists, isConflict, isNotFound } from './api-error.ts';
import type { CallOptions, KubeClient } from './client.ts';
import type { Metrics } from './metrics.ts';
import { untilAborted } from './until-aborted.ts';

export interface LeaseOptions {
  /**
   * Not fenced by this very lease, and over connections that nothing else waits for: a renewal must not stand behind the
   * writes that it permits.
   */
  readonly client: Pick<KubeClient, 'get' | 'create' | 'replace'>;
  readonly namespace: string;
  readonly name: string;
  /** Different for every process: a pod's name and something random. */
  readonly identity: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics?: Pick<Metrics, 'leader'> | undefined;
  /** Whether nothing that this process has written can still take effect. If not, the lease runs out. Default always. */
  readonly mayRelease?: () => boolean;
  /** Default 15 s: how long a dead leader is waited for. */
  readonly leaseDurationMs?: number;
  /** Default 10 s, must be less than the lease duration: how long a leader goes on without a successful renewal. */
  readonly renewDeadlineMs?: number;
  /** Default 2 s, must be less than the renew deadline. */
  readonly retryPeriodMs?: number;
}

/** The reason with which a leader's signal aborts when the lease could not be kept. */
export class LeadershipLost extends Error {
  readonly code = 'LeadershipLost';

  constructor(lease: string, why: string) {
    super(`the lease ${lease} is lost: ${why}`);
    this.name = 'LeadershipLost';
  }
}

/** What a leader listens to. */
export interface Leading {
  /** Begin nothing new, and finish what has begun: the lease is held meanwhile. Aborts also when the lease is lost. */
  readonly stopping: AbortSignal;
  /** Drop everything: another process may be leading. The reason is a `LeadershipLost`. */
  readonly lost: AbortSignal;
}

export interface LeaderElection {
  /**
   * Waits for the lease, runs `lead` while it is held, and renews it until `lead` has settled. Resolves with `released`
   * after an orderly end, the lease then being free for the next unless `mayRelease` forbids it, and with `lost` when
   * another process may be leading by now. Rejects with the error of `lead` if that failed while the lease was held.
   */
  run(signal: AbortSignal, lead: (leading: Leading) => Promise<void>): Promise<'released' | 'lost'>;
  /** Whether this process may write at this very moment. */
  isLeader(): boolean;
}

interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
}

export function createLeaderElection(options: LeaseOptions): LeaderElection {
  const { client, namespace, name, identity, clock, random, log, metrics, mayRelease = () => true } = options;
  const leaseDuration = options.leaseDurationMs ?? 15_000;
  const renewDeadline = options.renewDeadlineMs ?? 10_000;
  const retryPeriod = options.retryPeriodMs ?? 2_000;
  if (!(retryPeriod < renewDeadline && renewDeadline < leaseDuration)) {
    throw new Error(
      `lease ${namespace}/${name}: retry period ${retryPeriod} ms < renew deadline ${renewDeadline} ms < lease duration ${leaseDuration} ms must hold`,
    );
  }

  /** Half of the deadline: a connection that died silently must leave time for an attempt over another. */
  const attemptTimeout = renewDeadline / 2;

  /** The lease as last read or written, and when this process saw it change. */
  let known: { readonly lease: KubeObject; readonly at: number } | undefined;
  let leadingUntil = Number.NEGATIVE_INFINITY;

  const specOf = (lease: KubeObject): LeaseSpec => (lease.spec as LeaseSpec | undefined) ?? {};
  const isLeader = (): boolean => clock.monotonic() < leadingUntil;

  function observe(lease: KubeObject): void {
    if (known?.lease.metadata.resourceVersion === lease.metadata.resourceVersion) return;
    known = { lease, at: clock.monotonic() };
  }

  function mayTake(seen: { readonly lease: KubeObject; readonly at: number }): boolean {
    const { holderIdentity = '', leaseDurationSeconds = 0 } = specOf(seen.lease);
    if (holderIdentity === '' || holderIdentity === identity) return true;
    return clock.monotonic() - seen.at >= Math.max(leaseDuration, leaseDurationSeconds * 1000);
  }

  function leaseHeldByUs(): KubeObject {
    const now = microTime(clock.now());
    const base = known?.lease ?? { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name, namespace } };
    const before = specOf(base);
    const mine = before.holderIdentity === identity;
    return {
      ...base,
      spec: {
        ...before,
        holderIdentity: identity,
        leaseDurationSeconds: Math.ceil(leaseDuration / 1000),
        acquireTime: mine ? (before.acquireTime ?? now) : now,
        renewTime: now,
        leaseTransitions: (before.leaseTransitions ?? 0) + (mine || known === undefined ? 0 : 1),
      },
    };
  }

  /** Writes the lease as ours. The right to lead counts from before the request was sent. */
  async function claim(signal: AbortSignal): Promise<void> {
    const sentAt = clock.monotonic();
    const lease = leaseHeldByUs();
    // An answer that comes after the signal has aborted gives no right to lead.
    observe(
      await attempt(attemptTimeout, signal, (call) =>
        known === undefined ? client.create(lease, call) : client.replace(lease, call),
      ),
    );
    leadingUntil = sentAt + renewDeadline;
  }

  function read(signal?: AbortSignal): Promise<KubeObject> {
    return attempt(attemptTimeout, signal, (call) => client.get({ resource: leases, namespace, name }, call));
  }

  /** One request, which is over when its time is or the signal aborts, whatever the transport makes of that. */
  async function attempt(
    timeoutMs: number,
    signal: AbortSignal | undefined,
    send: (call: CallOptions) => Promise<KubeObject>,
  ): Promise<KubeObject> {
    const scope = createAbortScope(signal);
    const cancel = clock.after(timeoutMs, () => scope.abort(new Error(`no answer within ${timeoutMs} ms`)));
    try {
      return await untilAborted(scope.signal, send({ signal: scope.signal, timeoutMs }));
    } finally {
      cancel();
      scope.dispose();
    }
  }

  /** One attempt to become the leader. */
  async function tryAcquire(signal: AbortSignal): Promise<boolean> {
    try {
      try {
        observe(await read(signal));
      } catch (error) {
        if (!isNotFound(error)) throw error;
        // Somebody has deleted the Lease. The process that held it may not have noticed, and may still write until its span is over.
        if (known !== undefined && !mayTake(known)) return false;
        known = undefined;
      }
      if (known !== undefined && !mayTake(known)) return false;
      await claim(signal);
      return isLeader();
    } catch (err) {
      // Someone was faster: seen again at the next attempt.
      const isExpected = signal.aborted || isConflict(err) || isAlreadyExists(err);
      if (!isExpected) log.warn({ err, lease: name }, 'the lease cannot be acquired');
      return false;
    }
  }

  /** Renews until `signal` aborts (resolves with undefined) or the right to lead is over (resolves with the loss). */
  async function keep(signal: AbortSignal): Promise<LeadershipLost | undefined> {
    // Aborts also when the right to lead runs out, so that no renewal that hangs can delay the end.
    const scope = createAbortScope(signal);
    const tooLate = `no renewal succeeded within ${renewDeadline / 1000} s`;
    let disarm: () => void = () => undefined;
    const arm = (): void => {
      disarm();
      disarm = clock.after(leadingUntil - clock.monotonic(), () => scope.abort(lost(tooLate)));
    };
    try {
      for (arm(); ; ) {
        await sleep(clock, retryPeriod, scope.signal).catch(() => undefined);
        if (scope.signal.aborted) break;
        if (!isLeader()) return lost(tooLate);
        const holder = await renew(scope.signal);
        if (scope.signal.aborted) break;
        if (holder !== identity) return lost(`it is held by ${holder || 'nobody'}`);
        arm();
      }
      return scope.signal.reason instanceof LeadershipLost ? scope.signal.reason : undefined;
    } finally {
      disarm();
      scope.dispose();
    }
  }

  /** One attempt. Answers with the holder as far as is known: our own identity unless the server named another. */
  async function renew(signal: AbortSignal): Promise<string> {
    try {
      await claim(signal);
    } catch (err) {
      if (signal.aborted) return identity;
      const holder = isConflict(err) || isNotFound(err) ? await currentHolder(signal) : undefined;
      if (holder !== undefined && holder !== identity) return holder;
      log.warn({ err, lease: name }, 'the lease could not be renewed');
    }
    return identity;
  }

  /** Reads the lease after a refused renewal. Undefined when that fails too. */
  async function currentHolder(signal?: AbortSignal): Promise<string | undefined> {
    try {
      const lease = await read(signal);
      observe(lease);
      return specOf(lease).holderIdentity ?? '';
    } catch (err) {
      if (isNotFound(err)) return '';
      log.warn({ err, lease: name }, 'the lease could not be read');
      return undefined;
    }
  }

  function lost(why: string): LeadershipLost {
    leadingUntil = Number.NEGATIVE_INFINITY;
    return new LeadershipLost(`${namespace}/${name}`, why);
  }

  /** Hands the lease to whoever comes next, without their waiting. */
  async function release(isSecondTry = false): Promise<void> {
    leadingUntil = Number.NEGATIVE_INFINITY;
    if (known === undefined) return;
    if (!mayRelease()) {
      log.warn({ lease: name }, 'a write has not been answered: the lease is not released and will run out');
      return;
    }
    const { lease } = known;
    const spec = { ...specOf(lease), holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(clock.now()) };
    try {
      await attempt(retryPeriod, undefined, (call) => client.replace({ ...lease, spec }, call));
    } catch (err) {
      // The last renewal may have been cut off after the server had carried it out.
      if (!isSecondTry && isConflict(err) && (await currentHolder()) === identity) return release(true);
      log.warn({ err, lease: name }, 'the lease could not be released and will run out');
    }
  }

  return {
    isLeader,
    async run(signal, lead) {
      while (!signal.aborted && !(await tryAcquire(signal))) {
        await sleep(clock, retryPeriod * (1 + 0.2 * random()), signal).catch(() => undefined);
      }
      if (!isLeader()) return 'released';
      log.info({ lease: name, identity }, 'leading');
      metrics?.leader.set({ lease: name }, 1);

      const stopping = createAbortScope(signal);
      const losing = createAbortScope();
      const keeping = createAbortScope();
      const work = lead({ stopping: stopping.signal, lost: losing.signal }).finally(() =>
        keeping.abort(new Error('the work is over')),
      );
      const kept = keep(keeping.signal).then((loss) => {
        if (loss === undefined) return undefined;
        metrics?.leader.set({ lease: name }, 0);
        log.error({ err: loss, lease: name }, 'leadership lost');
        losing.abort(loss);
        stopping.abort(loss);
        return loss;
      });
      // A failure of the work counts only after the lease has been dealt with.
      const [loss] = await Promise.all([kept, work.catch(() => undefined)]);
      stopping.dispose();
      if (loss !== undefined) return 'lost';
      metrics?.leader.set({ lease: name }, 0);
      await release();
      await work;
      return 'released';
    },
  };
}

/** RFC 3339 with microseconds, the form of `MicroTime` fields. */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}
