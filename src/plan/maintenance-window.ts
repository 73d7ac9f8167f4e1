/** Whether a maintenance window is open, and when the next one opens. */
import { type MaintenanceWindow, weekdays } from '../api/maintenance.ts';
import { instantOf, offsetAt } from './zoned-time.ts';

export type WindowState =
  | { readonly isOpen: true }
  /** `opensAt` in milliseconds; undefined where nobody knows the time zones. */
  | { readonly isOpen: false; readonly opensAt: number | undefined };

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** `now` in milliseconds. Without windows, one is always open. */
export function nextWindow(windows: readonly MaintenanceWindow[], now: number): WindowState {
  if (windows.length === 0) return { isOpen: true };
  const all = windows.flatMap((window) => occurrences(window, now));
  if (all.some(({ from, to }) => from <= now && now < to)) return { isOpen: true };
  const later = all.flatMap(({ from }) => (from > now ? [from] : []));
  return { isOpen: false, opensAt: later.length === 0 ? undefined : Math.min(...later) };
}

/** Names of time zones that this program does not know: the window never opens. */
export function unknownZones(windows: readonly MaintenanceWindow[]): readonly string[] {
  return [...new Set(windows.map(({ timeZone }) => timeZone))].filter((timeZone) => !isKnown(timeZone));
}

function isKnown(timeZone: string): boolean {
  try {
    offsetAt(timeZone, 0);
    return true;
  } catch {
    return false;
  }
}

interface Occurrence {
  readonly from: number;
  readonly to: number;
}

/** From the day before, since a window may last until the next one, to the same day of the next week. */
function occurrences({ days = weekdays, start, duration, timeZone }: MaintenanceWindow, now: number): Occurrence[] {
  if (!isKnown(timeZone)) return [];
  const wall = now + offsetAt(timeZone, now);
  const today = Math.floor(wall / dayMs);
  const [hours = 0, minutes = 0] = start.split(':').map(Number);
  return Array.from({ length: 11 }, (_, at) => today - 2 + at)
    .filter((day) => days.includes(weekdayOf(day)))
    .map((day) => {
      const from = instantOf(timeZone, day * dayMs + (hours * 60 + minutes) * minuteMs);
      return { from, to: from + lengthOf(duration) };
    });
}

/** The first day of 1970 was a Thursday. */
function weekdayOf(day: number): (typeof weekdays)[number] {
  return weekdays[(((day + 3) % 7) + 7) % 7] ?? 'Mon';
}

function lengthOf(duration: string): number {
  return Number(duration.slice(0, -1)) * (duration.endsWith('h') ? 60 : 1) * minuteMs;
}
