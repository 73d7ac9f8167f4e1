/**
 * One container of a pod through all its runs: started, probed, ended by its program or from outside, and started again
 * after a pause that doubles. What has happened shows in its status.
 */
import type { Program, RunningProgram } from '../world/workload.ts';
import type { ClusterState } from './cluster-state.ts';
import { type Fields, fieldsIn } from './fields.ts';
import { type Probes, startProbes } from './probes.ts';
import { timestamp } from './registry.ts';

/** What a program may do to its container. */
export interface Hooks {
  readonly exit: (code: number, lastWords?: string) => void;
  readonly leave: (message: string) => void;
}

export interface ContainerPlan {
  readonly spec: Fields;
  readonly program: Program;
  /** Starts one run of the program; `exit` is its own end. Undefined while a key of its environment is not there. */
  readonly launch: (program: Program, hooks: Hooks) => RunningProgram | undefined;
  readonly restarts: 'Always' | 'OnFailure' | 'Never';
  readonly graceSeconds: number;
  /** Of earlier lives of the pod on this machine. */
  readonly restartCount: number;
  readonly changed: () => void;
}

export interface Container {
  readonly name: string;
  readonly status: Fields;
  readonly hasStarted: boolean;
  readonly isRunning: boolean;
  readonly isReady: boolean;
  /** Exit code of the last run, where it will not be started again. */
  readonly finalCode: number | undefined;
  start(): void;
  /** SIGKILL from outside, as by the OOM killer. */
  kill(): void;
  /** For good: hook, SIGTERM, and SIGKILL when the grace is over. */
  terminate(graceMs: number): void;
  /** The machine is off: ended, and nothing will be told. */
  cutOff(): void;
}

const firstBackoffMs = 10_000;
const maxBackoffMs = 300_000;
const forgetBackoffMs = 600_000;
/** Between two looks for a key that its environment needs. */
const configRetryMs = 10_000;
/** What a container gets for its SIGTERM after a hook has used up the grace. */
const leastGraceMs = 2_000;

type State = 'waiting' | 'running' | 'ended';

