/**
 * The probes of one run of a container: the startup probe until it succeeds, then readiness and liveness, each on the
 * beat of its own period. A command that takes longer than its time-out has failed.
 */

import type { ClusterState } from './cluster-state.ts';
import { type Fields, fieldsIn, itemsIn, numberIn } from './fields.ts';

export interface ProbeTarget {
  readonly container: Fields;
  readonly exec: (command: readonly string[]) => Promise<boolean>;
  readonly get: (port: number, path: string) => Promise<boolean>;
  onStarted(): void;
  onReady(isReady: boolean): void;
  /** Startup or liveness has failed for good: the container must go. */
  onFailed(why: string): void;
}

export interface Probes {
  /** No more of liveness: the pod is on its way out. Readiness goes on. */
  stopLiveness(): void;
  stop(): void;
}

/** A command to run, or a place to ask. */
type Question = { readonly command: readonly string[] } | { readonly port: number; readonly path: string };

interface Timing {
  readonly question: Question;
  readonly periodMs: number;
  readonly timeoutMs: number;
  readonly failures: number;
  readonly successes: number;
  readonly delayMs: number;
}

function questionOf(probe: Fields, container: Fields): Question | undefined {
  const { command } = fieldsIn(probe.exec);
  if (Array.isArray(command)) return { command };
  const { port, path } = fieldsIn(probe.httpGet);
  if (port === undefined) return undefined;
  const named = itemsIn(container.ports).find(({ name }) => name === port);
  return { port: Number(named?.containerPort ?? port), path: String(path) };
}

function timingOf(value: unknown, container: Fields): Timing | undefined {
  const probe = fieldsIn(value);
  const question = questionOf(probe, container);
  if (question === undefined) return undefined;
  return {
    question,
    periodMs: numberIn(probe.periodSeconds, 10) * 1000,
    timeoutMs: numberIn(probe.timeoutSeconds, 1) * 1000,
    failures: numberIn(probe.failureThreshold, 3),
    successes: numberIn(probe.successThreshold, 1),
    delayMs: numberIn(probe.initialDelaySeconds, 0) * 1000,
  };
}

export function startProbes({ time, random }: Pick<ClusterState, 'time' | 'random'>, target: ProbeTarget): Probes {
  const { container } = target;
  let isStopped = false;
  let watchesLife = true;

  const ask = (question: Question): Promise<boolean> =>
    'command' in question ? target.exec(question.command) : target.get(question.port, question.path);

  async function attempt({ question, timeoutMs }: Timing): Promise<boolean> {
    let cancel: () => void = () => undefined;
    const late = new Promise<boolean>((resolve) => {
      cancel = time.after(timeoutMs, () => resolve(false));
    });
    try {
      return await Promise.race([ask(question), late]);
    } finally {
      cancel();
    }
  }

  /** Runs a probe on its beat; `judge` says whether it goes on. */
  function beat(timing: Timing, firstMs: number, judge: (verdict: boolean) => boolean): void {
    const began = time.monotonic() + firstMs;
    let inRow = 0;
    let last: boolean | undefined;
    const again = async (): Promise<void> => {
      if (isStopped) return;
      const succeeded = await attempt(timing);
      if (isStopped) return;
      inRow = succeeded === last ? inRow + 1 : 1;
      last = succeeded;
      const isSure = inRow >= (succeeded ? timing.successes : timing.failures);
      if (isSure && !judge(succeeded)) return;
      const passed = time.monotonic() - began;
      // An answer that took no time at all comes a rounding error before its beat.
      const beats = Math.floor(passed / timing.periodMs + 1e-6) + 1;
      time.after(beats * timing.periodMs - passed, again);
    };
    time.after(firstMs, again);
  }

  function started(): void {
    target.onStarted();
    const readiness = timingOf(container.readinessProbe, container);
    if (readiness === undefined) target.onReady(true);
    else {
      beat(readiness, readiness.delayMs, (isReady) => {
        target.onReady(isReady);
        return true;
      });
    }
    const liveness = timingOf(container.livenessProbe, container);
    if (liveness === undefined) return;
    beat(liveness, liveness.delayMs + random() * liveness.periodMs, (lives) => {
      if (!watchesLife) return false;
      if (!lives) target.onFailed('Liveness');
      return lives;
    });
  }

  const startup = timingOf(container.startupProbe, container);
  if (startup === undefined) started();
  else {
    beat(startup, startup.delayMs + random() * startup.periodMs, (succeeded) => {
      if (succeeded) started();
      else if (watchesLife) target.onFailed('Startup');
      return false;
    });
  }

  return {
    stopLiveness() {
      watchesLife = false;
    },
    stop() {
      isStopped = true;
    },
  };
}
