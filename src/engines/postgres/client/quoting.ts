/**
 * Names and texts within SQL. Every name is quoted, so that none is a keyword and case counts. A text with a backslash is written in the
 * form in which a backslash means the same whatever `standard_conforming_strings` says, which the owner of a database can set for it.
 */

/** @throws where it contains a NUL, which no name or text of PostgreSQL can */
function requireText(text: string): string {
  if (text.includes('\0')) throw new Error('a name or a text for PostgreSQL contains a NUL');
  return text;
}

export function quoted(name: string): string {
  return `"${requireText(name).replaceAll('"', '""')}"`;
}

export function literal(text: string): string {
  const doubled = requireText(text).replaceAll("'", "''");
  return text.includes('\\') ? ` E'${doubled.replaceAll('\\', '\\\\')}'` : `'${doubled}'`;
}

/** An array of texts. */
export function textArray(texts: readonly string[]): string {
  return `ARRAY[${texts.map(literal).join(', ')}]::text[]`;
}
