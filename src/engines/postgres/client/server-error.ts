/** An error or a notice of the server: fields of a letter and a text each. */
import { shortened } from '../../../api/bounds.ts';
import { fieldReader } from './fields.ts';

/** The server has refused; the connection may go on. */
export class ServerError extends Error {
  override readonly name = 'ServerError';
  /** SQLSTATE, five characters: the first two say of which class it is. */
  readonly code: string;
  /** `ERROR`, `FATAL` or `PANIC`, whatever the language of the messages; after the last two the connection ends. */
  readonly severity: string;
  constructor(severity: string, code: string, message: string) {
    super(shortened(message));
    this.severity = severity;
    this.code = code;
  }
}

/** A server that is older or starting may leave fields out; whatever is not said is said to be unknown. */
export function serverErrorIn(body: Buffer): ServerError {
  const fields = new Map<string, string>();
  const read = fieldReader(body);
  for (;;) {
    const type = read.byte();
    if (type === 0) break;
    const text = read.text();
    // The first one counts: nobody sends a field twice.
    const letter = String.fromCharCode(type);
    if (!fields.has(letter)) fields.set(letter, text);
  }
  const code = fields.get('C') ?? '';
  const severity = fields.get('V') ?? fields.get('S') ?? '';
  return new ServerError(
    /^[A-Z]{1,8}$/.test(severity) ? severity : 'ERROR',
    /^[0-9A-Z]{5}$/.test(code) ? code : 'XX000',
    fields.get('M') ?? 'no message',
  );
}

/** What passes by itself: it starts, stops, recovers, is promoted meanwhile, or has no connection or memory to spare. */
export function isPassing({ code }: ServerError): boolean {
  return /^(08|53|55|57P|58|XX|40)/.test(code);
}
