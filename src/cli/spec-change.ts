/** What applying a manifest would change about the spec of a custom resource that exists, leaf by leaf. */
import { isDeepStrictEqual } from 'node:util';
import { displayPath, type Path } from '../api/violation.ts';
import type { FieldChange } from '../plan/plan.ts';

/** Both with their defaults. A list is one leaf. */
export function specChanges(wanted: unknown, has: unknown, path: Path = ['spec']): FieldChange[] {
  if (isFields(wanted) && isFields(has)) {
    const names = [...new Set([...Object.keys(has), ...Object.keys(wanted)])];
    return names.flatMap((name) => specChanges(wanted[name], has[name], [...path, name]));
  }
  if (isDeepStrictEqual(wanted, has)) return [];
  return [
    {
      path: displayPath(path),
      ...(has === undefined ? {} : { from: has }),
      ...(wanted === undefined ? {} : { to: wanted }),
    },
  ];
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