export function createContainer(state: Pick<ClusterState, 'time' | 'random'>, plan: ContainerPlan): Container {
  const { time, random } = state;
  const { spec } = plan;
  const name = String(spec.name);
  let run = 0;
  let program: RunningProgram | undefined;
  let probes: Probes | undefined;
  let phase: State = 'waiting';
  let reason = 'ContainerCreating';
  let ready = false;
  let started = false;
  let hasRun = false;
  let startedAt = 0;
  let restartCount = plan.restartCount;
  let backoff = 0;
  let last: Fields | undefined;
  let code: number | undefined;
  /** In the termination message's file. */
  let left: string | undefined;
  let isOver = false;
  let isKilling = false;

  function start(): void {
    if (isOver) return;
    const mine = ++run;
    phase = 'running';
    isKilling = false;
    startedAt = time.now();
    started = false;
    ready = false;
    left = undefined;
    const launched = plan.launch(plan.program, {
      exit: (exitCode, lastWords) => ended(mine, exitCode, lastWords),
      leave(message) {
        if (run === mine) left = message;
      },
    });
    if (launched === undefined) {
      phase = 'waiting';
      reason = 'CreateContainerConfigError';
      plan.changed();
      time.after(configRetryMs, () => {
        if (run === mine) start();
      });
      return;
    }
    hasRun = true;
    // A program may have exited while it was being made.
    if (run !== mine || phase !== 'running') return;
    program = launched;
    probes = startProbes(state, {
      container: spec,
      exec: (command) => launched.exec(command),
      get: (port, path) => launched.get?.(port, path) ?? Promise.resolve(false),
      onStarted() {
        started = true;
        plan.changed();
      },
      onReady(isReady) {
        if (ready === isReady) return;
        ready = isReady;
        plan.changed();
      },
      onFailed: () => shutDown(plan.graceSeconds * 1000),
    });
    plan.changed();
  }

  function ended(of: number, exitCode: number, lastWords?: string): void {
    if (of !== run || phase !== 'running') return;
    run++;
    hasRun = true;
    probes?.stop();
    program = undefined;
    phase = 'ended';
    ready = false;
    started = false;
    code = exitCode;
    const isLogShown = spec.terminationMessagePolicy === 'FallbackToLogsOnError' && exitCode !== 0;
    const message = left ?? (isLogShown ? lastWords : undefined);
    last = {
      exitCode,
      reason: exitCode === 0 ? 'Completed' : 'Error',
      startedAt: timestamp(startedAt),
      finishedAt: timestamp(time.now()),
      ...(message === undefined ? {} : { message }),
    };
    plan.changed();
    if (!isOver && mayRestart(exitCode)) restart();
  }

  const mayRestart = (exitCode: number): boolean =>
    plan.restarts === 'Always' || (plan.restarts === 'OnFailure' && exitCode !== 0);

  /** The first time as soon as the kubelet has noticed, then after a pause that doubles. */
  function restart(): void {
    if (time.now() - startedAt > forgetBackoffMs) backoff = 0;
    const noticing = 200 + random() * 1000;
    const pause = backoff === 0 ? noticing : Math.max(noticing, backoff);
    if (backoff > 0) {
      phase = 'waiting';
      reason = 'CrashLoopBackOff';
    }
    backoff = Math.min(maxBackoffMs, backoff === 0 ? firstBackoffMs : 2 * backoff);
    const mine = run;
    time.after(pause, () => {
      if (isOver || run !== mine) return;
      restartCount++;
      start();
    });
  }

  function kill(): void {
    if (phase !== 'running') return;
    const mine = run;
    program?.kill();
    ended(mine, 137);
  }

  function shutDown(graceMs: number): void {
    if (phase !== 'running' || isKilling) return;
    isKilling = true;
    const mine = run;
    const deadline = time.monotonic() + graceMs;
    const stop = (): void => {
      if (run !== mine) return;
      program?.terminate();
      if (run !== mine) return;
      time.after(Math.max(leastGraceMs, deadline - time.monotonic()), () => {
        if (run === mine) kill();
      });
    };
    const { command } = fieldsIn(fieldsIn(fieldsIn(spec.lifecycle).preStop).exec);
    if (!Array.isArray(command) || program === undefined || graceMs <= 0) {
      stop();
      return;
    }
    // Whichever comes first, the end of the hook or of the grace; how the hook ends makes no difference.
    let isStopping = false;
    const once = (): void => {
      if (isStopping) return;
      isStopping = true;
      cancel();
      stop();
    };
    const cancel = time.after(graceMs, once);
    program.exec(command).then(once, once);
  }

  return {
    name,
    start,
    kill,
    get isRunning() {
      return phase === 'running';
    },
    get isReady() {
      return ready;
    },
    get hasStarted() {
      return hasRun;
    },
    get finalCode() {
      return phase === 'ended' && (isOver || !mayRestart(code ?? 0)) ? code : undefined;
    },
    get status() {
      const states: Readonly<Record<State, Fields>> = {
        waiting: { waiting: { reason } },
        running: { running: { startedAt: timestamp(startedAt) } },
        ended: { terminated: last },
      };
      return {
        name,
        image: spec.image,
        imageID: spec.image,
        ready,
        started,
        restartCount,
        state: states[phase],
        lastState: phase === 'ended' || last === undefined ? {} : { terminated: last },
      };
    },
    terminate(graceMs) {
      isOver = true;
      if (phase === 'waiting') {
        phase = 'ended';
        code = 137;
        last ??= { exitCode: 137, reason: 'ContainerStatusUnknown' };
      }
      // One that has ended and would have been started again has ended for good now.
      if (phase === 'ended') plan.changed();
      probes?.stopLiveness();
      // A shorter grace than the one that runs counts from now.
      if (isKilling) {
        const mine = run;
        time.after(graceMs, () => {
          if (run === mine) kill();
        });
      } else shutDown(graceMs);
    },
    cutOff() {
      isOver = true;
      run++;
      probes?.stop();
      program?.kill();
      program = undefined;
      phase = 'ended';
    },
  };
}
