/** What a valid spec risks: said in the condition `SpecWarning` for as long as it is so. */
import { unitsOf } from '../../../api/quantity.ts';
import type { SpecWarning } from '../../../engine/spec-warnings.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import type { Situation } from '../observe/situation.ts';

/** What one connection takes at least, by a rule of thumb: a backend with its caches. */
const connectionBytes = 5 * 1024 ** 2;

export function specWarnings(spec: PostgresSpec): readonly SpecWarning[] {
  return [...replicationWarnings(spec), ...connectionWarnings(spec)];
}

/** The image has another ICU or libc than the one that the indexes were built with. PostgreSQL says so in its log alone. */
export function collationWarnings({ primary }: Situation): readonly SpecWarning[] {
  const reordered = primary?.server?.state === 'seen' ? primary.server.reordered : undefined;
  if (reordered === undefined) return [];
  const message = `the image sorts texts in another way than the indexes of these databases do, so that queries may miss rows, and unique indexes accept duplicates: ${reordered}; in each of them run REINDEX DATABASE, then ALTER DATABASE … REFRESH COLLATION VERSION`;
  return [{ reason: 'CollationsChanged', message }];
}

/** An upgrade could not rebuild them. Until somebody does, rows that break a constraint are accepted. */
export function invalidIndexWarnings({ primary }: Situation): readonly SpecWarning[] {
  const { invalid, unseen } = (primary?.server?.state === 'seen' ? primary.server.indexes : undefined) ?? {};
  const harm =
    'primary keys, unique and exclusion constraints are not enforced, ON CONFLICT fails, and logical dumps and the next major upgrade leave them out';
  const words = [
    ...(invalid === undefined
      ? []
      : [`indexes are invalid, so that ${harm}: ${invalid}; remove the rows that are equal, then run REINDEX INDEX`]),
    ...(unseen === undefined
      ? []
      : [`an upgrade has left indexes invalid, and nobody knows whether they are valid by now: ${unseen}`]),
  ];
  return words.length === 0 ? [] : [{ reason: 'InvalidIndexes', message: words.join('; ') }];
}

function replicationWarnings({ instances, synchronous }: PostgresSpec): SpecWarning[] {
  const { count, strict } = synchronous;
  if (instances === 0) return [];
  if (instances === 1) {
    const message = 'instances is 1: there is no failover, and the only copy of the data is on one volume';
    return [{ reason: 'SingleInstance', message }];
  }
  if (count === 0) {
    const message = 'synchronous.count is 0: a failover can lose commits that were acknowledged';
    return [{ reason: 'AsynchronousReplication', message }];
  }
  // Whatever `count` is, Patroni lets commits go on with one standby.
  if (!strict || instances > 2) return [];
  const message =
    'synchronous.strict with 2 instances: writes stop as soon as the standby is away, also while it restarts';
  return [{ reason: 'NoSpareStandby', message }];
}

function connectionWarnings({ parameters, resources }: PostgresSpec): SpecWarning[] {
  const connections = Number(parameters.max_connections ?? '100');
  const memory = unitsOf(resources.limits.memory);
  if (!(connections * connectionBytes > memory * 0.75) || parameters.max_connections === undefined) return [];
  const message = `max_connections is ${connections}, and the memory limit ${resources.limits.memory}: with all of them in use the kernel may end PostgreSQL`;
  return [{ reason: 'ConnectionsWithoutMemory', message }];
}
