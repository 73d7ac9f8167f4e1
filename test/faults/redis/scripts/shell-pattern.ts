/** Patterns of `case`, by which stories tell what is answered. */

/** A shell pattern as a test on text: what is quoted is meant literally, `*` elsewhere is anything. */
export function fits(pattern: string, text: string): boolean {
  const source = [...pattern.matchAll(/"([^"]*)"|(\*)|([^"*]+)/g)]
    .map(([, quoted, star, plain]) =>
      star === undefined ? (quoted ?? plain ?? '').replace(/[.*+?^${}()|[\]\\]/g, '\\$&') : '[^]*',
    )
    .join('');
  return new RegExp(`^${source}$`).test(text);
}
