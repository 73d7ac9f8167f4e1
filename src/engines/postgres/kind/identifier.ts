/**
 * Names of databases, roles, schemas and extensions as a resource may state them. The operator quotes every name, so upper case, `-`
 * and `.` are allowed and mean what is written: `Shop` and `shop` are two databases. Clients then have to quote such a name in SQL.
 */
import type { StructuralSchema } from '../../../api/schema.ts';

const pattern = '^[A-Za-z_][A-Za-z0-9_.-]{0,62}$';

export const nameSchema = <const Description extends string>(description: Description) =>
  ({ type: 'string', description, pattern, maxLength: 63 }) as const satisfies StructuralSchema;

/** A CEL rule on a text: it is no role of PostgreSQL or of the operator. */
export const isFreeRole =
  "!self.startsWith('pg_') && !self.startsWith('clusterwright') && !(self in ['postgres', 'public', 'none', 'current_user', 'current_role', 'session_user', 'replicator', 'rewinder'])";

/**
 * The same rule for a planner, in case the CRD was edited: the operator would change its own roles. Case does not count here, since
 * an administrator who does not quote a name means the one in lower case.
 */
export function isReservedRole(name: string): boolean {
  const folded = name.toLowerCase();
  return ['pg_', 'clusterwright'].some((prefix) => folded.startsWith(prefix)) || reservedNames.has(folded);
}

/** Databases of PostgreSQL, and those that the operator has begun. */
export function isReservedDatabase(name: string): boolean {
  const folded = name.toLowerCase();
  return ['postgres', 'template0', 'template1'].includes(folded) || folded.startsWith('clusterwright-');
}

const reservedNames: ReadonlySet<string> = new Set([
  'postgres',
  'public',
  'none',
  'current_user',
  'current_role',
  'session_user',
  'replicator',
  'rewinder',
]);

export const reservedRoles =
  'must not be a role of PostgreSQL or of the operator: pg_*, clusterwright*, postgres, public, replicator, rewinder, or a keyword';
