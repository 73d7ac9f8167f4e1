/**
 * Cuts a byte stream into lines of text.
 *
 * The cut is made on bytes and a line is decoded whole, so it does not matter where the network split it, not even
 * inside a character. A line without its line feed is never handed out: it may be half an event.
 */

/** 32 MiB: etcd's largest object is 1.5 MB by default; this only bounds what a broken peer can make us hold. */
export const MAX_LINE_BYTES = 32 * 1024 * 1024;

const LINE_FEED = 0x0a;

export class LineTooLong extends Error {
  readonly code = 'LineTooLong';

  constructor(limit: number) {
    super(`a line of the watch stream is longer than ${limit} bytes`);
    this.name = 'LineTooLong';
  }
}

export interface LineSplitter {
  /** The lines that this chunk completes, without their line feeds; empty lines are left out. */
  push(chunk: Uint8Array): string[];
}

export function createLineSplitter(maxBytes: number = MAX_LINE_BYTES): LineSplitter {
  let parts: Uint8Array[] = [];
  let held = 0;

  const hold = (part: Uint8Array): void => {
    held += part.length;
    if (held > maxBytes) throw new LineTooLong(maxBytes);
    if (part.length > 0) parts.push(part);
  };

  return {
    push(chunk) {
      const lines: string[] = [];
      let start = 0;
      for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
        hold(chunk.subarray(start, end));
        const line = Buffer.concat(parts, held).toString('utf8');
        if (line.trim() !== '') lines.push(line);
        parts = [];
        held = 0;
        start = end + 1;
      }
      hold(chunk.subarray(start));
      return lines;
    },
  };
}
