/**
 * When a schedule was due last: what tells a run that never began from one that is not due yet.
 *
 * The fields are matched as cron does, day of the month or day of the week where both are restricted. A time that a
 * change of the clock leaves out or repeats may be judged wrongly by an hour, which the grace of whoever asks covers.
 */
import { offsetAt } from '../../plan/zoned-time.ts';

/** Days that are looked back: a schedule of 29 February is left unjudged in most years. */
const maxDays = 400;
const minuteMs = 60_000;

interface Fields {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly weekdays: ReadonlySet<number>;
  readonly anyDay: boolean;
  readonly anyWeekday: boolean;
}

function valuesOf(field: string, least: number, most: number): ReadonlySet<number> {
  const values = new Set<number>();
  for (const part of field.split(',')) {
    const [range = '', step] = part.split('/');
    const [from = '', to] = range.split('-');
    const first = range === '*' ? least : Number(from);
    const last = range === '*' || (to === undefined && step !== undefined) ? most : Number(to ?? from);
    for (let value = first; value <= last; value += Number(step ?? 1)) values.add(value);
  }
  return values;
}

function parse(schedule: string): Fields {
  const [minute = '*', hour = '*', day = '*', month = '*', weekday = '*'] = schedule.split(' ');
  return {
    minutes: valuesOf(minute, 0, 59),
    hours: valuesOf(hour, 0, 23),
    days: valuesOf(day, 1, 31),
    months: valuesOf(month, 1, 12),
    weekdays: valuesOf(weekday, 0, 6),
    anyDay: day.startsWith('*'),
    anyWeekday: weekday.startsWith('*'),
  };
}

function fits(fields: Fields, day: Date): boolean {
  if (!fields.months.has(day.getUTCMonth() + 1)) return false;
  const isDay = fields.days.has(day.getUTCDate());
  const isWeekday = fields.weekdays.has(day.getUTCDay());
  if (fields.anyDay || fields.anyWeekday) return isDay && isWeekday;
  return isDay || isWeekday;
}

/** The last time at or before `before`, both in milliseconds; undefined where there is none within a year, or no such zone. */
export function lastDue(schedule: string, timeZone: string, before: number): number | undefined {
  const fields = parse(schedule);
  let offset: number;
  try {
    offset = offsetAt(timeZone, before);
  } catch {
    return undefined;
  }
  // From here on the clock on the wall, read as if it were UTC.
  const wall = Math.floor((before + offset) / minuteMs) * minuteMs;
  const today = new Date(wall);
  const midnight = Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate());
  const hours = [...fields.hours].sort((a, b) => b - a);
  const minutes = [...fields.minutes].sort((a, b) => b - a);
  for (let back = 0; back < maxDays; back++) {
    const day = midnight - back * 24 * 60 * minuteMs;
    if (!fits(fields, new Date(day))) continue;
    for (const hour of hours) {
      for (const minute of minutes) {
        const due = day + (hour * 60 + minute) * minuteMs;
        if (due <= wall) return due - offsetAt(timeZone, due - offset);
      }
    }
  }
  return undefined;
}
