/** That a major upgrade follows, for people who read a plan: it begins only when nothing else is to be done. */
import type { Cluster } from '../../../api/cluster.ts';
import type { Children } from '../../../resources/children.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { situationOf } from '../observe/situation.ts';

/** Undefined where the data has the version of the spec, where there is none yet, and where the upgrade has begun. */
export function upgradeForecast(cluster: Cluster<PostgresSpec>, children: Children): string | undefined {
  const { spec, wanted, upgrade } = situationOf(cluster, children, { members: [], at: 0 });
  const [from, to] = [spec.version, wanted.version];
  const hasBegun = upgrade !== undefined && upgrade.stage !== 'cancelled';
  if (from === to || hasBegun || wanted.instances === 0) return undefined;
  if (Number(to) < Number(from)) return `the data stays with PostgreSQL ${from}: ${to} cannot read it`;
  if (wanted.backup === undefined && !wanted.upgrade.withoutBackup)
    return `the data stays with PostgreSQL ${from} until spec.backup names a target, or spec.upgrade.withoutBackup is true`;
  const copied = wanted.instances === 1 ? '' : ', and the standbys copy the data again';
  return `once all members are well, PostgreSQL ${from} becomes ${to}: the upgrade is rehearsed on a copy while the cluster serves; then all members stop until pg_upgrade has changed the volume of the primary${copied}`;
}
