/** PostgreSQL, as the agent knows it. */
import { bytesLost, type Held } from '../../../backup/sudden-loss.ts';
import { type Driver, defineDriver } from '../../../engine/driver/driver.ts';
import {
  type PostgresDestination,
  type PostgresSource,
  type PostgresState,
  postgresContents,
  postgresSchemas,
} from '../backup/schemas.ts';
import { parseLsn } from '../client/lsn.ts';
import { checkedBackup } from './checked-backup.ts';
import { dumpPostgres } from './dump.ts';
import { begunFrom, fillPostgresVolume } from './volume.ts';
import { postgresArchive } from './wal-archive.ts';

export const postgresDriver: Driver = defineDriver<PostgresSource, PostgresDestination, PostgresState>({
  engine: 'postgres',
  kind: 'PostgresCluster',
  schemas: postgresSchemas,
  dump: dumpPostgres,
  begun: ({ directory }) => begunFrom(directory),
  fill: (destination, origin, content, { signal }) => fillPostgresVolume(destination, origin, content, signal),
  check: checkedBackup,
  describe: (state) => ({ contents: postgresContents(state) }),
  lossSince: postgresLossSince,
  archive: postgresArchive,
  // The form of the files is that of the major version.
  canRead: (written, wanted) => majorOf(written) === majorOf(wanted),
});

const majorOf = (version: string): string => version.split('.')[0] ?? version;

/** The log only grows, along each timeline, and a later timeline begins where an earlier one ended or before. */
function postgresLossSince(before: Held<PostgresState>, after: Held<PostgresState>): string | undefined {
  const [earlier, later] = [before.state, after.state];
  if (later.systemId !== earlier.systemId) {
    if (isUpgraded(before, after)) return bytesLost(before, after);
    return `it is of the database cluster ${later.systemId}, and ${before.id} was of ${earlier.systemId}`;
  }
  if (later.timeline < earlier.timeline) {
    return `it is of timeline ${later.timeline}, and ${before.id} was of timeline ${earlier.timeline}`;
  }
  if (later.timeline === earlier.timeline && endOf(later) < endOf(earlier)) {
    return `it ends at ${later.endLsn}, and ${before.id} ended at ${earlier.endLsn}`;
  }
  return bytesLost(before, after);
}

/**
 * pg_upgrade gives the data another system identifier, and a log of its own. Of one and the same resource, only an upgrade by the operator
 * leads to a later major version.
 */
function isUpgraded({ engineVersion: from = '' }: Held, { engineVersion: to = '' }: Held): boolean {
  return Number(majorOf(to)) > Number(majorOf(from)) && from !== '';
}

const endOf = ({ endLsn }: PostgresState): bigint => parseLsn(endLsn) ?? 0n;
