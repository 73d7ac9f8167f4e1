/** The timelines that lead to one of them, from its history file: where each ends and the next begins. */
import { type Lsn, parseLsn } from '../client/lsn.ts';
import { ProtocolError } from '../client/message-decoder.ts';

/** A part of the log that was written on one timeline. */
export interface Stretch {
  readonly timeline: number;
  readonly begin: Lsn;
  /** Undefined: it goes on. */
  readonly end: Lsn | undefined;
}

/** From the first one on; the last one goes on. */
export type TimelinePath = readonly [Stretch, ...Stretch[]];

/** @param history content of the file of this timeline; the first one has none. Throws ProtocolError. */
export function timelinePath(timeline: number, history: string | undefined): TimelinePath {
  const stretches: Stretch[] = [];
  let begin: Lsn = 0n;
  for (const line of (history ?? '').split('\n')) {
    const text = line.replace(/#.*/, '').trim();
    if (text === '') continue;
    const [number = '', position = ''] = text.split(/\s+/);
    const [parent, end] = [Number(number), parseLsn(position)];
    const isNext = Number.isInteger(parent) && parent > (stretches.at(-1)?.timeline ?? 0) && parent < timeline;
    if (!isNext || end === undefined || end < begin) {
      throw new ProtocolError(`the history of timeline ${timeline} has a line ${JSON.stringify(line.slice(0, 80))}`);
    }
    stretches.push({ timeline: parent, begin, end });
    begin = end;
  }
  const last: Stretch = { timeline, begin, end: undefined };
  const [first, ...rest] = [...stretches, last];
  return [first ?? last, ...rest];
}

/** The stretch that a position on this timeline is in; undefined where that is no part of the path. */
export function stretchAt(path: TimelinePath, timeline: number, position: Lsn): Stretch | undefined {
  const stretch = path.find((each) => each.timeline === timeline);
  return stretch === undefined || (stretch.end !== undefined && position > stretch.end) ? undefined : stretch;
}
