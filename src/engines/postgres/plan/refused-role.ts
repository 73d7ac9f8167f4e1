/** Roles and databases for which nothing is done: the operator's own, those of PostgreSQL, and those that could take over the server. */
import { blocked, type Outcome } from '../../../plan/plan.ts';
import { isReservedDatabase, isReservedRole } from '../kind/identifier.ts';
import { recheckMs } from './content.ts';

/** The schema of the kinds refuses these, too; somebody may have edited the CRD. */
export function reservedName({
  roles = [],
  databases = [],
}: {
  readonly roles?: readonly string[];
  readonly databases?: readonly string[];
}): Outcome | undefined {
  const role = roles.find(isReservedRole);
  if (role !== undefined) return blocked('NameReserved', `role ${role} is one of PostgreSQL or of the operator`);
  const database = databases.find(isReservedDatabase);
  if (database === undefined) return undefined;
  return blocked('NameReserved', `database ${database} is one of PostgreSQL or of the operator`);
}

/** `power`: see `powerOf`. */
export function powerWords(role: string, power: string): string {
  const attributes = 'is a superuser, or has CREATEROLE, REPLICATION or BYPASSRLS';
  if (power === role) return `role ${role} ${attributes}`;
  return isReservedRole(power)
    ? `role ${role} is a member of role ${power}`
    : `role ${role} is a member of role ${power}, which ${attributes}`;
}

/** The operator makes neither itself nor a user a member of such a role. */
export function tooPowerful(reason: string, role: string, power: string, consequence: string): Outcome {
  return blocked(reason, `${powerWords(role, power)}: ${consequence}`, recheckMs * 2);
}
