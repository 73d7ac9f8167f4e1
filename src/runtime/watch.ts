/**
 * The events of one watch, decoded. What a stream of them means (resume, relist, give up) is the reflector's business.
 */
import type { KubeObject } from '../api/object.ts';
import { createLineSplitter, MAX_LINE_BYTES } from '../system/line-splitter.ts';
import type { Status } from './api-error.ts';

export type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: KubeObject }
  /** Progress only. `initialEventsEnd`: everything that existed when the watch began has been sent. */
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly initialEventsEnd: boolean }
  | { readonly type: 'ERROR'; readonly status: Status };

/** A line of a watch that is not an event. Nothing after it can be trusted. */
export class GarbledWatch extends Error {
  readonly code = 'GarbledWatch';

  constructor(line: string, problem: string, options?: ErrorOptions) {
    super(`${problem}: ${line.length > 200 ? `${line.slice(0, 200)}... (${line.length} characters)` : line}`, options);
    this.name = 'GarbledWatch';
  }
}

/** Ends when the stream does, dropping an unfinished last line; throws `GarbledWatch`, `LineTooLong` or the stream's error. */
export async function* decodeWatch(
  chunks: AsyncIterable<Uint8Array>,
  maxLineBytes: number = MAX_LINE_BYTES,
): AsyncGenerator<WatchEvent> {
  const splitter = createLineSplitter(maxLineBytes);
  for await (const chunk of chunks) {
    for (const line of splitter.push(chunk)) yield decodeEvent(line);
  }
}

interface RawEvent {
  readonly type?: unknown;
  readonly object?: { readonly metadata?: Partial<KubeObject['metadata']> } | null;
}

function decodeEvent(line: string): WatchEvent {
  let raw: RawEvent;
  try {
    raw = JSON.parse(line) as RawEvent;
  } catch (cause) {
    throw new GarbledWatch(line, 'a line of the watch is not JSON', { cause });
  }
  const object = raw?.object;
  if (typeof object !== 'object' || object === null) throw new GarbledWatch(line, 'a watch event has no object');
  switch (raw.type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      if (typeof object.metadata?.name !== 'string' || typeof object.metadata.resourceVersion !== 'string') {
        throw new GarbledWatch(line, 'the object of a watch event has no name or resourceVersion');
      }
      return { type: raw.type, object: object as KubeObject };
    case 'BOOKMARK':
      return {
        type: 'BOOKMARK',
        resourceVersion: object.metadata?.resourceVersion ?? '',
        initialEventsEnd: object.metadata?.annotations?.['k8s.io/initial-events-end'] === 'true',
      };
    case 'ERROR':
      return { type: 'ERROR', status: object as Status };
    default:
      throw new GarbledWatch(line, 'a watch event has an unknown type');
  }
}
