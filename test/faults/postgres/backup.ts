/** No scenario of PostgreSQL has backups: the stand-in of the agent is never asked for one of it. */
import type { Database } from '../backup/database.ts';
import { dataOn } from './wal.ts';

const none = (): never => {
  throw new Error('no backup of PostgreSQL is simulated');
};

export function postgresDatabase(): Database {
  return {
    engine: 'postgres',
    read: none,
    write: none,
    dump: none,
    begun: none,
    fill: none,
    hasData: (volume) => dataOn(volume) !== undefined,
    firstClaim: (cluster) => `data-${cluster}-0-0`,
  };
}
