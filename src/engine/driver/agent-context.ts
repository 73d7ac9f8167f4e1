/** What the agent needs of the world: time, chance, a log, and when to stop. */
import type { Clock } from '../../system/clock.ts';
import type { Log } from '../../system/log.ts';

export interface AgentContext {
  readonly clock: Clock;
  /** Random bytes that nobody can guess. */
  readonly random: (bytes: number) => Buffer;
  readonly log: Log;
  /** Variables of the process: what the platform says of its identity. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Aborts with a Failure of the reason `Stopped`. */
  readonly signal: AbortSignal;
  /** Longest wait for anybody's next byte, in milliseconds. */
  readonly idleMs: number;
  /** Whoever reads a secret says so, and it is kept out of the log. */
  readonly protect: (secret: string) => void;
  /** A text that leaves the process other than by the log, without those secrets. */
  readonly conceal: (text: string) => string;
}
