/** What the builders make of a PostgreSQL cluster, by kind and name. */
import type { PostgresSpecInput } from '../../src/engines/postgres/kind/schema.ts';
import { postgresResources } from '../../src/engines/postgres/resources/resources.ts';
import { postgresCluster } from './postgres-situation.ts';

export const postgresObjects = (spec: PostgresSpecInput = {}) =>
  postgresResources(postgresCluster(spec)).map(({ object }) => object);

export function objectNamed(kind: string, name: string, spec: PostgresSpecInput = {}) {
  const found = postgresObjects(spec).find((object) => object.kind === kind && object.metadata.name === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found as typeof found & { readonly data: Readonly<Record<string, string>>; readonly rules: unknown };
}
