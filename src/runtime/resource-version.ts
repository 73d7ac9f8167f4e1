/**
 * The order of resourceVersions: decimal numbers of any length that only grow within one resource.
 *
 * Anything else (an aggregated API server may use its own strings) has no order, and then nothing here claims one.
 */

/** True only if both are numbers and `a` is the greater. */
export function isNewer(a: string | undefined, b: string | undefined): boolean {
  if (!isNumber(a) || !isNumber(b)) return false;
  return a.length === b.length ? a > b : a.length > b.length;
}

function isNumber(version: string | undefined): version is string {
  return version !== undefined && /^(0|[1-9]\d*)$/.test(version);
}
