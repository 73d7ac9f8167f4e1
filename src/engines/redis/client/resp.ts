/**
 * The Redis serialization protocol, version 2: commands out, replies in.
 *
 * Replies may arrive split anywhere, so the decoder keeps what is incomplete: up to `longestAnswerBytes`, where nobody says otherwise. An error reply is
 * a value, since many of them (`NOGOODSLAVE`, `INPROG`) are answers.
 */
import { longestAnswerBytes, shortened } from '../../../api/bounds.ts';

/** Deepest nesting of lists that is read; `SENTINEL` and `ACL` answer with two or three. */
const deepest = 8;

/**
 * Most parts of a reply. Valkey remembers 1,000 migrations of slots, of 23 parts each (`cluster-slot-migration-log-max-len`), and the replicas that
 * Sentinel remembers take about 50 each. A longer list of tiny parts is nothing that a Redis says, and takes the operator many times its bytes.
 */
const mostParts = 32_768;

export class RedisError extends Error {
  /** The first word, for example `NOAUTH`. */
  readonly code: string;
  constructor(message: string) {
    super(shortened(message));
    this.name = 'RedisError';
    this.code = this.message.split(' ', 1)[0] ?? this.message;
  }
}

export type Reply = string | number | null | RedisError | readonly Reply[];

/** How texts are read and written. `latin1`: a character for each byte, whatever it is. Names and values of users' keys are bytes. */
export type TextEncoding = 'utf8' | 'latin1';

/** Arguments are sent as bulk strings: nothing in them is ever interpreted. */
export function encodeCommand(args: readonly string[], encoding: TextEncoding = 'utf8'): Buffer {
  const parts = args.map((arg) => `$${Buffer.byteLength(arg, encoding)}\r\n${arg}\r\n`);
  return Buffer.from(`*${args.length}\r\n${parts.join('')}`, encoding);
}

/** Thrown when the peer does not speak the protocol; the connection cannot be used any more. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

interface Parsed {
  readonly reply: Reply;
  readonly next: number;
}

/** How many bytes more it takes at least. */
type Missing = number;

/** What one reply may be. */
interface Limits {
  readonly encoding: TextEncoding;
  readonly longest: number;
}

/** `+`, and the end of a line. */
const shortestReply = 3;

interface Nested {
  readonly depth: number;
  readonly limits: Limits;
  /** Parts so far, of the whole reply. */
  readonly count: { parts: number };
}

function parse(buffer: Buffer, at: number, { depth, limits, count }: Nested): Parsed | Missing {
  const end = buffer.indexOf('\r\n', at);
  if (end < 0) return 1;
  count.parts++;
  const head = buffer.toString('utf8', at + 1, end);
  const next = end + 2;
  switch (buffer[at]) {
    case 0x2b: // +
      return { reply: head, next };
    case 0x2d: // -
      return { reply: new RedisError(head), next };
    case 0x3a: // :
      return { reply: integerOf(head), next };
    case 0x24: // $
      return parseBulk(buffer, next, lengthOf(head, limits.longest), limits.encoding);
    case 0x2a: // *
      return parseArray(buffer, next, lengthOf(head, limits.longest), { depth: depth + 1, limits, count });
    default:
      throw new ProtocolError(`a reply starts with byte ${buffer[at]}`);
  }
}

function integerOf(head: string): number {
  if (!/^[+-]?\d+$/.test(head)) throw new ProtocolError(`a number reads ${JSON.stringify(shortened(head))}`);
  return Number(head);
}

function lengthOf(head: string, longest: number): number {
  const length = integerOf(head);
  if (length < -1 || length > longest) {
    throw new ProtocolError(`a length reads ${JSON.stringify(shortened(head))}`);
  }
  return length;
}

function parseBulk(buffer: Buffer, at: number, length: number, encoding: TextEncoding): Parsed | Missing {
  if (length === -1) return { reply: null, next: at };
  const next = at + length + 2;
  if (buffer.length < next) return next - buffer.length;
  return { reply: buffer.toString(encoding, at, at + length), next };
}

function parseArray(buffer: Buffer, at: number, length: number, nested: Nested): Parsed | Missing {
  if (nested.depth > deepest) throw new ProtocolError(`lists are nested more than ${deepest} deep`);
  if (length === -1) return { reply: null, next: at };
  if (nested.count.parts + length > mostParts) throw new ProtocolError(`a reply has more than ${mostParts} parts`);
  const items: Reply[] = [];
  let next = at;
  for (let i = 0; i < length; i++) {
    const item = parse(buffer, next, nested);
    if (typeof item === 'number') return item + (length - i - 1) * shortestReply;
    items.push(item.reply);
    next = item.next;
  }
  return { reply: items, next };
}

/**
 * Feeds on chunks, gives whole replies. What is incomplete is read anew only when enough has come for it to be whole: a
 * peer that sends a long list byte by byte costs no more than one that sends it at once.
 */
export class ReplyDecoder {
  #rest: Buffer = Buffer.alloc(0);
  #missing: Missing = 0;
  #limits: Limits;

  constructor(longest: number = longestAnswerBytes) {
    this.#limits = { encoding: 'utf8', longest };
  }

  /** From the next reply on, texts are bytes, and a reply may be this long. */
  readBytes(longest: number): void {
    this.#limits = { encoding: 'latin1', longest };
  }

  /** Throws ProtocolError on bytes that are no reply. */
  push(chunk: Buffer): Reply[] {
    let buffer = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const replies: Reply[] = [];
    this.#missing -= chunk.length;
    while (buffer.length > 0 && this.#missing <= 0) {
      const parsed = parse(buffer, 0, { depth: 0, limits: this.#limits, count: { parts: 0 } });
      if (typeof parsed === 'number') {
        this.#missing = parsed;
        break;
      }
      replies.push(parsed.reply);
      buffer = buffer.subarray(parsed.next);
    }
    const { longest } = this.#limits;
    if (buffer.length > longest) {
      throw new ProtocolError(`a reply is longer than ${longest} bytes`);
    }
    this.#rest = buffer;
    return replies;
  }
}
