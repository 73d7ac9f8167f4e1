/** The clock on the wall of a time zone. */

/** Milliseconds by which the clocks of a zone are ahead of UTC at a time. Throws on a zone that nobody knows. */
export function offsetAt(timeZone: string, at: number): number {
  const part = Object.fromEntries(
    formatOf(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000;
}

/** To make one takes longer than all that is done with it. Specs name few zones, and those that nobody knows are not kept. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  formats.set(timeZone, format);
  return format;
}

/**
 * When a clock on the wall shows `wall`, which is read as if it were UTC. Of a time that a change of the clocks repeats, the first; one that
 * it leaves out counts as so much later as the clocks are put forward.
 */
export function instantOf(timeZone: string, wall: number): number {
  const [before, after] = [offsetAt(timeZone, wall - dayMs), offsetAt(timeZone, wall + dayMs)];
  const candidates = [wall - before, wall - after].filter((at) => at + offsetAt(timeZone, at) === wall);
  return candidates.length === 0 ? wall - before : Math.min(...candidates);
}

const dayMs = 24 * 60 * 60 * 1000;
