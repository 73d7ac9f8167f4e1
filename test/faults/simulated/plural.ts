/** Plural names of the kinds that a run is about. */
import type { KubeObject } from '../../../src/api/object.ts';
import { resourceOf } from '../../../src/api/resource.ts';
import { handlers as engines } from '../../support/handlers.ts';

/** Undefined for a kind that the operator neither makes nor reads. */
export function pluralOf(object: Pick<KubeObject, 'apiVersion' | 'kind'>): string | undefined {
  const own = engines.find(({ kind }) => kind.resource.kind === object.kind);
  if (own !== undefined) return own.kind.resource.plural;
  try {
    return resourceOf(object).plural;
  } catch {
    return undefined;
  }
}
