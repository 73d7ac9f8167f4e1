/**
 * Messages of PostgreSQL's protocol 3.0 that this side sends. A text ends with a NUL, so none may contain one: what comes
 * after it would be read as the next field.
 */

/** 3.0 */
const protocolVersion = 0x0003_0000;
/** What stands in place of a version where TLS is asked for. */
const tlsRequestCode = 80_877_103;

/** Thrown for what cannot be written; nothing has been sent. */
export class Unsendable extends Error {
  override readonly name = 'Unsendable';
}

/** A text with its NUL. */
export function cstring(text: string): Buffer {
  if (text.includes('\0')) throw new Unsendable('a text contains a NUL');
  return Buffer.from(`${text}\0`);
}

function framed(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(type.length + 4);
  head.write(type, 'latin1');
  head.writeInt32BE(body.length + 4, type.length);
  return Buffer.concat([head, body]);
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

export function tlsRequest(): Buffer {
  return framed('', int32(tlsRequestCode));
}

/** `user`, `database`, `replication` and settings of the server for this session. */
export function startupMessage(parameters: Readonly<Record<string, string>>): Buffer {
  const fields = Object.entries(parameters).flatMap(([name, value]) => [cstring(name), cstring(value)]);
  return framed('', Buffer.concat([int32(protocolVersion), ...fields, Buffer.alloc(1)]));
}

/** How a login with SASL begins. */
export function saslInitialMessage(mechanism: string, data: string): Buffer {
  const bytes = Buffer.from(data);
  return framed('p', Buffer.concat([cstring(mechanism), int32(bytes.length), bytes]));
}

export function saslMessage(data: string): Buffer {
  return framed('p', Buffer.from(data));
}

export function queryMessage(sql: string): Buffer {
  return framed('Q', cstring(sql));
}

export function copyDataMessage(data: Buffer): Buffer {
  return framed('d', data);
}

export function copyDoneMessage(): Buffer {
  return framed('c', Buffer.alloc(0));
}

export function terminateMessage(): Buffer {
  return framed('X', Buffer.alloc(0));
}
