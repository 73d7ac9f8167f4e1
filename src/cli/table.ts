/** Rows under headings, in columns as wide as they need to be. */

/** Ends with a newline. The last column is not padded. */
export function tableText(headings: readonly string[], rows: readonly (readonly string[])[], indent = ''): string {
  const lines = [headings, ...rows];
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  return lines
    .map((line) => `${indent}${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('   ')}`.trimEnd())
    .map((line) => `${line}\n`)
    .join('');
}

/** Time since then, in the two largest units at most, as kubectl shows ages: `45s`, `12m`, `3h`, `8d`. */
export function ageText(since: string | undefined, now: number): string {
  const start = since === undefined ? Number.NaN : Date.parse(since);
  if (Number.isNaN(start)) return '';
  const seconds = Math.max(0, Math.floor((now - start) / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 120 * 60) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}
