/** Answers that are names and values: the lines of `INFO`, and flat lists. */
import type { Reply } from './resp.ts';

/** A Redis says about 250. */
const mostLines = 2048;

/** `name:value` lines; section headings and blank lines fall away. */
export function infoFields(text: string): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const line of text.split('\r\n', mostLines)) {
    const colon = line.indexOf(':');
    if (colon > 0 && line[0] !== '#') fields[line.slice(0, colon)] = line.slice(colon + 1);
  }
  return fields;
}

/** A flat list of names and values, as CONFIG GET and the SENTINEL commands answer. */
export function pairs(reply: Reply): Record<string, string> {
  const fields: Record<string, string> = {};
  if (!Array.isArray(reply)) return fields;
  for (let i = 0; i < reply.length; i += 2) fields[String(reply[i])] = String(reply[i + 1] ?? '');
  return fields;
}

/** A list of such lists. */
export function rows(reply: Reply): Record<string, string>[] {
  return Array.isArray(reply) ? reply.map(pairs) : [];
}
