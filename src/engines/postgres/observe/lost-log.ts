/** Whether a standby that copies from nobody can get on by itself, by what it and the primary said at one time: pure. */
import type { LiveMember, LogPosition } from './observed.ts';
import type { TimelineEnd } from './situation.ts';

/** In which Patroni has noticed that a member has left the primary's timeline, and has stopped it to rewind it. */
const rewindMs = 60_000;

/** `behind`: the primary has removed the log that it needs. `diverged`: it is on no timeline of the primary's, and was not rewound. */
export type Loss = 'behind' | 'diverged';

export interface Surroundings {
  readonly history: readonly TimelineEnd[];
  /** Position at which the primary's log begins. */
  readonly logBegins: number | undefined;
  /** How long the primary has had the lock. */
  readonly ledMs: number;
}

/** PostgreSQL runs, takes no writes, and copies from nobody. */
export function isApart({ role, postgres, isStreaming }: LiveMember): boolean {
  return role === 'replica' && postgres === 'running' && !isStreaming;
}

/** `standby`, `primary`: what they said at one time, and how long they run. */
export function lossOf(
  standby: LogPosition & { readonly upMs: number },
  primary: LogPosition & { readonly upMs: number },
  { history, logBegins, ledMs }: Surroundings,
): Loss | undefined {
  const { lsn } = standby;
  if (lsn === undefined) return undefined;
  const isOn = isOnHistory(standby, primary, history);
  if (isOn && logBegins !== undefined && lsn < logBegins) return 'behind';
  // A primary that held the lock before has it from then on, also where it has started and been promoted only now.
  const isKnown = standby.timeline !== undefined && primary.timeline !== undefined && primary.lsn !== undefined;
  return isKnown && !isOn && Math.min(standby.upMs, primary.upMs, ledMs) > rewindMs ? 'diverged' : undefined;
}

/** Time since its start; 0 where it does not say. */
export function upMs({ server }: LiveMember): number {
  return server?.state === 'seen' ? server.facts.upMs : 0;
}

/** Whether everything that it has is a part of what the primary has. */
export function isOnHistory(
  { timeline, lsn }: LogPosition,
  primary: LogPosition,
  history: readonly TimelineEnd[],
): boolean {
  if (timeline === undefined || lsn === undefined || primary.timeline === undefined || primary.lsn === undefined)
    return false;
  if (timeline > primary.timeline) return false;
  if (timeline === primary.timeline) return lsn <= primary.lsn;
  const ended = history.find((entry) => entry.timeline === timeline);
  return ended !== undefined && lsn <= ended.end;
}
