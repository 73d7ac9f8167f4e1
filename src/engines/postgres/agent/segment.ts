/** A file of the log, as it grows out of what is streamed. */
import { formatLsn, type Lsn, segmentName } from '../client/lsn.ts';
import { ProtocolError } from '../client/message-decoder.ts';
import { segmentHeaderIn } from './segment-header.ts';

export interface Segment {
  readonly kind: 'segment';
  /** As the server calls the file. */
  readonly name: string;
  readonly timeline: number;
  readonly start: Lsn;
  /** Of what is here, the end. */
  readonly end: Lsn;
  readonly bytes: Buffer;
  /** Otherwise more may come, or the timeline ends within it: then the rest is in the file of the next one. */
  readonly isWhole: boolean;
}

export interface SegmentOptions {
  readonly timeline: number;
  readonly segmentBytes: number;
  readonly systemId: string;
}

export class SegmentAssembly {
  readonly #options: SegmentOptions;
  #start: Lsn;
  #bytes: Buffer | undefined;
  #filled = 0;

  /** @param start of a segment */
  constructor(start: Lsn, options: SegmentOptions) {
    this.#options = options;
    this.#start = start;
  }

  /** The byte that comes next. */
  get position(): Lsn {
    return this.#start + BigInt(this.#filled);
  }

  /** The segments that are whole now. Throws ProtocolError for what is not of this log. */
  add(bytes: Buffer): Segment[] {
    const { segmentBytes } = this.#options;
    const whole: Segment[] = [];
    let rest = bytes;
    while (rest.length > 0) {
      this.#bytes ??= Buffer.allocUnsafeSlow(segmentBytes);
      const copied = rest.copy(this.#bytes, this.#filled);
      rest = rest.subarray(copied);
      this.#filled += copied;
      if (this.#filled < segmentBytes) break;
      whole.push(this.#segment(this.#bytes, true));
      this.#start += BigInt(segmentBytes);
      this.#bytes = undefined;
      this.#filled = 0;
    }
    return whole;
  }

  /** A copy of what has come of a segment that is not whole; undefined where nothing has. */
  unfinished(): Segment | undefined {
    if (this.#bytes === undefined) return undefined;
    return this.#segment(Buffer.from(this.#bytes.subarray(0, this.#filled)), false);
  }

  #segment(bytes: Buffer, isWhole: boolean): Segment {
    const { timeline, segmentBytes, systemId } = this.#options;
    const name = segmentName(timeline, this.#start, segmentBytes);
    const header = segmentHeaderIn(bytes);
    const isTooShort = !isWhole && bytes.length < 40;
    if (!isTooShort) {
      if (header?.start !== this.#start || header.segmentBytes !== segmentBytes) {
        throw new ProtocolError(`${name} is not the log from ${formatLsn(this.#start)} on`);
      }
      if (header.systemId !== systemId)
        throw new ProtocolError(`${name} is of the database cluster ${header.systemId}`);
    }
    return { kind: 'segment', name, timeline, start: this.#start, end: this.position, bytes, isWhole };
  }
}
