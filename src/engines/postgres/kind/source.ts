/** Which kind of import a spec asks for. */
import type { PostgresSpec } from './schema.ts';

type Source = NonNullable<NonNullable<PostgresSpec['bootstrap']>['importFrom']>;
type DumpedSource = Source & { readonly logical: NonNullable<Source['logical']> };

/** The source whose files are copied, and which is followed until the cut-over. */
export function followedSource({ bootstrap }: Pick<PostgresSpec, 'bootstrap'>): Source | undefined {
  return bootstrap?.importFrom?.logical === undefined ? bootstrap?.importFrom : undefined;
}

/** The source of which a Job copies one database. */
export function dumpedSource({ bootstrap }: Pick<PostgresSpec, 'bootstrap'>): DumpedSource | undefined {
  const source = bootstrap?.importFrom;
  return source?.logical === undefined ? undefined : { ...source, logical: source.logical };
}
