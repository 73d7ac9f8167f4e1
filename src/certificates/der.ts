/**
 * The few forms of DER that a certificate is written in. Each function returns a whole element, tag and length included.
 *
 * It only writes: what is read of a certificate is read by node's own parser.
 */

function element(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
}

function lengthOf(size: number): Buffer {
  if (size < 0x80) return Buffer.from([size]);
  const bytes: number[] = [];
  for (let rest = size; rest > 0; rest >>>= 8) bytes.unshift(rest & 0xff);
  return Buffer.from([0x80 | bytes.length, ...bytes]);
}

export const sequence = (...parts: readonly Buffer[]): Buffer => element(0x30, ...parts);

export const set = (...parts: readonly Buffer[]): Buffer => element(0x31, ...parts);

export const octets = (content: Buffer): Buffer => element(0x04, content);

export const utf8 = (text: string): Buffer => element(0x0c, Buffer.from(text, 'utf8'));

export const yes: Buffer = element(0x01, Buffer.from([0xff]));

/** Of bytes that mean a number without a sign, the highest first. */
export function integer(bytes: Buffer): Buffer {
  const start = bytes.findIndex((byte) => byte !== 0);
  const short = start === -1 ? Buffer.from([0]) : bytes.subarray(start);
  return element(0x02, ((short[0] ?? 0) & 0x80) === 0 ? short : Buffer.concat([Buffer.from([0]), short]));
}

/** `unused`: bits at the end that do not count. */
export const bits = (content: Buffer, unused = 0): Buffer => element(0x03, Buffer.from([unused]), content);

/** `1.2.840.10045.4.3.2` */
export function identifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return element(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const bytes = [value & 0x7f];
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes.unshift((rest & 0x7f) | 0x80);
  return bytes;
}

/** To the second. Up to 2049 in the short form, as RFC 5280 wants it. `at` in milliseconds. */
export function time(at: number): Buffer {
  const digits = new Date(at)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replace(/[-:T]/g, '');
  return new Date(at).getUTCFullYear() < 2050
    ? element(0x17, Buffer.from(digits.slice(2), 'latin1'))
    : element(0x18, Buffer.from(digits, 'latin1'));
}

/** A tag that the surrounding structure gives its own meaning. `constructed`: it holds elements. */
export const tagged = (number: number, content: Buffer, constructed: boolean): Buffer =>
  element((constructed ? 0xa0 : 0x80) | number, content);
